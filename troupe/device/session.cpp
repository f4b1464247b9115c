#include "troupe/device/session.hpp"

#include <algorithm>
#include <new>

#include "troupe/device/vault.hpp"

namespace troupe::inline v0 {

void WorkerSession::open(wire::Channel& channel, wire::Bell& doorbell, wire::Ticket ops_per_flag) {
  ops_per_flag_ = ops_per_flag;
  channel_ = &channel;
  doorbell_ = &doorbell;
  generation_ = -1;
  scanned_ = 0;
  calls_.assign(channel.ring().capacity_units(), nullptr);
  lanes_.fill({});
  occupied_ = 0;
  done_.clear();
  done_.reserve(channel.ring().capacity_units());  // as many ops as a ring can hold: later there may be no memory
  head_.store(0, std::memory_order_release);
}

void WorkerSession::enter(detail::OpCall& call, const wire::RingSlot& slot) noexcept {
  call.stage = call.stage == OpStage::suspect ? OpStage::on_trial : OpStage::in_ring;
  call.session = this;
  if (call.generation < 0) call.generation = generation_;
  call.position = slot.record();
  call.units = static_cast<std::uint32_t>(slot.units);
  for (const BlockUse& use : call.uses.all()) {
    const std::int64_t generation = use.block->vault().generation();
    if (generation != 0 && generation != generation_) call.is_hopeless = call.is_stale = true;
    if (use.touch.writes) use.block->begin_write();
  }
  calls_[channel_->ring().index(slot.record())] = &call;
  channel_->ring().prefetch_to_write_after(slot.record());
  wire::Bell& doorbell = *doorbell_;
  channel_->ring().commit(slot, call.lane, call.bytes.bytes(),
                          {.cancelled = call.is_hopeless, .alone = call.stands_alone});
  // From here on the op may be done and the worker gone: neither the call nor the channel is touched again.
  doorbell.ring();
}

bool WorkerSession::scan_to(wire::Position tail) noexcept {
  while (scanned_ < tail) {
    const std::optional<wire::Record> record = channel_->ring().at(scanned_);
    if (!record) return false;
    channel_->ring().prefetch_after(scanned_);
    if (!record->skip) {
      detail::OpCall& call = *calls_[channel_->ring().index(scanned_)];
      LaneOps& lane = lanes_[call.lane];
      channel_->prefetch_reply(scanned_);
      call.ticket = ++lane.issued;
      call.next_in_lane = nullptr;
      (lane.first ? lane.last->next_in_lane : lane.first) = &call;
      lane.last = &call;
      occupied_ |= 1U << call.lane;
    }
    scanned_ += record->units;
  }
  return true;
}

bool WorkerSession::take_covered() noexcept {
  const std::size_t before = done_.size();
  for (std::uint32_t left = occupied_; left != 0; left &= left - 1) {
    const auto number = static_cast<std::uint32_t>(__builtin_ctz(left));
    LaneOps& lane = lanes_[number];
    wire::LaneStatus& status = channel_->status().lanes[number];
    const wire::Ticket now = status.timeline.now();
    if (lane.first && wire::reached(now, lane.first->ticket)) status.seen.store(now, std::memory_order_relaxed);
    while (lane.first && wire::reached(now, lane.first->ticket)) {
      done_.push_back(lane.first);
      lane.first = lane.first->next_in_lane;
    }
    if (!lane.first) occupied_ &= ~(1U << number);
  }
  return done_.size() > before;
}

const std::vector<detail::OpCall*>& WorkerSession::take_done() noexcept {
  done_.clear();
  const bool several_lanes = (occupied_ & (occupied_ - 1)) != 0;
  if (!take_covered() || !several_lanes) return done_;
  // An op is covered after those of other lanes that it waited for, but we may have looked at their lanes before that.
  // When a whole round finds nothing new, everything that the ops found depend on has been found too.
  while (take_covered()) {
  }
  std::ranges::sort(done_, {}, [](const detail::OpCall* call) { return call->position; });
  return done_;
}

const std::vector<detail::OpCall*>& WorkerSession::take_rest() noexcept {
  done_.clear();
  for_each([&](detail::OpCall& call) { done_.push_back(&call); });
  std::ranges::sort(done_, {}, [](const detail::OpCall* call) { return call->position; });
  lanes_.fill({});
  occupied_ = 0;
  for (detail::OpCall* call : done_) leave(*call);
  return done_;
}

WorkerSession::Reply WorkerSession::take_reply(const detail::OpCall& call) noexcept {
  Reply reply;
  try {
    reply.result = channel_->read_reply(call.position, call.units);
  } catch (const std::bad_alloc&) {  // it has failed, and there is no memory for its words
    reply.result = fail(ErrorKind::out_of_memory);
  }
  if (reply.result) [[likely]]
    return reply;
  reply.had_begun = channel_->had_begun(call.position);
  channel_->clear_reply(call.position, call.units);
  return reply;
}

void WorkerSession::leave(detail::OpCall& call) noexcept {
  for (const BlockUse& use : call.uses.all())
    if (use.touch.writes) use.block->end_write();
  calls_[channel_->ring().index(call.position)] = nullptr;
}

void WorkerSession::free_places() noexcept {
  const wire::Position before = head_.load(std::memory_order_relaxed);
  wire::Position head = before;
  while (head < scanned_) {
    const wire::Record record = *channel_->ring().at(head);
    const wire::Position next = head + record.units;
    // A skip stays as long as the record behind it: until that is done, the worker may still have to come by.
    const bool under_way =
        record.skip ? next == scanned_ || calls_[0] : calls_[channel_->ring().index(head)] != nullptr;
    if (under_way) break;
    channel_->ring().free(head, record.units);
    head = next;
  }
  if (head != before) head_.store(head, std::memory_order_seq_cst);
}

bool WorkerSession::cancel(const detail::OpCall& call) noexcept {
  channel_->ring().cancel(call.position);
  return !was_handed_in(call);
}

bool WorkerSession::may_have_begun(const detail::OpCall& call) const noexcept {
  const wire::Ticket done = channel_->status().lanes[call.lane].timeline.now();
  return was_handed_in(call) && wire::reached(done + (call.stands_alone ? 1 : ops_per_flag_), call.ticket);
}

bool WorkerSession::waits_for_another(const detail::OpCall& call) const noexcept {
  bool any = false;
  for_each([&](const detail::OpCall& other) { any = any || (call.comes_after(other) && !covers(other)); });
  return any;
}

bool WorkerSession::was_handed_in(const detail::OpCall& call) const noexcept {
  return wire::reached(channel_->status().lanes[call.lane].begun.load(std::memory_order_seq_cst), call.ticket);
}

}  // namespace troupe::inline v0
