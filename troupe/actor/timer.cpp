#include "troupe/actor/timer.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "troupe/core/assert.hpp"

namespace troupe::inline v0 {

TimerWheel::TimerWheel(TimePoint start, std::function<void()> on_earlier)
    : start_(start), on_earlier_(std::move(on_earlier)) {}

TimerWheel::~TimerWheel() {
  for (auto& level : levels_)
    for (Slot& slot : level)
      while (Timer* timer = slot.first) {
        unlink(*timer);
        timer->release();
      }
}

void TimerWheel::start(detail::IntrusivePtr<Timer> timer, TimePoint due) {
  const std::int64_t ns = std::max<std::int64_t>(0, (due - start_).count());
  const auto tick = static_cast<std::uint64_t>((ns + kTick.count() - 1) / kTick.count());
  bool earlier = false;
  {
    const std::lock_guard lock(mutex_);
    Timer* raw = timer.leak();
    TROUPE_ASSERT(!raw->armed_, "a timer is started once at a time");
    raw->sequence_ = ++started_;
    raw->due_tick_ = std::max(tick, tick_ + 1);
    const std::optional<std::uint64_t> before = next_tick();
    link(*raw);
    earlier = !before || raw->due_tick_ < *before;
    if (earlier) note_next(next_tick());
  }
  if (earlier) on_earlier_();
}

bool TimerWheel::cancel(Timer& timer) {
  {
    const std::lock_guard lock(mutex_);
    if (!timer.armed_) return false;
    unlink(timer);
  }
  timer.release();
  return true;
}

// A timer is on the lowest level that has its tick in this revolution or the next. A slot of level L is 32^L ticks
// wide.
void TimerWheel::link(Timer& timer) {
  int level = 0;
  while (level < kLevels - 1 && timer.due_tick_ / width_of(level + 1) - tick_ / width_of(level + 1) > 1) ++level;
  std::uint64_t number = timer.due_tick_ / width_of(level);
  const std::uint64_t revolution = tick_ / width_of(level) / kRevolution;
  if (number / kRevolution - revolution > 1) number = (revolution + 1) * kRevolution;  // there it is sorted again
  timer.level_ = static_cast<std::uint8_t>(level);
  timer.slot_ = static_cast<std::uint8_t>(number % kSlots);
  Slot& slot = slot_at(level, number);
  timer.previous_ = nullptr;
  timer.next_ = slot.first;
  if (slot.first) slot.first->previous_ = &timer;
  slot.first = &timer;
  ++slot.count;
  occupied_[timer.level_] |= std::uint64_t{1} << timer.slot_;
  timer.armed_ = true;
}

void TimerWheel::unlink(Timer& timer) {
  Slot& slot = slot_at(timer.level_, timer.slot_);
  if (timer.previous_) timer.previous_->next_ = timer.next_;
  if (timer.next_) timer.next_->previous_ = timer.previous_;
  if (slot.first == &timer) slot.first = timer.next_;
  if (--slot.count == 0) occupied_[timer.level_] &= ~(std::uint64_t{1} << timer.slot_);
  timer.armed_ = false;
}

// The next tick at which there is something to do: timers of level 0 are due, or those of a slot of another level move
// to lower levels. They do so, a few at a time, while the slot before theirs lasts: a slot may hold a hundred thousand.
std::optional<std::uint64_t> TimerWheel::next_tick() const {
  std::optional<std::uint64_t> next;
  for (int level = 0; level < kLevels; ++level) {
    const std::uint64_t occupied = occupied_[static_cast<std::size_t>(level)];
    if (!occupied) continue;
    const std::uint64_t width = width_of(level);
    const std::uint64_t here = tick_ / width;
    const auto away =
        static_cast<std::uint64_t>(std::countr_zero(std::rotr(occupied, static_cast<int>((here + 1) % kSlots))));
    std::uint64_t tick = (here + 1 + away) * width;
    if (moves_ahead(level)) tick = std::max(tick - width, (tick_ / kMoveEvery + 1) * kMoveEvery);
    if (!next || tick < *next) next = tick;
  }
  return next;
}

std::optional<TimePoint> TimerWheel::next_due() const {
  const std::lock_guard lock(mutex_);
  const std::optional<std::uint64_t> next = next_tick();
  if (!next) return std::nullopt;
  return start_ + kTick * static_cast<std::int64_t>(*next);
}

void TimerWheel::advance(TimePoint now) {
  const std::lock_guard alone(advancing_);
  advance_alone(now);
}

void TimerWheel::advance_if_free(TimePoint now) {
  const std::unique_lock alone(advancing_, std::try_to_lock);
  if (alone) advance_alone(now);
}

void TimerWheel::advance_alone(TimePoint now) {
  is_advancing_.store(true, std::memory_order_relaxed);
  const auto until = static_cast<std::uint64_t>(std::max<std::int64_t>(0, (now - start_) / kTick));
  for (;;) {
    Timer* due = nullptr;  // linked by `next_`
    {
      const std::lock_guard lock(mutex_);
      const std::optional<std::uint64_t> next = next_tick();
      if (!next || *next > until) {
        tick_ = std::max(tick_, until);
        note_next(next_tick());
        break;
      }
      tick_ = *next;
      // It goes from the top level down, because timers of a higher slot that begins here may be due right now.
      for (int level = kLevels - 1; level >= 0; --level) {
        const std::uint64_t width = width_of(level);
        const std::uint64_t here = tick_ / width;
        if (tick_ % width == 0) due = empty(level, here, slot_at(level, here).count, due);
        if (!moves_ahead(level) || tick_ % kMoveEvery != 0) continue;
        const std::uint64_t times_left = ((here + 1) * width - tick_) / kMoveEvery;
        due = empty(level, here + 1, std::max(kMovedAtOnce, slot_at(level, here + 1).count / times_left), due);
      }
    }
    fire(due);
  }
  is_advancing_.store(false, std::memory_order_relaxed);
}

/// Takes up to `count` timers out of a slot. Those that are due now are put before `due`; the others move to lower
/// levels.
Timer* TimerWheel::empty(int level, std::uint64_t number, std::uint64_t count, Timer* due) {
  for (Slot& slot = slot_at(level, number); slot.first && count > 0; --count) {
    Timer& timer = *slot.first;
    unlink(timer);
    if (timer.due_tick_ <= tick_)
      timer.next_ = std::exchange(due, &timer);
    else
      link(timer);
  }
  return due;
}

/// Fires timers in the order in which they were started; in any order if there is no memory to sort them.
void TimerWheel::fire(Timer* due) noexcept {
  std::vector<Timer*> sorted;
  try {
    for (Timer* timer = due; timer; timer = timer->next_) sorted.push_back(timer);
    if (!std::ranges::is_sorted(sorted, {}, &Timer::sequence_)) std::ranges::sort(sorted, {}, &Timer::sequence_);
  } catch (const std::bad_alloc&) {
    sorted.clear();
  }
  const auto fire_one = [](Timer* timer) {
    timer->fire();
    timer->release();
  };
  if (sorted.empty())
    while (due) fire_one(std::exchange(due, due->next_));
  for (Timer* timer : sorted) fire_one(timer);
}

}  // namespace troupe::inline v0
