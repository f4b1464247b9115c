#include "troupe/worker/range_tracker.hpp"

#include <algorithm>

namespace troupe::worker {

bool RangeTracker::Entry::conflicts_with(std::span<const op::Touch> others) const noexcept {
  for (const op::Touch& touch : touches.all())
    for (const op::Touch& other : others)
      if ((touch.writes || other.writes) && touch.range.overlaps(other.range)) return true;
  return false;
}

bool RangeTracker::Entry::reads_what_is_written_by(std::span<const op::Touch> others) const noexcept {
  for (const op::Touch& touch : touches.all())
    for (const op::Touch& other : others)
      if (touch.reads && other.writes && touch.range.overlaps(other.range)) return true;
  return false;
}

RangeTracker::Entry& RangeTracker::LaneOps::append() {
  if (count == entries.size()) {
    std::rotate(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(first), entries.end());
    first = 0;
    entries.resize(std::max<std::size_t>(16, 2 * entries.size()));
  }
  return at(count++);
}

void RangeTracker::forget_finished(std::uint32_t lane) noexcept {
  LaneOps& ops = lanes_[lane];
  const wire::Ticket now = channel_.timeline(lane).now();
  while (ops.count > 0 && wire::reached(now, ops.at(0).ticket)) {
    ops.first = (ops.first + 1) % ops.entries.size();
    --ops.count;
  }
  if (ops.count == 0) occupied_ &= ~(1U << lane);
}

void RangeTracker::add(backend::Work& work, std::span<const op::Touch> touches) {
  work.waits = 0;
  if (touches.empty()) return;
  for (std::uint32_t left = occupied_; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(left));
    forget_finished(lane);
    if (lane == work.lane) continue;
    LaneOps& ops = lanes_[lane];
    for (std::size_t i = ops.count; i-- > 0;) {
      if (!ops.at(i).conflicts_with(touches)) continue;
      work.waits |= 1U << lane;
      work.after[lane] = ops.at(i).ticket;
      break;
    }
  }
  LaneOps& own = lanes_[work.lane];
  for (std::size_t i = own.count; i-- > 0 && !work.begins_anew;) {
    if (work.ticket - own.at(i).ticket >= wire::kMaxOpsPerFlag) break;
    work.begins_anew = own.at(i).reads_what_is_written_by(touches);
  }
  Entry& entry = own.append();
  entry.ticket = work.ticket;
  entry.touches.clear();
  for (const op::Touch& touch : touches) entry.touches.add(touch);
  occupied_ |= 1U << work.lane;
}

}  // namespace troupe::worker
