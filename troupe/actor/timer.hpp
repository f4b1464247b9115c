// Timers by the million: a hierarchical wheel, as kernels use it. Starting and cancelling one is a handful of
// instructions under one mutex, whatever else is under way, because most timers are timeouts that never fire.
// Time is counted in ticks of a microsecond; a timer never fires early, and less than a tick plus the wake-up late.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "troupe/core/clock.hpp"
#include "troupe/core/intrusive.hpp"

namespace troupe::inline v0 {

/// Something that happens once, later. The wheel shares its ownership while it is armed.
class Timer : public detail::RefCounted {
 public:
  /// Called at most once per start, by the timekeeper, by a thread of a pool that has nothing to do, or by the thread
  /// that moves virtual time. No lock is held that `start` or `cancel` takes. Must be short.
  virtual void fire() noexcept = 0;

 private:
  friend class TimerWheel;
  Timer* previous_ = nullptr;
  Timer* next_ = nullptr;
  std::uint64_t due_tick_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint8_t level_ = 0;
  std::uint8_t slot_ = 0;
  bool armed_ = false;
};

class TimerWheel {
 public:
  static constexpr Duration kTick = std::chrono::microseconds(1);

  /// `on_earlier` is called, outside the lock, when a timer was started that is due before all others.
  TimerWheel(TimePoint start, std::function<void()> on_earlier);
  ~TimerWheel();
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  /// Arms `timer`, which must not be armed, to fire at `due`. Any thread.
  void start(detail::IntrusivePtr<Timer> timer, TimePoint due);
  /// True: it was armed and will not fire. False: it has fired, is firing now, or was never started. Any thread.
  bool cancel(Timer& timer);
  /// Fires everything due by `now`, in order of due tick, then of start. Any thread; it waits for one that does so.
  void advance(TimePoint now);
  /// The same, but does nothing while another thread does it. For threads that look often.
  void advance_if_free(TimePoint now);
  /// Whether `advance` has something to do, and whether somebody is at it. Guesses without a lock.
  bool is_due(TimePoint now) const noexcept {
    return (now - start_).count() >= next_ns_.load(std::memory_order_relaxed);
  }
  bool is_advancing() const noexcept { return is_advancing_.load(std::memory_order_relaxed); }
  /// When `advance` has something to do next; may be early, never late.
  std::optional<TimePoint> next_due() const;

 private:
  static constexpr int kLevels = 10;                // 32^10 ticks are 35 years; what lies beyond is sorted again then
  static constexpr std::uint64_t kRevolution = 32;  // slots in one revolution of a level
  static constexpr std::uint64_t kSlots = 64;       // a level has room for this revolution and the next
  static constexpr std::uint64_t kMoveEvery = 8;    // ticks, while there are timers to move to lower levels
  static constexpr std::uint64_t kMovedAtOnce = 16;

  struct Slot {
    Timer* first = nullptr;
    std::uint64_t count = 0;
  };

  static constexpr std::uint64_t width_of(int level) { return std::uint64_t{1} << (5 * level); }
  /// Whether timers of this level move to lower ones before their slot begins. The top level keeps what lies beyond it.
  static constexpr bool moves_ahead(int level) { return level > 0 && level < kLevels - 1; }
  Slot& slot_at(int level, std::uint64_t number) { return levels_[static_cast<std::size_t>(level)][number % kSlots]; }
  void link(Timer& timer);
  void unlink(Timer& timer);
  Timer* empty(int level, std::uint64_t number, std::uint64_t count, Timer* due);
  static void fire(Timer* due) noexcept;
  void advance_alone(TimePoint now);
  std::optional<std::uint64_t> next_tick() const;
  void note_next(std::optional<std::uint64_t> tick) noexcept {
    next_ns_.store(tick ? static_cast<std::int64_t>(*tick) * kTick.count() : INT64_MAX, std::memory_order_relaxed);
  }

  const TimePoint start_;
  const std::function<void()> on_earlier_;
  std::mutex advancing_;  // held by the thread that fires
  std::atomic<bool> is_advancing_{false};
  mutable std::mutex mutex_;
  std::atomic<std::int64_t> next_ns_{INT64_MAX};  // after `start_`; written under the mutex; may be early, never late
  std::uint64_t tick_ = 0;                        // everything due at or before this tick has fired
  std::uint64_t started_ = 0;
  std::array<std::array<Slot, kSlots>, kLevels> levels_{};
  std::array<std::uint64_t, kLevels> occupied_{};  // one bit per slot
};

}  // namespace troupe::inline v0
