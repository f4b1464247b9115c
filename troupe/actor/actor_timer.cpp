#include "troupe/actor/actor_timer.hpp"

#include "troupe/actor/system_core.hpp"

namespace troupe::inline v0::detail {

ActorTimer::ActorTimer(Cell& cell, std::unique_ptr<TimerMessage> message, std::uint64_t id, Duration period) noexcept
    : cell_(IntrusivePtr<Cell>::share(&cell)), message_(std::move(message)), id_(id), period_(period) {}

void ActorTimer::begin(TimePoint due) {
  due_ = due;
  cell_->core().wheel().start(IntrusivePtr<Timer>::share(this), due);
}

void ActorTimer::cancel() noexcept {
  cancelled_.store(true, std::memory_order_release);
  cell_->core().wheel().cancel(*this);
}

void ActorTimer::fire() noexcept {
  if (cancelled_.load(std::memory_order_acquire)) return;
  if (!waits_.exchange(true, std::memory_order_acq_rel)) {
    retain();
    cell_->post(*this);
  }
  if (period_.count() == 0) return;
  // Every beat is a whole number of periods after the first one. Beats whose time has passed already are left out.
  const TimePoint now = cell_->core().now();
  due_ += period_;
  if (due_ <= now) due_ += period_ * ((now - due_) / period_ + 1);
  begin(due_);
}

void ActorTimer::run(Cell& cell) noexcept {
  if (cell.postpone(*this)) return;
  waits_.store(false, std::memory_order_release);
  if (!cancelled_.load(std::memory_order_acquire)) {
    try {
      message_->make()->run(cell);
    } catch (...) {  // no memory, or the message's copy constructor threw
      cell.fail(cell.thrown_by("making the message of a timer"));
    }
    if (period_.count() == 0) cell.timer_ended(*this);
  }
  release();
}

void ActorTimer::drop(Cell&, const Error&) noexcept { release(); }

std::uint64_t TimerTable::next_id() const noexcept {
  const std::uint64_t place = first_free_ == kNone ? places_.size() : first_free_;
  const std::uint64_t used = first_free_ == kNone ? 0 : places_[first_free_].used;
  return (used + 1) << 32 | place;
}

void TimerTable::add(IntrusivePtr<ActorTimer> timer) {
  if (first_free_ == kNone) {
    places_.push_back({std::move(timer), 1, kNone});
  } else {
    Place& place = places_[first_free_];
    first_free_ = place.next_free;
    place.timer = std::move(timer);
    ++place.used;
  }
  ++size_;
}

IntrusivePtr<ActorTimer> TimerTable::take(std::uint64_t id) noexcept {
  const auto index = static_cast<std::uint32_t>(id);
  if (index >= places_.size() || places_[index].used != id >> 32 || !places_[index].timer) return nullptr;
  places_[index].next_free = std::exchange(first_free_, index);
  --size_;
  return std::exchange(places_[index].timer, nullptr);
}

void TimerTable::cancel_all() noexcept {
  for (std::size_t index = 0; size_ > 0 && index < places_.size(); ++index)
    if (places_[index].timer) take(places_[index].timer->id())->cancel();
}

}  // namespace troupe::inline v0::detail
