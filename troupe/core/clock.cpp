#include "troupe/core/clock.hpp"

namespace troupe::inline v0 {

std::string to_string(Duration duration) {
  const std::int64_t ns = duration.count();
  if (ns % 1'000'000'000 == 0) return std::to_string(ns / 1'000'000'000) + " s";
  if (ns % 1'000'000 == 0) return std::to_string(ns / 1'000'000) + " ms";
  if (ns % 1'000 == 0) return std::to_string(ns / 1'000) + " us";
  return std::to_string(ns) + " ns";
}

void detail::VirtualClock::advance_to(TimePoint time) noexcept {
  const std::int64_t target = time.time_since_epoch().count();
  std::int64_t seen = now_ns_.load(std::memory_order_relaxed);
  while (seen < target && !now_ns_.compare_exchange_weak(seen, target, std::memory_order_release)) {
  }
}

}  // namespace troupe::inline v0
