// Deadlines: what happens to ops that have not ended in time.
#include "troupe/core/without_memory.hpp"
#include "troupe/device/engine.hpp"

namespace troupe::inline v0 {
namespace {

/// The time between asking a worker not to begin an op whose deadline has passed, and killing it because it had begun.
constexpr Duration kKillDelay = std::chrono::milliseconds(1);
/// How long an op past its deadline stays behind one that does not end, before the worker is killed for it.
constexpr Duration kStandstill = std::chrono::seconds(1);

Error passed_with_its_worker() noexcept {
  return detail::describe(ErrorKind::deadline_exceeded, [] { return "the deadline passed while the worker died"; });
}

Error evidence_of(const detail::OpCall& call) noexcept {
  return call.evidence ? *call.evidence : passed_with_its_worker();
}

}  // namespace

Error Engine::passed_before_it_began(const detail::OpCall& call) noexcept {
  if (!ahead_) {
    ahead_ = Ahead{nullptr, 0};
    const auto look_at = [&](const WorkerSession& session) {
      session.for_each([&](const detail::OpCall& other) {
        if (session.covers(other)) return;
        ++ahead_->count;
        if (!ahead_->first || other.position < ahead_->first->position) ahead_->first = &other;
      });
    };
    if (active_) look_at(*active_);
  }
  return detail::describe(ErrorKind::deadline_exceeded, [&] {
    std::string text = "the deadline passed before the op began";
    const detail::OpCall* const first = ahead_->first;
    if (!first || first == &call) return text;
    text += "; ahead of it was " + first->name();
    if (first->where.line() != 0) text += " at " + detail::place_of(first->where);
    if (ahead_->count > 2) text += ", with " + std::to_string(ahead_->count) + " ops under way";
    return text;
  });
}

Error Engine::passed_before_this_run(const detail::OpCall& call) noexcept {
  return call.was_cut_off() ? evidence_of(call) : passed_before_it_began(call);
}

TimePoint Engine::next_expiry() const noexcept {
  return TimePoint(TimePoint::duration(next_expiry_.load(std::memory_order_seq_cst)));
}

bool Engine::lower_expiry(TimePoint to) noexcept {
  const TimePoint::rep wanted = to.time_since_epoch().count();
  TimePoint::rep known = next_expiry_.load(std::memory_order_seq_cst);
  while (wanted < known)
    if (next_expiry_.compare_exchange_weak(known, wanted, std::memory_order_seq_cst)) return true;
  return false;
}

void Engine::expire(TimePoint now) noexcept {
  if (now < next_expiry()) return;
  ahead_.reset();
  next_expiry_.store(kNever, std::memory_order_seq_cst);  // ops that come from here on lower it; all others are found
  for (WorkerSession* session : {active_, trial_}) {
    if (!session) continue;
    session->scan();
    expire_in(*session, now);
  }
  const std::lock_guard lock(mutex_);
  expire_waiting(now);
}

void Engine::expire_waiting(TimePoint now) noexcept {
  bool any_ended = false;
  for (detail::OpCall* call = first_waiting_; call;) {
    detail::OpCall* const next = call->next;
    if (call->stage == OpStage::on_trial || call->stage == OpStage::holding) {
      // its deadline is checked in the ring; that of a seal when its turn comes
    } else if (call->deadline > now) {
      (void)lower_expiry(call->deadline);
    } else if (call->keeps_its_turn()) {
      keep_place(*call, passed_before_it_began(*call));
    } else if (call->stage == OpStage::ghost) {  // it ends at the reap
      if (!std::exchange(call->deadline_passed, true)) answer(*call, passed_with_its_worker());
    } else if (call->waits_unbegun()) {
      call->deadline_passed = true;
      remove(*call);
      end(*call, fail(about(passed_before_it_began(*call), *call)));
      any_ended = true;
    } else {
      answer_with_evidence(*call);
      if (call->stage == OpStage::ready) {  // it was cut off, and is run again alone, where it has a limit
        set_stage(*call, OpStage::suspect);
        hooks_.attend();
      }
    }
    call = next;
  }
  if (!any_ended) return;
  release_ready();
  if (std::exchange(attend_when_one_ends_, false)) hooks_.attend();
}

void Engine::answer_with_evidence(detail::OpCall& call) noexcept {
  answer(call, evidence_of(call));
  call.deadline = TimePoint::max();
  call.is_in_the_way = true;  // so that its trial has a limit
}

/// The worker is killed for the first of the ops that run past their deadlines: later ones may have waited for it, on a
/// GPU whose cores are all busy.
void Engine::expire_in(WorkerSession& session, TimePoint now) noexcept {
  detail::OpCall* first = nullptr;
  bool is_being_stopped = false;
  session.for_each([&](detail::OpCall& call) {
    is_being_stopped = is_being_stopped || (call.is_culprit && !session.covers(call));
    if (!call.deadline_passed && call.deadline <= now) pass_deadline(call, now);
    if (call.deadline_passed && call.kill_at <= now && !session.covers(call)) {
      call.kill_at = now + kKillDelay;
      const bool runs = session.may_have_begun(call) && !session.waits_for_another(call) &&
                        (call.stands_alone || session.is_first_in_lane(call));
      if (runs && (!first || call.position < first->position)) first = &call;
      if (!runs && stands_still_behind_others(call, now))
        stop_for(call, detail::describe(ErrorKind::deadline_exceeded, [&] {
                   return call.name() + " waited past its deadline behind an op that does not end";
                 }));
    }
    (void)lower_expiry(call.deadline_passed ? call.kill_at : call.deadline);
  });
  if (!first || is_being_stopped) return;
  first->is_culprit = true;
  stop_for(*first, detail::describe(ErrorKind::deadline_exceeded, [&] {
    return first->name() + (first->has_trial_limit
                                ? " did not end within " + to_string(kTrialLimit) + " when it was run alone"
                                : " ran past its deadline");
  }));
}

void Engine::pass_deadline(detail::OpCall& call, TimePoint now) noexcept {
  if (call.evidence && call.stage == OpStage::on_trial && !call.has_trial_limit) {
    answer_with_evidence(call);
    return limit_trial(call, now);
  }
  call.deadline_passed = true;
  if (call.session->cancel(call))
    answer(call, passed_before_this_run(call));
  else
    call.kill_at = now + kKillDelay;  // it runs, or sees that it is cancelled and ends by itself
}

void Engine::stop_for(detail::OpCall& call, const Error& why) noexcept {
  call.kill_at = TimePoint::max();
  hooks_.kill(static_cast<std::uint32_t>(call.session - sessions_.data()), why);
}

/// For an op that was handed to its lane, so that it cannot be taken back, and that waits there for others: whoever
/// waits for it is told now. If nothing moves there for a while, the worker is killed for it.
bool Engine::stands_still_behind_others(detail::OpCall& call, TimePoint now) noexcept {
  answer(call, passed_before_this_run(call));
  const std::uint64_t progress = call.session->progress_before(call);
  const bool has_moved = std::exchange(call.progress, progress) != progress;
  if (has_moved || call.stands_since == TimePoint{}) call.stands_since = now;
  call.stands_still = now - call.stands_since >= kStandstill;
  return call.stands_still;
}

}  // namespace troupe::inline v0
