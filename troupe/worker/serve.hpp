// One worker's life: greet the app, open the backend, drain the ring until the app hangs up. The executable does it in
// a process of its own; `Isolation::thread` does the very same in a thread of the app.
#pragma once

#include <functional>

#include "troupe/core/log.hpp"
#include "troupe/wire/protocol.hpp"
#include "troupe/wire/socket.hpp"
#include "troupe/worker/title.hpp"

namespace troupe::worker {

struct ServeOptions {
  /// The process is ours: limit its memory, leave last words, and end it the moment the app hangs up.
  bool owns_process = false;
  LogSink log;
  /// Shows in `ps` what this process is for; null: it is not ours.
  Title* title = nullptr;
  /// Called in the thread that crashes, inside the signal handler, before the process ends; may be null.
  void (*crashing)() noexcept = nullptr;
  /// Called when the process is in its sandbox, before the backend is opened; its error is why the app is refused.
  std::function<Result<void>()> entered = [] { return Result<void>(); };
};

/// Serves the app at the other end of `socket`. Returns when the app has hung up, or the error because of which it
/// could not be served; the app is told, too.
Result<void> serve(wire::Socket socket, const ServeOptions& options);

/// Prints the accelerators of all backends but the host's, a line each, with tabs between: backend, id, bytes of
/// memory, compute capability, "keeps" or "loses" (memory, when a worker dies), "shared" or "exclusive" (by one
/// process), name. When there are none because of an error, prints it to standard error. Gives the exit code.
int print_devices();

}  // namespace troupe::worker
