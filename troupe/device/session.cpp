#include "troupe/device/session.hpp"

#include <algorithm>
#include <new>

#include "troupe/core/without_memory.hpp"
#include "troupe/device/fences.hpp"
#include "troupe/device/vault.hpp"

namespace troupe::inline v0 {

void WorkerSession::open(wire::Channel& channel, wire::Bell& doorbell, wire::Ticket ops_per_flag, bool guard,
                         std::function<bool()> is_over) {
  is_over_ = std::move(is_over);
  has_given_up_ = false;
  ops_per_flag_ = ops_per_flag;
  guard_ = guard;
  channel_ = &channel;
  doorbell_ = &doorbell;
  generation_ = -1;
  scanned_ = 0;
  calls_.assign(channel.ring().capacity_units(), nullptr);
  for (std::uint32_t lane = 0; lane < wire::kMaxLanes; ++lane)
    lanes_[lane] = {.word = wire::TimelineWord::make(channel.key(), lane, 0, 0)};
  occupied_ = 0;
  unknown_lanes_ = 0;
  done_.clear();
  contradiction_.reset();
  contradiction_is_told_ = false;
  // As many ops as a ring can hold: later there may be no memory.
  done_.reserve(channel.ring().capacity_units());
  rest_.reserve(channel.ring().capacity_units());
  busy_lanes_.store(0, std::memory_order_relaxed);
  looked_up_to_.store(0, std::memory_order_relaxed);
  last_follower_end_.store(0, std::memory_order_relaxed);
  head_.store(0, std::memory_order_release);
}

void WorkerSession::enter(detail::OpCall& call, const wire::RingSlot& slot) noexcept {
  call.stage = call.stage == OpStage::suspect ? OpStage::on_trial : OpStage::in_ring;
  call.session = this;
  call.is_done = false;
  call.failure = nullptr;
  const bool is_new = call.generation < 0;
  if (is_new) call.generation = generation_;
  call.position = slot.record();
  call.units = static_cast<std::uint32_t>(slot.units);
  for (const BlockUse& use : call.uses.all()) {
    const std::int64_t generation = use.block->vault().generation();
    if (generation != 0 && generation != generation_) call.is_hopeless = call.is_stale = true;
    if (use.touch.writes) {
      use.block->begin_write(call.lane);
      if (is_new && use.block->is_sealed()) call.writes_sealed = true;  // an op that is run again came before the seal
    }
    if (is_new && call.sealing == Sealing::seal) use.block->begin_seal();  // whatever comes after it sees the seal
  }
  if (call.writes_sealed) call.is_hopeless = true;
  if (call.follows) last_follower_end_.store(slot.end(), std::memory_order_relaxed);
  calls_[channel_->ring().index(slot.record())] = &call;
  channel_->ring().prefetch_to_write_after(slot.record());
  wire::Bell& doorbell = *doorbell_;
  const wire::RecordTraits traits{.cancelled = call.is_hopeless, .alone = call.stands_alone};
  if (guard_) [[unlikely]]
    commit_guarded(channel_->ring(), slot, call, traits);
  else
    channel_->ring().commit(slot, call.lane, call.bytes.bytes(), traits);
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
  for (std::uint32_t left = occupied_; left != 0 && !contradiction_ && !has_given_up_; left &= left - 1) {
    const auto number = static_cast<std::uint32_t>(__builtin_ctz(left));
    const std::uint64_t word = channel_->status().lanes[number].timeline.load(std::memory_order_seq_cst);
    if (word != lanes_[number].word) take_covered(number, word);
  }
  return done_.size() > before;
}

void WorkerSession::take_covered(std::uint32_t number, std::uint64_t word) noexcept {
  const wire::Ticket now = wire::TimelineWord::ticket(word);
  LaneOps& lane = lanes_[number];
  if (!wire::reached(lane.issued, now)) scan();  // an op may have come meanwhile, and be done already
  if ((changed_ & (1U << number)) == 0) lanes_before_[number] = lane;
  changed_ |= 1U << number;
  if (!take_proven(number, word)) return has_given_up_ ? forget_this_look() : distrust(number, word);
  channel_->status().lanes[number].seen.store(now, std::memory_order_relaxed);
  if (!lane.first) occupied_ &= ~(1U << number);
}

/// Takes the ops that a word of a lane covers, and their replies; none unless the worker itself has written the word
/// and those replies, and none when it gives up.
bool WorkerSession::take_proven(std::uint32_t number, std::uint64_t word) noexcept {
  const wire::Ticket now = wire::TimelineWord::ticket(word);
  LaneOps& lane = lanes_[number];
  if (!wire::reached(lane.issued, now) || !wire::reached(now, lane.done) ||
      !wire::TimelineWord::is_marked(channel_->key(), number, word))
    return false;
  const std::size_t known = done_.size();
  const auto take_none = [&] {
    for (std::size_t i = known; i < done_.size(); ++i) done_[i]->is_done = false;
    done_.resize(known);
    return false;
  };
  std::uint16_t failures = lane.failures;
  detail::OpCall* call = lane.first;
  for (; call && wire::reached(now, call->ticket); call = call->next_in_lane) {
    const auto take = [&] { call->failure = channel_->take_failure(call->position, call->units); };
    if (!detail::await_memory_unless(take, is_over_)) [[unlikely]] {
      has_given_up_ = true;
      return take_none();
    }
    if (call->failure) [[unlikely]]
      failures = static_cast<std::uint16_t>(failures + call->failure->proof);
    call->is_done = true;
    done_.push_back(call);
  }
  if (failures != wire::TimelineWord::failures(word)) return take_none();
  lane.first = call;
  lane.done = now;
  lane.word = word;
  lane.failures = failures;
  return true;
}

/// What was said about other lanes is not believed either: an op that is done there may have waited for one that is
/// not.
void WorkerSession::forget_this_look() noexcept {
  for (detail::OpCall* call : done_) call->is_done = false;
  done_.clear();
  for (std::uint32_t left = changed_; left != 0; left &= left - 1) {
    const auto number = static_cast<std::uint32_t>(__builtin_ctz(left));
    lanes_before_[number].issued = lanes_[number].issued;
    lanes_before_[number].last = lanes_[number].last;
    lanes_[number] = lanes_before_[number];
    occupied_ |= 1U << number;
  }
  unknown_lanes_ = ~0U;
}

void WorkerSession::distrust(std::uint32_t lane, std::uint64_t word) noexcept {
  forget_this_look();
  const LaneOps& ops = lanes_[lane];
  contradiction_ = detail::describe(ErrorKind::worker_crashed, [&] {
    return "the worker's memory was overwritten: lane " + std::to_string(lane) + " had done " +
           std::to_string(ops.done) + " of " + std::to_string(ops.issued) + " ops, and then said " +
           std::to_string(wire::TimelineWord::ticket(word)) + ", without its mark or with other replies";
  });
}

// Before anybody hears that an op is done: a caller's next op finds its lane free.
void WorkerSession::tell_busy_lanes() noexcept {
  if (busy_lanes() != occupied_) busy_lanes_.store(occupied_, std::memory_order_relaxed);
  if (looked_up_to_.load(std::memory_order_relaxed) != scanned_)
    looked_up_to_.store(scanned_, std::memory_order_release);
}

const std::vector<detail::OpCall*>& WorkerSession::take_done() noexcept {
  done_.clear();
  changed_ = 0;
  if (contradiction_ || has_given_up_) return done_;
  const bool any = take_covered();
  const bool several_lanes = ((occupied_ | changed_) & ((occupied_ | changed_) - 1)) != 0;
  if (any && several_lanes) {
    // An op is covered after the ops of other lanes that it waited for, but we may have looked at their lanes before
    // that. When a whole round finds nothing new, we have found everything that the found ops depend on.
    while (take_covered()) {
    }
    std::ranges::sort(done_, {}, [](const detail::OpCall* call) { return call->position; });
  }
  tell_busy_lanes();
  return done_;
}

void WorkerSession::take_last_done() noexcept {
  (void)take_done();
  if (!contradiction_) return;
  unknown_lanes_ = 0;
  for (std::uint32_t number = 0; number < wire::kMaxLanes; ++number) {
    const std::uint64_t word = channel_->status().lanes[number].timeline.load(std::memory_order_seq_cst);
    LaneOps& lane = lanes_[number];
    if (word != lane.word && !take_proven(number, word)) unknown_lanes_ |= 1U << number;
  }
}

const std::vector<detail::OpCall*>& WorkerSession::retire() noexcept {
  rest_.clear();
  for_each([&](detail::OpCall& call) { rest_.push_back(&call); });
  std::ranges::sort(rest_, {}, [](const detail::OpCall* call) { return call->position; });
  for (detail::OpCall* call : rest_) leave(*call);
  return rest_;
}

void WorkerSession::withdraw_unbegun() noexcept {
  // The worker may live after all, for a moment or for good: somebody may have written over its life line. It looks
  // whether an op is wanted after it has said that the op begins, so first all are asked back, then we look. Backwards,
  // because a worker that finds one op asked back must not find a later one wanted, which may depend on it. All of
  // them, also where nobody knows what has begun: what runs already does not look any more.
  for (auto call = rest_.rbegin(); call != rest_.rend(); ++call) channel_->ring().cancel((*call)->position);
  for (std::uint32_t number = 0; number < wire::kMaxLanes; ++number) {
    LaneOps& lane = lanes_[number];
    detail::OpCall* last = nullptr;  // that may have begun
    detail::OpCall* call = lane.first;
    for (; call && was_handed_in(*call); call = call->next_in_lane) last = call;
    if (!call) continue;
    (last ? last->next_in_lane : lane.first) = nullptr;
    lane.last = last;
    lane.issued = last ? last->ticket : lane.done;
    if (!last) occupied_ &= ~(1U << number);
    while (call) {
      call->session = nullptr;
      call = std::exchange(call->next_in_lane, nullptr);
    }
  }
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
    // A skip stays as long as the record after it: until that is done, the worker may still have to pass the skip.
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
  const wire::Ticket done = lanes_[call.lane].done;
  return was_handed_in(call) && (!knows_what_was_done(call.lane) ||
                                 wire::reached(done + (call.stands_alone ? 1 : ops_per_flag_), call.ticket));
}

bool WorkerSession::waits_for_another(const detail::OpCall& call) const noexcept {
  bool any = false;
  for_each([&](const detail::OpCall& other) { any = any || (call.comes_after(other) && !covers(other)); });
  return any;
}

std::uint64_t WorkerSession::progress_before(const detail::OpCall& call) const noexcept {
  std::uint64_t progress = lanes_[call.lane].done;
  for_each([&](const detail::OpCall& other) {
    if (call.comes_after(other)) progress += std::uint64_t{1} << 32 | lanes_[other.lane].done;
  });
  return progress;
}

bool WorkerSession::was_handed_in(const detail::OpCall& call) const noexcept {
  const std::optional<wire::Ticket> begun = channel_->begun(call.lane);
  return !begun || wire::reached(*begun, call.ticket);  // when the word was overwritten, it may have been
}

}  // namespace troupe::inline v0
