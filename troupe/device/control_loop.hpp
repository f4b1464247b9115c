// The thread that looks after the devices of a system: it sleeps until a worker's descriptor is readable, and it runs
// the devices' context actors. It is a dispatcher of its own, so that devices recover even when handlers block every
// thread of the pool. It also starts the workers, because a worker lives no longer than the thread that started it.
//
// It has all that it needs from the start: later it takes no descriptor, and no memory to wait, to be woken or to go on
// listening. It never waits for the log: what its actors and workers say goes through a queue.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "troupe/actor/pool.hpp"
#include "troupe/core/result.hpp"
#include "troupe/device/log_queue.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::inline v0 {

class ControlLoop final : public Dispatcher {
 public:
  /// `out_of_memory` when the machine has no descriptors or threads left.
  static Result<std::unique_ptr<ControlLoop>> start(LogSink log);
  ~ControlLoop() override;

  void schedule(Runnable& runnable, Scheduling why) noexcept override;
  void join() noexcept override;
  bool take_log(LogLevel level, std::string_view source, std::string_view message) noexcept override;

  // ---- only from turns on this thread, and from `ready` functions ----

  /// Calls `ready` once, on this thread, when the descriptor can be read; and once more after each `listen_again`. When
  /// `ready` finds no memory (`std::bad_alloc`), it is called again a little later. `out_of_memory` when the kernel
  /// refuses. `ready` must not `forget` its own descriptor.
  Result<void> when_readable(int descriptor, std::function<void()> ready);
  /// The descriptor must have been given to `when_readable`. Needs no memory.
  void listen_again(int descriptor) noexcept;
  /// Call it before the descriptor is closed; does nothing when it was never given.
  void forget(int descriptor) noexcept;

  /// For those who must not wait for the log. Any thread.
  LogQueue& log() noexcept { return *log_; }

 private:
  ControlLoop(wire::Descriptor wake, wire::Descriptor watched, std::unique_ptr<LogQueue> log);

  void run() noexcept;
  void run_turns() noexcept;
  void wait(bool may_sleep) noexcept;
  void is_readable(int descriptor) noexcept;

  const wire::Descriptor wake_;     // an eventfd
  const wire::Descriptor watched_;  // an epoll of `wake_` and of all that is watched
  const std::unique_ptr<LogQueue> log_;
  const std::shared_ptr<LogQueue::Speaker> own_lines_;
  ReadyQueue ready_;
  std::atomic<bool> stopping_{false};
  std::map<int, std::function<void()>> when_readable_;  // this thread's
  bool lacks_memory_ = false;                           // likewise
  std::thread thread_;
};

}  // namespace troupe::inline v0
