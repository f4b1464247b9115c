// Time as Troupe sees it: monotonic, never a date, and behind one interface, so that a test can stop it and move it by
// hand.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// A length of time in Troupe's functions; `5ms` and `2s` convert to it.
using Duration = std::chrono::nanoseconds;
/// A moment of the monotonic clock; it is not a date.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// Writes a duration in the largest unit that shows it whole: "5 ms", "20 us".
std::string to_string(Duration duration);

namespace detail {

/// Where the time comes from: the machine, or a test.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Never goes backwards. Any thread may call it.
  virtual TimePoint now() const noexcept = 0;
};

/// The machine's monotonic clock.
class SteadyClock final : public Clock {
 public:
  TimePoint now() const noexcept override { return std::chrono::steady_clock::now(); }
};

/// A clock that stands still until somebody moves it. Starts at zero.
class VirtualClock final : public Clock {
 public:
  TimePoint now() const noexcept override { return TimePoint(Duration(now_ns_.load(std::memory_order_acquire))); }
  /// Moves the clock to `time`; a time that has passed already changes nothing.
  void advance_to(TimePoint time) noexcept;
  void advance(Duration by) noexcept { advance_to(now() + by); }

 private:
  std::atomic<std::int64_t> now_ns_{0};
};

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop
