// Reports tells that a full mailbox refused. The log reports the first one at once. Then it says once per
// `kRefusalPeriod` how many tells the receiver refused, for as long as it refuses any. So a program that ignores what
// `tell` returns still learns what it lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "troupe/actor/timer.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/core/intrusive.hpp"

namespace troupe::inline v0 {

/// How often the log says how many tells one receiver has refused.
inline constexpr Duration kRefusalPeriod = std::chrono::seconds(1);

namespace detail {

class Cell;

class RefusedTells {
 public:
  RefusedTells();
  ~RefusedTells();
  RefusedTells(const RefusedTells&) = delete;
  RefusedTells& operator=(const RefusedTells&) = delete;

  /// Counts one more refused tell to `cell`. Any thread.
  void count(Cell& cell) noexcept;
  /// The actor is gone, or has refused nothing for a period: logs what is not logged yet, and ends the report. Any
  /// thread.
  void forget(const Cell& cell) noexcept;

 private:
  class Report;

  std::mutex mutex_;
  std::unordered_map<const Cell*, IntrusivePtr<Report>> reports_;
  std::atomic<std::size_t> size_{0};  // while it is 0, an actor that ends need not lock
};

}  // namespace detail

}  // namespace troupe::inline v0
