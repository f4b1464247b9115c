// How far the callers are, in steps, and whether they should go on. The faults wait here for their moment, so that it
// is the same moment of the plan on a fast machine and on a slow one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace troupe::chaos {

class Progress {
 public:
  std::uint64_t steps() const noexcept { return steps_.load(std::memory_order_relaxed); }
  /// A caller has done one more step.
  void made() noexcept {
    if (steps_.fetch_add(1, std::memory_order_seq_cst) + 1 != wanted_.load(std::memory_order_seq_cst)) return;
    const std::lock_guard lock(mutex_);
    reached_.notify_all();
  }
  /// Waits until there are so many steps; one thread at a time. False when the run stops before.
  bool wait_for(std::uint64_t steps) {
    std::unique_lock lock(mutex_);
    wanted_.store(steps, std::memory_order_seq_cst);
    reached_.wait(lock, [&] { return stopping() || steps_.load(std::memory_order_seq_cst) >= steps; });
    return !stopping();
  }
  /// Waits that long. False when the run stops before.
  bool wait_for(std::chrono::microseconds time) {
    std::unique_lock lock(mutex_);
    return !reached_.wait_for(lock, time, [&] { return stopping(); });
  }

  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }
  void stop() noexcept {
    const std::lock_guard lock(mutex_);
    stopping_.store(true, std::memory_order_release);
    reached_.notify_all();
  }

 private:
  std::atomic<std::uint64_t> steps_{0};
  std::atomic<std::uint64_t> wanted_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable reached_;
};

}  // namespace troupe::chaos
