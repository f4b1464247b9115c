// Where a program waits for its end, and how it makes sure that what came is what was sent: a benchmark that loses
// messages is fast for the wrong reason.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

namespace troupe::bench::actors {

using Clock = std::chrono::steady_clock;

inline double ns_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::nano>(end - begin).count();
}

/// A program that has not ended after this time hangs.
inline constexpr std::chrono::seconds kPatience(60);

/// Says so on standard error and ends the process: what hangs cannot be taken down.
[[noreturn]] void give_up(const std::string& sentence);

/// Throws unless as many came as were sent.
void check_count(const std::string& what, std::int64_t sent, std::int64_t came);

/// Ends when `arrive` was called so many times. Any thread arrives, one waits.
class Finish {
 public:
  explicit Finish(std::int64_t arrivals) : expected_(arrivals) {}

  void arrive();
  /// Waits for the last arrival, but not longer.
  void wait_for(Clock::duration limit);
  /// Waits for the last arrival and returns when it was. Gives up after `kPatience`.
  Clock::time_point wait();
  /// When nobody can arrive any more: throws unless exactly so many have.
  void check() const { check_count("arrivals", expected_, arrived_.load(std::memory_order_relaxed)); }

 private:
  const std::int64_t expected_;
  std::atomic<std::int64_t> arrived_ = 0;
  Clock::time_point ended_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
};

/// Nanoseconds per operation from `start()` until the finish.
template <class Start>
double ns_each(Finish& finish, std::int64_t operations, const Start& start) {
  const Clock::time_point begin = Clock::now();
  start();
  return ns_between(begin, finish.wait()) / static_cast<double>(operations);
}

/// What one receiver counts; others read it when the system is gone. On a cache line of its own.
struct alignas(64) Count {
  std::int64_t came = 0;
  std::int64_t out_of_order = 0;
};

}  // namespace troupe::bench::actors
