// What happens to the ops of a worker that died: they are ghosts until the reap, then done, ready, suspect, or ended.
#include <sched.h>

#include <algorithm>
#include <vector>

#include "troupe/core/assert.hpp"
#include "troupe/core/without_memory.hpp"
#include "troupe/device/content.hpp"
#include "troupe/device/engine.hpp"
#include "troupe/device/ghosts.hpp"

namespace troupe::inline v0 {
namespace {

/// The error of an op that was cut off. `deadline_exceeded` is only for ops whose own deadline passed; all others have
/// lost their worker. A worker that is to be killed for one op may die in another one first.
Error cut_off_by(const detail::OpCall& call, const Error& why, bool is_likely) noexcept {
  using detail::describe;
  if (call.is_culprit && (is_likely || why.kind() == ErrorKind::deadline_exceeded)) return why;
  if (call.deadline_passed)
    return describe(ErrorKind::deadline_exceeded, [&] {
      return "the deadline passed while the op was under way; the worker was stopped: " + std::string(why.message());
    });
  if (why.kind() != ErrorKind::deadline_exceeded) return why;
  return describe(ErrorKind::worker_crashed, [&] { return "the worker was stopped: " + std::string(why.message()); });
}

/// Of an op that was under way beside others: nothing says that it has cost the worker, so it only missed its deadline.
Error passed_before_it_ran_again(const Error& why) noexcept {
  return detail::describe(ErrorKind::deadline_exceeded, [&] {
    return "the deadline passed before the op could be run again; its worker had died, perhaps in another op: " +
           std::string(why.message());
  });
}

Error passed_behind_others() noexcept {
  return detail::describe(ErrorKind::deadline_exceeded,
                          [] { return "the deadline passed while an op that does not end held up the worker"; });
}

/// A worker that is killed between marking the bell and waking the sleeper leaves a sleeper that nobody would wake.
void ring_for_the_dead(wire::Bell& bell) noexcept {
  bell.listen();
  bell.ring();
}

/// The op whose kernel failed, by an accelerator's report, if that is clear from the ops under way. Our own ops are
/// checked before they run; the user's code is not, and so is suspected first.
class PlainCulprit {
 public:
  void consider(detail::OpCall& call) noexcept {
    Candidates& its = call.is_users_code() ? users_ : ours_;
    ++its.count;
    its.last = &call;
  }
  detail::OpCall* found() const noexcept {
    const Candidates& likely = users_.count > 0 ? users_ : ours_;
    return likely.count == 1 ? likely.last : nullptr;
  }

