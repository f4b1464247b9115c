// The thread that looks after the devices of a system: it sleeps until a worker's descriptor has something to say, and
// it runs the devices' context actors. It is a dispatcher of its own, so that devices recover even when handlers block
// every thread of the pool; and it starts the workers, which live no longer than the thread that started them.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "troupe/actor/dispatcher.hpp"
#include "troupe/core/result.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::inline v0 {

class ControlLoop final : public Dispatcher {
 public:
  /// `out_of_memory` when the machine has no descriptors or threads left.
  static Result<std::unique_ptr<ControlLoop>> start();
  ~ControlLoop() override;

  void schedule(Runnable& runnable, Scheduling why) noexcept override;
  void join() noexcept override;

  /// Calls `ready` once, on this thread, when the descriptor can be read; then it is forgotten. Only from turns on this
  /// thread, and from `ready` functions.
  void when_readable(int descriptor, std::function<void()> ready);
  /// Forgets it. The same threads.
  void forget(int descriptor) noexcept;

 private:
  explicit ControlLoop(wire::Descriptor wake) noexcept : wake_(std::move(wake)) {}

  void run() noexcept;
  void run_turns() noexcept;
  void wait() noexcept;

  const wire::Descriptor wake_;
  std::mutex mutex_;
  std::vector<Runnable*> scheduled_;
  bool stopping_ = false;
  std::map<int, std::function<void()>> watched_;  // this thread's
  std::thread thread_;
};

}  // namespace troupe::inline v0
