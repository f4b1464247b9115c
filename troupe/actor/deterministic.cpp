#include "troupe/actor/deterministic.hpp"

namespace troupe::inline v0 {

void Deterministic::schedule(Runnable& runnable, Scheduling) noexcept {
  const std::lock_guard lock(mutex_);
  ready_.push_back(&runnable);
}

bool Deterministic::step() {
  Runnable* chosen = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (ready_.empty()) return false;
    const std::size_t index = ready_.size() == 1 ? 0 : random_() % ready_.size();
    chosen = ready_[index];
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(index));
    fingerprint_ = (fingerprint_ ^ chosen->id()) * 1099511628211u;
  }
  chosen->run();
  return true;
}

}  // namespace troupe::inline v0