 private:
  struct Candidates {
    int count = 0;
    detail::OpCall* last = nullptr;
  };
  Candidates users_, ours_;
};

}  // namespace

// ---- workers come and go ----

void Engine::open(std::uint32_t worker, wire::Channel& channel, wire::Bell& doorbell) {
  const auto watch = take_watch();
  sessions_[worker].open(channel, doorbell, options_.ops_per_flag, options_.guard, hooks_.is_over);
}

void Engine::close(std::uint32_t worker) {
  const auto watch = take_watch();
  TROUPE_ASSERT(&sessions_[worker] != active_ && &sessions_[worker] != trial_, "a worker in use is not closed");
  sessions_[worker].close();
  ring_for_the_dead(bell_);
}

void Engine::take_over(std::uint32_t worker, std::int64_t generation) {
  const auto watch = take_watch();
  const std::lock_guard lock(mutex_);
  TROUPE_ASSERT(!active_, "there is one active worker");
  if (shut_) return;
  active_ = &sessions_[worker];
  active_->set_generation(generation);
  const std::uint64_t name = (static_cast<std::uint64_t>(generation) << kWorkerBits) | worker;
  gate_.store(kSlow | (name << kPositionBits) | active_->tail(), std::memory_order_release);
  release_ready();
}

void Engine::retire_active(bool takes_no_more) {
  const auto watch = take_watch();
  const std::lock_guard lock(mutex_);
  if (!active_) return;
  WorkerSession& session = *active_;
  const std::uint64_t gate = gate_.fetch_or(kSlow, std::memory_order_acq_rel);
  while (!session.scan_to(position_of(gate))) sched_yield();  // a thread is still writing its record
  poll_session(session);
  active_ = nullptr;
  // They come before all ops that wait: those were submitted later, or do not conflict with them.
  const std::vector<detail::OpCall*>& rest = session.retire();
  if (takes_no_more && !session.contradiction()) session.withdraw_unbegun();
  for (auto call = rest.rbegin(); call != rest.rend(); ++call) {
    (*call)->stage = OpStage::ghost;
    prepend(**call);
    const bool is_withdrawn = (*call)->session != &session;
    if (is_withdrawn) (void)sort_out(**call, HadBegun::no, Error(ErrorKind::worker_crashed), Blame::nobody_here);
  }
}

bool Engine::reaped(std::uint32_t worker, const Error& why, Blame blame, std::optional<wire::NamedOp> named) {
  const auto watch = take_watch();
  const std::lock_guard lock(mutex_);
  WorkerSession& session = sessions_[worker];
  // First find out which ops had begun; once some of them have ended, nobody could tell.
  std::vector<detail::OpCall*> ghosts;
  for (detail::OpCall* call = first_waiting_; call; call = call->next)
    if (call->stage == OpStage::ghost && call->session == &session) ghosts.push_back(call);
  session.take_last_done();
  const std::vector<bool> in_doubt = who_is_in_doubt(ghosts);
  const std::vector<bool> had_begun = who_had_begun(ghosts, in_doubt, session);
  const bool stood_still = std::ranges::any_of(ghosts, [](const detail::OpCall* call) { return call->stands_still; });
  for (std::size_t i = 0; i < ghosts.size(); ++i) ghosts[i]->is_in_the_way = stood_still && had_begun[i];
  PlainCulprit culprit;
  PlainCulprit likely_one;  // lanes run one op after another, and so it was one of their first
  std::uint32_t lanes = 0;  // a bit for each in which an op was cut off
  for (std::size_t i = 0; i < ghosts.size(); ++i) {
    if (!had_begun[i] || ghosts[i]->is_done) continue;
    culprit.consider(*ghosts[i]);
    const std::uint32_t lane = 1U << ghosts[i]->lane;
    ghosts[i]->was_first = (lanes & lane) == 0;
    if (ghosts[i]->was_first) likely_one.consider(*ghosts[i]);
    lanes |= lane;
  }
  for (std::size_t i = 0; i < ghosts.size(); ++i) {
    if (!in_doubt[i]) continue;
    ghosts[i]->is_done = false;
    ghosts[i]->failure.reset();
  }
  const bool is_plain = blame == Blame::the_only_op && !session.contradiction() && culprit.found();
  if (!is_plain && (blame == Blame::the_only_op || session.contradiction() || stood_still)) blame = Blame::some_op;
  const auto is_named = [&](const detail::OpCall* call) {
    return named == wire::NamedOp{.lane = call->lane, .ticket = call->ticket};
  };
  const bool one_is_named = std::ranges::any_of(ghosts, is_named);
  const auto is_likely = [&](const detail::OpCall* call) {
    return one_is_named ? is_named(call) : likely_one.found() == call;
  };
  const std::vector<bool> is_lost = who_is_lost(ghosts, in_doubt, had_begun, session);
  bool is_explained = false;
  for (std::size_t i = 0; i < ghosts.size(); ++i) {
    const HadBegun begun = !had_begun[i] ? HadBegun::no : is_lost[i] ? HadBegun::and_is_lost : HadBegun::yes;
    const Blame its = is_plain && culprit.found() != ghosts[i] ? Blame::nobody_here : blame;
    is_explained = sort_out(*ghosts[i], begun, why, its, is_likely(ghosts[i])) || is_explained;
  }
  session.close();
  release_ready();
  ring_for_the_dead(bell_);
  return is_explained;
}

bool Engine::sort_out(detail::OpCall& call, HadBegun had_begun, const Error& why, Blame blame, bool is_likely) {
  if (was_let_be(call)) {
    call.is_done = false;
    call.failure.reset();
    had_begun = HadBegun::no;
  }
  if (call.is_done) {
    remove(call);
    end(call, settle(call));
    return false;
  }
  if (had_begun == HadBegun::no) {
    const bool is_tried = ++call.times_resent > kMaxTimesResent && options_.can_try;
    if (call.is_condemned || (!call.given_up && !call.deadline_passed)) {
      set_stage(call, is_tried ? OpStage::suspect : OpStage::ready);
      return false;
    }
    const Error given_up =
        about(Error(call.deadline_passed ? ErrorKind::deadline_exceeded : ErrorKind::cancelled), call);
    if (call.was_cut_off()) taint_what_it_writes(call, given_up);
    if (call.nobody_waits) {
      keep_place(call, given_up);
      set_stage(call, OpStage::ready);
      return false;
    }
    remove(call);
    end(call, fail(given_up));
    return false;
  }
  ++call.runs_cut_off;
  call.cut_off_in = call.session->generation();
  const Error end_in = cut_off_by(call, why, is_likely);
  if (had_begun == HadBegun::yes && options_.can_try && blame != Blame::the_only_op) {
    ++reruns_;
    call.evidence = is_likely ? end_in : passed_before_it_ran_again(why);
    if (std::exchange(call.deadline_passed, false)) answer_with_evidence(call);
    const bool is_innocent = blame == Blame::nobody_here && call.runs_cut_off <= kMaxInnocentRuns;
    set_stage(call, is_innocent && !call.is_in_the_way ? OpStage::ready : OpStage::suspect);
    return false;
  }
  const bool is_convicted = call.is_culprit || blame == Blame::the_only_op;
  if (is_convicted)
    convict(call, end_in);
  else if (blame == Blame::some_op)
    ledger_.suspect(call, std::chrono::steady_clock::now());
  if (is_blocked(call)) {
    condemn(call, end_in);
  } else {
    remove(call);
    end_cut_off(call, end_in);
  }
  return is_convicted || blame == Blame::some_op;
}

void Engine::condemn(detail::OpCall& call, const Error& end_in) noexcept {
  taint_what_it_writes(call, about(end_in, call));  // and again at its turn
  answer(call, end_in);
  keep_place(call, end_in);
  set_stage(call, OpStage::ready);
}

void Engine::keep_place(detail::OpCall& call, const Error& why) noexcept {
  if (call.has_group) answer(call, why);
  call.evidence = about(why, call);
  call.is_condemned = true;
  call.is_culprit = call.deadline_passed = call.stands_still = false;  // no worker is killed for it
  call.deadline = TimePoint::max();
}

void Engine::convict(detail::OpCall& call, const Error& why) noexcept {
  ++culprits_;
  using Charged = CrashLedger::Charged;
  ledger_.charge(call, call.is_culprit ? Charged::account : Charged::account_and_content, why,
                 std::chrono::steady_clock::now());
}

template <class F>
void Engine::for_each_under_way(const WorkerSession& session, const F& f) {
  session.for_each([&](detail::OpCall& call) {
    if (session.may_have_begun(call) && !call.is_hopeless && !session.waits_for_another(call)) f(call);
  });
}

void Engine::answer_plain_culprit(const Error& why) {
  const auto watch = take_watch();
  if (!active_) return;
  poll_session(*active_);
  if (active_->contradiction()) return;
  PlainCulprit culprit;
  for_each_under_way(*active_, [&](detail::OpCall& call) { culprit.consider(call); });
  if (detail::OpCall* const call = culprit.found(); call) answer(*call, why);
}

std::string Engine::under_way() {
  const auto watch = take_watch();
  if (!active_) return {};
  const detail::OpCall* first = nullptr;
  int count = 0;
  for_each_under_way(*active_, [&](const detail::OpCall& call) {
    ++count;
    if (!first || call.position < first->position) first = &call;
  });
  if (count < 2) return first ? first->name() : std::string();
  return std::to_string(count) + " ops, the first " + first->name();
}

bool Engine::runs_overdue(std::uint32_t worker) {
  const auto watch = take_watch();
  bool any = false;
  for_each_overdue(worker, [&](detail::OpCall&) { any = true; });
  return any;
}

void Engine::answer_overdue(std::uint32_t worker, const Error& why) {
  const auto watch = take_watch();
  for_each_overdue(worker, [&](detail::OpCall& call) { answer(call, call.is_culprit ? why : passed_behind_others()); });
}

template <class F>
void Engine::for_each_overdue(std::uint32_t worker, const F& f) {
  WorkerSession& session = sessions_[worker];
  if (&session != active_ && &session != trial_) return;
  session.for_each([&](detail::OpCall& call) {
    if (!call.deadline_passed || session.covers(call)) return;
    if (call.stands_still || (session.may_have_begun(call) && !session.waits_for_another(call))) f(call);
  });
}

// ---- suspects ----

bool Engine::has_suspects() {
  const std::lock_guard lock(mutex_);
  for (const detail::OpCall* call = first_waiting_; call; call = call->next)
    if (call->stage == OpStage::suspect) return true;
  return false;
}

std::optional<std::uint32_t> Engine::trial() {
  const auto watch = take_watch();
  if (!trial_) return std::nullopt;
  return static_cast<std::uint32_t>(trial_ - sessions_.data());
}

bool Engine::try_suspect(std::uint32_t worker) {
  const auto watch = take_watch();
  const std::lock_guard lock(mutex_);
  TROUPE_ASSERT(!trial_, "suspects are tried one after another");
  WorkerSession& session = sessions_[worker];
  while (detail::OpCall* const call = next_suspect()) {
    if (reads_what_stays_unknown(*call)) {
      const bool had_begun = !call->waits_unbegun();
      remove(*call);
      const Error error = about(reads_unknown(*call), *call), why = root_of(*call, error);
      had_begun ? taint_what_it_writes(*call, why) : skip_what_it_writes(*call, why);
      end(*call, fail(error));
      continue;
    }
    trial_ = &session;
    call->is_hopeless = call->is_condemned;
    if (call->is_in_the_way) limit_trial(*call, std::chrono::steady_clock::now());
    (void)lower_expiry(call->deadline);
    session.enter(*call, wire::Ring::slot_at(session.tail(), record_bytes(*call), options_.ring_units));
    session.scan();
    return true;
  }
  release_ready();
  return false;
}

detail::OpCall* Engine::next_suspect() noexcept {
  const auto can_be_tried = [&](const detail::OpCall& call) {
    return call.stage == OpStage::suspect && !waits_for_others(call);
  };
  for (detail::OpCall* call = first_waiting_; call; call = call->next) {
    if (!can_be_tried(*call)) continue;
    if (!call->was_first) return call;
    for (detail::OpCall* other = call->next; other; other = other->next) {
      const bool somebody_waits = !other->was_first && other->cut_off_in == call->cut_off_in && !other->settled();
      if (somebody_waits && can_be_tried(*other)) return other;
    }
    return call;
  }
  return nullptr;
}

bool Engine::waits_for_others(const detail::OpCall& call) noexcept {
  bool any = is_blocked(call);
  if (!any && active_) {
    // The gate is shut while anybody waits: only `release_ready` lets ops enter.
    while (!active_->scan_to(position_of(gate_.load(std::memory_order_acquire)))) sched_yield();
    active_->for_each([&](const detail::OpCall& other) { any = any || options_.guard || call.conflicts_with(other); });
  }
  attend_when_one_ends_ = attend_when_one_ends_ || any;
  return any;
}

void Engine::limit_trial(detail::OpCall& call, TimePoint now) noexcept {
  if (call.deadline != TimePoint::max()) return;
  call.has_trial_limit = true;
  call.deadline = now + kTrialLimit;
  call.stands_alone = true;
}

void Engine::lift_trial_limit(detail::OpCall& call) noexcept {
  if (!std::exchange(call.has_trial_limit, false)) return;
  call.deadline = TimePoint::max();
}

std::optional<std::int64_t> Engine::trial_failed(const Error& why, bool by_op) {
  const auto watch = take_watch();
  const std::lock_guard lock(mutex_);
  std::optional<std::int64_t> explained;
  if (!trial_) return explained;
  WorkerSession& session = *trial_;
  trial_ = nullptr;
  const std::vector<detail::OpCall*>& rest = session.retire();  // not copied: there may be no memory
  (void)session.take_done();
  for (detail::OpCall* call : rest) {
    if (call->is_done) {
      remove(*call);
      end(*call, settle(*call));
      continue;
    }
    const bool had_begun = session.may_have_begun(*call);
    if (had_begun) ++call->runs_cut_off;
    const bool is_culprit = by_op || call->deadline_passed || call->runs_cut_off > kMaxRunsCutOff;
    if (!is_culprit && (!had_begun || call->can_be_rerun())) {
      lift_trial_limit(*call);
      set_stage(*call, OpStage::suspect);
      continue;
    }
    const Error end_in = cut_off_by(*call, why, true);
    if (is_culprit) {
      convict(*call, end_in);
      explained = call->cut_off_in;
    }
    remove(*call);
    end_cut_off(*call, end_in);
  }
  session.forget_ops();
  release_ready();
  return explained;
}

void Engine::shut(const Error& why) {
  const auto watch = take_watch();
  const std::lock_guard lock(mutex_);
  if (!shut_) shut_ = why;
  const std::uint64_t gate = gate_.fetch_or(kSlow, std::memory_order_acq_rel);
  if (WorkerSession* session = std::exchange(active_, nullptr)) {
    while (!session->scan_to(position_of(gate))) sched_yield();
    poll_session(*session);
    for (detail::OpCall* call : session->retire()) end_cut_off(*call, why);
  }
  if (WorkerSession* session = std::exchange(trial_, nullptr)) session->retire();  // its op is in the waiting list, too
  for (WorkerSession& session : sessions_) session.forget_ops();
  for (const HeldBack& held : held_back_)
    if (held.call->waits_unbegun()) held.call->nobody_waits = false;  // its submitter is told below
  while (first_waiting_) {
    detail::OpCall& call = *first_waiting_;
    const bool never_began = call.waits_unbegun() || call.stage == OpStage::holding;
    remove(call);
    if (never_began)
      end(call, fail(about(why, call)));
    else
      end_cut_off(call, why);
  }
  let_go();  // now that their ops have ended, too: the submitters learn it
}

// ---- the waiting list ----

/// Sequentially consistent, like the ring's head: either whoever waits sees the room, or whoever makes room sees that
/// somebody waits.
void Engine::count_waiting(int change) noexcept {
  waiting_ += static_cast<std::size_t>(change);
  any_waiting_.store(waiting_ > 0, std::memory_order_seq_cst);
  if (!held_back_.empty() && waiting_ <= options_.max_waiting && !shut_) let_go();
}

void Engine::let_go() noexcept {
  for (HeldBack& held : std::exchange(held_back_, {})) held.submitter.leak()->complete_and_release({});
}

void Engine::append(detail::OpCall& call) noexcept {
  call.next = nullptr;
  call.previous = last_waiting_;
  (last_waiting_ ? last_waiting_->next : first_waiting_) = &call;
  last_waiting_ = &call;
  count_waiting(+1);
  if (call.stage != OpStage::ready) ++not_ready_;
}

void Engine::prepend(detail::OpCall& call) noexcept {
  call.previous = nullptr;
  call.next = first_waiting_;
  (first_waiting_ ? first_waiting_->previous : last_waiting_) = &call;
  first_waiting_ = &call;
  count_waiting(+1);
  if (call.stage != OpStage::ready) ++not_ready_;
}

void Engine::remove(detail::OpCall& call) noexcept {
  (call.previous ? call.previous->next : first_waiting_) = call.next;
  (call.next ? call.next->previous : last_waiting_) = call.previous;
  call.next = call.previous = nullptr;
  count_waiting(-1);
  if (call.stage != OpStage::ready) --not_ready_;
}

void Engine::set_stage(detail::OpCall& call, OpStage stage) noexcept {
  if (call.stage != OpStage::ready) --not_ready_;
  call.stage = stage;
  if (call.stage != OpStage::ready) ++not_ready_;
}

}  // namespace troupe::inline v0
