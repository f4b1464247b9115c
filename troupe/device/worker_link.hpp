// The app's end of one worker: its process (or thread), the socket to it, the memory they share, and what it prints.
// Only the control loop's thread uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "troupe/core/log.hpp"
#include "troupe/device/device_options.hpp"
#include "troupe/device/log_queue.hpp"
#include "troupe/wire/channel.hpp"
#include "troupe/wire/child.hpp"
#include "troupe/wire/last_words.hpp"
#include "troupe/wire/protocol.hpp"
#include "troupe/wire/socket.hpp"
#include "troupe/wire/zygote.hpp"

namespace troupe::inline v0 {

struct WorkerSetup {
  Isolation isolation = Isolation::process;
  std::string executable;              // for Isolation::process
  std::vector<std::string> arguments;  // before ours
  /// Whether workers can be forked from a zygote. Not where the sandbox forbids to make processes.
  bool can_fork() const noexcept;
  std::string backend;
  std::string device;       // which device of the backend
  std::string device_name;  // for people: "gpu0", "host"
  std::uint64_t ring_units = 0;
  std::uint64_t memory_limit_bytes = 0;
  CompletionPolicy completion = CompletionPolicy::timeline;
  std::optional<int> cpu_threads = {};
  std::array<std::int8_t, wire::kMaxLanes> priorities = {};
  Sandbox sandbox = Sandbox::none;
  std::vector<std::string> environment;  // the whole environment; unused without a sandbox
  std::vector<std::string> readable_paths;
  std::vector<std::string> writable_paths;
  LogSink log;                  // for Isolation::thread: the worker logs by itself
  LogQueue* printed = nullptr;  // takes what a worker process prints
};

class WorkerLink {
 public:
  /// Starts a worker and greets it; it answers later. `number` is its doorbell. Fails as `wire::Child::spawn` does, or
  /// as `wire::Zygote::fork` when there is one.
  static Result<std::unique_ptr<WorkerLink>> start(std::uint32_t number, const WorkerSetup& setup,
                                                   const wire::SharedBells& bells, wire::Zygote* zygote = nullptr);
  /// Starts a zygote for such workers.
  static Result<wire::Zygote> start_zygote(const WorkerSetup& setup);
  /// Kills and reaps a process. A thread that does not end soon is left behind, with the memory it uses.
  ~WorkerLink();

  std::uint32_t number() const noexcept { return number_; }
  /// The process's id; 0 for a thread.
  int pid() const noexcept { return child_ ? child_->pid() : 0; }
  wire::Channel& channel() noexcept { return channel_; }
  wire::Socket& socket() noexcept { return *socket_; }

  /// The pidfd, readable when the worker has ended; -1 for a thread, whose end shows at its socket.
  int end_descriptor() const noexcept;
  /// Readable when the worker has printed something; -1 for a thread.
  int print_descriptor() const noexcept { return printed_.get(); }
  /// Passes some of what the worker has printed to the log, line by line, without waiting for more. False when it will
  /// print no more. Needs no memory.
  bool read_printed() noexcept;
  /// The same for all that is left, once the worker has ended.
  void read_last_printed() noexcept;

  /// Tells the worker that it serves now, for its title in `ps`; nobody waits for that.
  void show_generation(std::int64_t generation) noexcept;
  /// False for a thread: it cannot be killed.
  bool kill() noexcept;
  /// How it ended, once it has. After that nothing of it runs any more.
  std::optional<wire::ChildEnd> try_reap();
  /// What it left behind when it crashed; after the reap.
  std::string last_words() const;
  /// The op that it was in then, as it says itself; after the reap.
  std::optional<wire::NamedOp> named_op() const;
  /// Why it ended itself, if it did; after the reap.
  std::optional<Error> last_error() const;

 private:
  WorkerLink(std::uint32_t number, wire::Channel channel, wire::Socket socket, const WorkerSetup& setup);

  Result<void> start_process(const WorkerSetup& setup, wire::Descriptor their_end, wire::Zygote* zygote);
  Result<void> start_thread(wire::Descriptor their_end);
  void take_printed(std::string_view text) noexcept;
  void print_line() noexcept;

  const std::uint32_t number_;
  wire::Channel channel_;
  std::optional<wire::Socket> socket_;  // empty when it was hung up
  LogSink log_;
  std::optional<wire::Child> child_;
  wire::Descriptor printed_;
  LogQueue* const log_queue_;
  std::shared_ptr<LogQueue::Speaker> speaker_;  // shared with the queue
  std::string name_;                            // in the log
  std::string partial_line_;                    // has room for the longest line from the start
  struct ThreadState;
  std::shared_ptr<ThreadState> thread_;  // shared with the thread, which may outlive us
};

}  // namespace troupe::inline v0
