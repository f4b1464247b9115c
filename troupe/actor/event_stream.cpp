#include <algorithm>

#include "troupe/actor/cell.hpp"
#include "troupe/actor/ref.hpp"

namespace troupe::inline v0 {

void EventStream::subscribe(std::type_index type, detail::IntrusivePtr<detail::Cell> cell, Deliver deliver) {
  const std::lock_guard lock(mutex_);
  const auto same = [&](const Subscriber& one) { return one.type == type && one.cell == cell; };
  if (cell->stopped() || std::ranges::any_of(subscribers_, same)) return;
  subscribers_.push_back({type, std::move(cell), deliver});
  count_.store(subscribers_.size(), std::memory_order_release);
}

void EventStream::unsubscribe(std::type_index type, const detail::Cell& cell) {
  const std::lock_guard lock(mutex_);
  std::erase_if(subscribers_, [&](const Subscriber& one) { return one.type == type && one.cell.get() == &cell; });
  count_.store(subscribers_.size(), std::memory_order_release);
}

void EventStream::remove(const detail::Cell& cell) noexcept {
  for (;;) {
    detail::IntrusivePtr<detail::Cell> removed;  // declared before the lock, so that it is released after the unlock
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(subscribers_, [&](const auto& one) { return one.cell.get() == &cell; });
    if (found == subscribers_.end()) return;
    removed = std::move(found->cell);
    subscribers_.erase(found);
    count_.store(subscribers_.size(), std::memory_order_release);
  }
}

void EventStream::publish(std::type_index type, const void* event) {
  std::vector<Subscriber> concerned;
  {
    const std::lock_guard lock(mutex_);
    std::ranges::copy_if(subscribers_, std::back_inserter(concerned),
                         [&](const Subscriber& one) { return one.type == type; });
  }
  for (const Subscriber& one : concerned) one.deliver(*one.cell, event);
}

}  // namespace troupe::inline v0
