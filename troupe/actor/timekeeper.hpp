// The thread of a system that looks at the clock. It fires timers, unless a thread of a pool that has nothing to do is
// quicker. While a pool is busy, it looks after the pool's threads every millisecond. When there is no timer and no
// pool is busy, it sleeps without a time limit.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "troupe/actor/pool.hpp"
#include "troupe/actor/timer.hpp"
#include "troupe/core/park.hpp"
#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

class Timekeeper final : public PoolClock {
 public:
  /// `look_after` must look after all dispatchers, and return whether any of them is busy.
  Timekeeper(TimerWheel& wheel, const detail::Clock& clock, std::function<bool()> look_after);
  ~Timekeeper() override;

  /// Starts the thread. `out_of_memory` when the machine gives none.
  Result<void> start();
  /// Call it when a timer was started that is due before all others. Any thread.
  void wake() noexcept { parker_.unpark(); }
  void stop() noexcept;

  /// It is cheap while the timekeeper watches anyway.
  void somebody_is_busy() noexcept override {
    if (!watching_.load(std::memory_order_seq_cst)) wake();
  }
  bool timer_is_due() const noexcept override { return wheel_.is_due(clock_.now()) && !wheel_.is_advancing(); }
  bool timer_is_due_soon() const noexcept override { return wheel_.is_due(clock_.now() + kSpinTime); }
  void fire_timers() noexcept override { wheel_.advance_if_free(clock_.now()); }

 private:
  static constexpr Duration kLookEvery = std::chrono::milliseconds(1);
  static constexpr Duration kLookOnFor = std::chrono::milliseconds(100);  // after a pool was busy last
  static constexpr Duration kLeavesToPools = std::chrono::microseconds(50);

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
