// A cache of plans that took long to make and hold memory, bounded by their number and by their bytes; the least
// recently used go first. A user takes a plan out and gives it back when all went well, so a plan with which a call has
// failed is gone.
//
//   std::unique_ptr<Plan> plan = plans.take(key);
//   if (!plan) plan = TROUPE_TRY(make_plan(key));
//   TROUPE_TRY(run(*plan));
//   plans.keep(std::move(plan));
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace troupe::backend {

struct PlanLimits {
  std::size_t plans = 32;
  std::uint64_t bytes = std::uint64_t{512} << 20;
};

/// A `Plan` has a `key` and `size_bytes`, which do not change. For one thread.
template <class Plan>
class KeptPlans {
 public:
  using Key = decltype(Plan::key);

  explicit KeptPlans(PlanLimits limits = {}) noexcept : limits_(limits) {}

  /// Null when there is none.
  std::unique_ptr<Plan> take(const Key& key) {
    const auto found = std::ranges::find_if(plans_, [&](const auto& plan) { return plan->key == key; });
    return found == plans_.end() ? nullptr : take_out(found);
  }
  /// Needs a key that no plan here has. A plan that is larger than the whole limit is dropped.
  void keep(std::unique_ptr<Plan> plan) {
    if (plan->size_bytes > limits_.bytes) return;
    while (!plans_.empty() && (plans_.size() >= limits_.plans || bytes_ + plan->size_bytes > limits_.bytes))
      (void)take_out(plans_.begin());
    bytes_ += plan->size_bytes;
    plans_.push_back(std::move(plan));
  }

  void clear() noexcept {
    plans_.clear();
    bytes_ = 0;
  }
  std::size_t size() const noexcept { return plans_.size(); }
  std::uint64_t size_bytes() const noexcept { return bytes_; }

 private:
  using Plans = std::vector<std::unique_ptr<Plan>>;
  std::unique_ptr<Plan> take_out(typename Plans::iterator at) {
    std::unique_ptr<Plan> taken = std::move(*at);
    plans_.erase(at);
    bytes_ -= taken->size_bytes;
    return taken;
  }

  PlanLimits limits_;
  Plans plans_;  // the last used one at the end
  std::uint64_t bytes_ = 0;
};

}  // namespace troupe::backend
