// The one thread of a system that looks at the clock. It fires timers, and while a pool has something to do it looks
// after its threads every millisecond. With nothing due and nobody busy it sleeps without a time limit.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "troupe/actor/timer.hpp"
#include "troupe/core/park.hpp"
#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

class Timekeeper {
 public:
  /// `look_after` looks after all dispatchers and says whether any of them is busy.
  Timekeeper(TimerWheel& wheel, const detail::Clock& clock, std::function<bool()> look_after);
  ~Timekeeper();

  /// Begins; `out_of_memory` when the machine gives no thread.
  Result<void> start();
  /// An earlier timer was started. Any thread.
  void wake() noexcept { parker_.unpark(); }
  /// A pool thread has left its sleep. Any thread; cheap while the timekeeper watches anyway.
  void somebody_is_busy() noexcept {
    if (!watching_.load(std::memory_order_seq_cst)) wake();
  }
  void stop() noexcept;

 private:
  static constexpr Duration kLookEvery = std::chrono::milliseconds(1);
  static constexpr Duration kLookOnFor = std::chrono::milliseconds(100);  // after the last busy moment

  void keep() noexcept;

  TimerWheel& wheel_;
  const detail::Clock& clock_;
  const std::function<bool()> look_after_;
  Parker parker_;
  std::atomic<bool> watching_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace troupe::inline v0
