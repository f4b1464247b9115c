// Tells that a full mailbox refused: said in the log at once, and then once per receiver and `kRefusalPeriod`, with
// their number, for as long as there are any. So a program that ignores what `tell` returns still hears of what it
// lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "troupe/actor/timer.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/core/intrusive.hpp"

namespace troupe::inline v0 {

/// How often the log says, per receiver, how many tells were refused.
inline constexpr Duration kRefusalPeriod = std::chrono::seconds(1);

namespace detail {

class Cell;

class RefusedTells {
 public:
  RefusedTells();
  ~RefusedTells();
  RefusedTells(const RefusedTells&) = delete;
  RefusedTells& operator=(const RefusedTells&) = delete;

  /// One more tell to `cell` was refused. Any thread.
  void count(Cell& cell) noexcept;
  /// The actor is gone: says what was not said yet. Any thread.
  void forget(const Cell& cell) noexcept;

 private:
  class Report;

  std::mutex mutex_;
  std::unordered_map<const Cell*, IntrusivePtr<Report>> reports_;
  std::atomic<std::size_t> size_{0};  // so that actors which end need not lock
};

}  // namespace detail

}  // namespace troupe::inline v0
