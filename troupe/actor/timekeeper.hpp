// The thread of a system that looks at the clock. It fires timers. While a pool is busy, it looks after the pool's
// threads every millisecond. When there is no timer and no pool is busy, it sleeps without a time limit.
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
  /// `look_after` must look after all dispatchers, and return whether any of them is busy.
  Timekeeper(TimerWheel& wheel, const detail::Clock& clock, std::function<bool()> look_after);
  ~Timekeeper();

  /// Starts the thread. `out_of_memory` when the machine gives none.
  Result<void> start();
  /// Call it when a timer was started that is due before all others. Any thread.
  void wake() noexcept { parker_.unpark(); }
  /// Call it when a thread of a pool has left its sleep. Any thread. It is cheap while the timekeeper watches anyway.
  void somebody_is_busy() noexcept {
    if (!watching_.load(std::memory_order_seq_cst)) wake();
  }
  void stop() noexcept;

 private:
  static constexpr Duration kLookEvery = std::chrono::milliseconds(1);
  static constexpr Duration kLookOnFor = std::chrono::milliseconds(100);  // after a pool was busy last

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
