#include "troupe/actor/timer.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "troupe/core/assert.hpp"

namespace troupe::inline v0 {
namespace {

constexpr std::uint64_t width_of(int level) { return std::uint64_t{1} << (6 * level); }

}  // namespace

TimerWheel::TimerWheel(TimePoint start, std::function<void()> on_earlier)
    : start_(start), on_earlier_(std::move(on_earlier)) {}

TimerWheel::~TimerWheel() {
  for (auto& level : slots_)
    for (Timer*& first : level)
      while (Timer* timer = first) {
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

// A timer is on the lowest level whose current revolution contains its tick. A slot of level L is 64^L ticks wide.
void TimerWheel::link(Timer& timer) {
  const std::uint64_t differs = timer.due_tick_ ^ tick_;
  int level = differs == 0 ? 0 : (63 - std::countl_zero(differs)) / 6;
  std::uint64_t slot = 0;
  if (level >= kLevels) {
    level = kLevels - 1;  // in slot 0, where the wheel's next revolution begins; then the timer is sorted again
  } else {
    slot = timer.due_tick_ / width_of(level) % kSlots;
  }
  timer.level_ = static_cast<std::uint8_t>(level);
  timer.slot_ = static_cast<std::uint8_t>(slot);
  Timer*& first = slots_[timer.level_][timer.slot_];
  timer.previous_ = nullptr;
  timer.next_ = first;
  if (first) first->previous_ = &timer;
  first = &timer;
  occupied_[timer.level_] |= std::uint64_t{1} << slot;
  timer.armed_ = true;
}

void TimerWheel::unlink(Timer& timer) {
  Timer*& first = slots_[timer.level_][timer.slot_];
  if (timer.previous_) timer.previous_->next_ = timer.next_;
  if (timer.next_) timer.next_->previous_ = timer.previous_;
  if (first == &timer) first = timer.next_;
  if (!first) occupied_[timer.level_] &= ~(std::uint64_t{1} << timer.slot_);
  timer.armed_ = false;
}

// The next tick at which a slot with timers begins. At that tick its timers fire (level 0) or move to lower levels.
std::optional<std::uint64_t> TimerWheel::next_tick() const {
  std::optional<std::uint64_t> next;
  for (int level = 0; level < kLevels; ++level) {
    if (!occupied_[static_cast<std::size_t>(level)]) continue;
    const std::uint64_t width = width_of(level);
    const std::uint64_t here = tick_ / width;
    const int from = static_cast<int>((here + 1) % kSlots);
    const auto away =
        static_cast<std::uint64_t>(std::countr_zero(std::rotr(occupied_[static_cast<std::size_t>(level)], from)));
    const std::uint64_t begins = (here + 1 + away) * width;
    if (!next || begins < *next) next = begins;
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
  const auto until = static_cast<std::uint64_t>(std::max<std::int64_t>(0, (now - start_) / kTick));
  for (;;) {
    Timer* due = nullptr;  // linked by `next_`
    {
      const std::lock_guard lock(mutex_);
      const std::optional<std::uint64_t> next = next_tick();
      if (!next || *next > until) {
        tick_ = std::max(tick_, until);
        break;
      }
      tick_ = *next;
      // It goes from the top level down, because timers of a higher slot that begins here may be due right now.
      for (int level = kLevels - 1; level >= 0; --level) {
        if (tick_ % width_of(level) != 0) continue;
        const std::uint64_t slot = tick_ / width_of(level) % kSlots;
        Timer* first = std::exchange(slots_[static_cast<std::size_t>(level)][slot], nullptr);  // the whole slot
        occupied_[static_cast<std::size_t>(level)] &= ~(std::uint64_t{1} << slot);
        Timer* moved = nullptr;
        while (first) {
          Timer* timer = std::exchange(first, first->next_);
          timer->armed_ = false;
          Timer*& list = timer->due_tick_ <= tick_ ? due : moved;
          timer->next_ = std::exchange(list, timer);
        }
        while (moved) link(*std::exchange(moved, moved->next_));
      }
    }
    fire(due);
  }
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
