// The plans of a worker, for all of its threads: a bounded number of them, of which the least recently used go first.
// Who uses one takes it out, because some have memory to work in.
#pragma once

#include <memory>
#include <mutex>

#include "troupe/backend/host/fft/fft_plan.hpp"
#include "troupe/backend/kept_plans.hpp"

namespace troupe::host {

class FftPlans {
 public:
  static constexpr std::size_t kMost = 64;

  /// One that was kept, or a new one. Nobody else has it meanwhile.
  template <class T>
  std::unique_ptr<FftPlan<T>> take(const FftKey& key) {
    {
      const std::lock_guard lock(mutex_);
      if (std::unique_ptr<AnyFftPlan> kept = plans_.take(key))
        return std::unique_ptr<FftPlan<T>>(static_cast<FftPlan<T>*>(kept.release()));
    }
    return std::make_unique<FftPlan<T>>(key);
  }
  /// For the next one. When two threads made the same plan, one is enough.
  void keep(std::unique_ptr<AnyFftPlan> plan) {
    const std::lock_guard lock(mutex_);
    if (const std::unique_ptr<AnyFftPlan> other = plans_.take(plan->key)) (void)other;
    plans_.keep(std::move(plan));
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return plans_.size();
  }
  /// Whether a plan for it is kept.
  bool has(const FftKey& key) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<AnyFftPlan> kept = plans_.take(key);
    const bool is_there = kept != nullptr;
    if (is_there) plans_.keep(std::move(kept));
    return is_there;
  }

 private:
  std::mutex mutex_;
  backend::KeptPlans<AnyFftPlan> plans_{{.plans = kMost, .bytes = std::uint64_t{512} << 20}};
};

}  // namespace troupe::host
