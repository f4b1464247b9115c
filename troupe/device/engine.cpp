// Submitting and looking at timelines. Deadlines are in engine_deadlines.cpp, and what happens when a worker dies in
// engine_recovery.cpp.
#include "troupe/device/engine.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <thread>

#include "troupe/core/assert.hpp"
#include "troupe/core/without_memory.hpp"
#include "troupe/device/content.hpp"
#include "troupe/device/fences.hpp"
#include "troupe/device/vault.hpp"
#include "troupe/op/families.hpp"

namespace troupe::inline v0 {
namespace {

/// An op with a shorter deadline raises the timeline alone, so that its worker can be stopped for it at once.
constexpr Duration kLongDeadline = std::chrono::seconds(1);
/// The poller looks at least this often, even when nobody rings: a worker can be killed on its way to the bell, and bad
/// code in it can overwrite the bell.
constexpr Duration kHeartbeat = std::chrono::milliseconds(20);
/// A thread that waits for a long op looks without a break for this long, and then with pauses: that takes a fifth of a
/// core at most, and is hardly ever late.
constexpr Duration kLookBeforePauses = std::chrono::milliseconds(5);
constexpr Duration kLookPause = std::chrono::microseconds(15);

/// The lanes of `Lanes::by_dependency`, besides that of copies between the device's memory and the app's. The first is
/// the one whose handles a worker makes ready before its first op.
constexpr std::array<std::uint32_t, 4> kChainLanes{op::lane_of(op::Family::blas), 4, 5, 6};
constexpr std::uint32_t kMaskApart = [] {
  std::uint32_t mask = 0;
  for (const std::uint32_t lane : op::kLanesApart) mask |= 1U << lane;
  return mask;
}();
static_assert(std::ranges::find(kChainLanes, op::lane_of(op::Family::memory)) == kChainLanes.end());
constexpr std::uint32_t kMaskOfChains = [] {
  std::uint32_t mask = 0;
  for (const std::uint32_t lane : kChainLanes) mask |= 1U << lane;
  return mask;
}();

/// The calls are in the caches of other cores: prefetch this many.
constexpr std::size_t kCallsAhead = 4;

/// Where the poller looks for the next op, another thread is about to write it and the worker to read it. While nothing
/// is under way, the poller can wait.
constexpr int kRestsWhileIdle = 8;
void rest_while_idle() noexcept {
  for (int i = 0; i < kRestsWhileIdle; ++i) relax_core();
}

}  // namespace

Engine::Engine(Options options, Hooks hooks, wire::Bell& bell)
    : options_(options), hooks_(std::move(hooks)), bell_(bell), ledger_(options.crash_budget) {}

Engine::~Engine() { TROUPE_ASSERT(!first_waiting_ && !active_, "an engine is shut before it is destroyed"); }

// ---- submitting ----

bool Engine::take_up_to(std::size_t max_waiting, detail::OpCall& op) noexcept {
  const TimePoint deadline = op.deadline;
  // For an op with a short deadline the app must know when it begins; for one that cannot be run again, whether it has.
  op.stands_alone =
      options_.ops_per_flag == 1 || op.deadline_after.value_or(kLongDeadline) < kLongDeadline || !op.can_be_rerun();
  if (op.account == 0) op.account = CrashLedger::account_of_caller();
  if (op.follows) op.lane = lane_by_dependency(op);
  if (ledger_.may_know(op) && !op.is_condemned && !is_admitted(op)) return true;
  if ((op.runs_alone || op.sealing != Sealing::none || !enter_fast(op)) && !submit_slowly(op, max_waiting)) {
    op.release();
    return false;
  }
  submitted_.fetch_add(1, std::memory_order_relaxed);
  // Either the poller sees the deadline when it computes how long to sleep, or we see here that it sleeps too long.
  if (deadline != TimePoint::max() && lower_expiry(deadline) &&
      deadline.time_since_epoch().count() < sleeps_until_.load(std::memory_order_seq_cst))
    bell_.ring();
  return true;
}

std::uint32_t Engine::lane_by_dependency(const detail::OpCall& call) noexcept {
  const auto is_one_of_ours = [](std::uint32_t lane) { return ((kMaskOfChains | kMaskApart) >> lane & 1) != 0; };
  const auto lane_where = [&](const auto& matters) -> std::uint32_t {
    for (const BlockUse& use : call.uses.all())
      if (matters(use) && is_one_of_ours(use.block->lane())) return use.block->lane();
    return 0;
  };
  if (const std::uint32_t lane =
          lane_where([](const BlockUse& use) { return use.touch.reads && use.block->is_being_written(); }))
    return lane;
  if (const std::uint32_t lane =
          lane_where([](const BlockUse& use) { return use.touch.writes && use.block->is_being_written(); }))
    return lane;
  // It depends on nothing under way. The first lane, which is always ready, is for those that find all others idle.
  const WorkerSession& session = sessions_[worker_of(gate_.load(std::memory_order_acquire))];
  if (session.no_chain_is_under_way(kMaskOfChains)) return kChainLanes.front();
  const std::uint32_t busy = session.busy_lanes();
  const auto others = std::span(kChainLanes).subspan(1);
  const std::uint32_t turn = next_chain_.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < others.size(); ++i)
    if (const std::uint32_t lane = others[(turn + i) % others.size()]; (busy >> lane & 1) == 0) return lane;
  return others[turn % others.size()];
}

bool Engine::is_admitted(detail::OpCall& call) noexcept {
  const Result<bool> alone = ledger_.must_run_alone(call, std::chrono::steady_clock::now());
  if (!alone) {
    call.nobody_waits = false;  // whoever submits it is told now
    end(call, fail(about(alone.error(), call)));
    return false;
  }
  call.runs_alone = *alone && options_.can_try;
  return true;
}

bool Engine::enter_fast(detail::OpCall& call) noexcept {
  std::uint64_t gate = gate_.load(std::memory_order_acquire);
  for (;;) {
    if (gate & kSlow) return false;
    // The session may be retired at any moment, but once the gate has let us in, it waits for our record.
    WorkerSession& session = sessions_[worker_of(gate)];
    const wire::Position tail = position_of(gate);
    const wire::RingSlot slot = wire::Ring::slot_at(tail, call.bytes.bytes().size(), options_.ring_units);
    const wire::Position head = session.head();
    if (head > tail) {  // others have entered since we read the gate, and their ops are done already
      gate = gate_.load(std::memory_order_acquire);
      continue;
    }
    if (!wire::Ring::is_free(slot, head, options_.ring_units)) return false;
    call.is_hopeless = call.is_condemned || reads_what_stays_unknown(call);
    if (gate_.compare_exchange_weak(gate, gate + (slot.end() - tail), std::memory_order_acq_rel,
                                    std::memory_order_acquire)) {
      session.enter(call, slot);
      return true;
    }
  }
}

bool Engine::is_settled(const detail::VaultBlock& block) const noexcept {
  // An op that waits in the app has set the slow bit; one in a ring counts as a writer before that bit is cleared,
  // until its end shows in the block. The second look at the gate tells whether ops have left a dead worker's ring
  // meanwhile, to wait again: then another worker serves.
  const std::uint64_t before = gate_.load(std::memory_order_acquire);
  if ((before & kSlow) != 0 || block.is_being_written() || !block.is_whole()) return false;
  if (block.vault().generation() != 0 || block.vault().is_forked()) return false;
  const std::uint64_t after = gate_.load(std::memory_order_acquire);
  return before >> kPositionBits == after >> kPositionBits;
}

bool Engine::submit_slowly(detail::OpCall& call, std::size_t max_waiting) noexcept {
  std::unique_lock lock(mutex_);
  if (shut_) {
    const Error why = about(*shut_, call);
    lock.unlock();
    call.nobody_waits = false;  // whoever submits it is told now
    end(call, fail(why));
    return true;
  }
  gate_.fetch_or(kSlow, std::memory_order_seq_cst);  // nobody overtakes this one from now on
  const bool is_exclusive = call.sealing != Sealing::none;
  const bool has_room = options_.guard ? waiting_ < options_.max_waiting
                                       : waiting_ == not_ready_ && !is_blocked(call) && room_for(call).has_value();
  const bool goes_at_once = call.runs_alone || is_exclusive || has_room;
  const bool is_refused = !goes_at_once && (call.refuse_when_full || waiting_ >= max_waiting);
  if (!is_refused) {
    call.stage = is_exclusive ? OpStage::exclusive : call.runs_alone ? OpStage::suspect : OpStage::ready;
    append(call);
    if (call.stage != OpStage::ready)
      hooks_.attend();
    else
      release_ready();
    return true;
  }
  if (waiting_ == 0 && active_ && !options_.guard) gate_.fetch_and(~kSlow, std::memory_order_acq_rel);
  if (!call.refuse_when_full) return false;
  const Error why = detail::describe(ErrorKind::queue_full, [&] {
    return "the ring has no room, and " + std::to_string(waiting_) + " ops wait for it or for a worker";
  });
  lock.unlock();
  call.nobody_waits = false;  // whoever submits it is told now
  end(call, fail(about(why, call)));
  return true;
}

void Engine::hold_back(detail::OpCall& call, detail::IntrusivePtr<detail::Outcome<void>> submitter) noexcept {
  {
    const std::lock_guard lock(mutex_);
    try {
      if (waiting_ > options_.max_waiting) return held_back_.push_back({&call, std::move(submitter)});
    } catch (const std::bad_alloc&) {  // its op is taken, so it need not wait
    }
  }
  submitter.leak()->complete_and_release({});
}

void Engine::withdraw(detail::OpCall& call, const detail::Outcome<void>& submitter, const Error& why) noexcept {
  const auto watch = take_watch();
  const std::lock_guard lock(mutex_);
  std::erase_if(held_back_, [&](const HeldBack& held) { return held.submitter.get() == &submitter; });
  if (!call.waits_unbegun()) return;
  remove(call);
  call.nobody_waits = false;
  end(call, fail(about(why, call)));
  release_ready();  // others may have waited for it
  if (std::exchange(attend_when_one_ends_, false)) hooks_.attend();
}

std::optional<wire::RingSlot> Engine::room_for(const detail::OpCall& call) const noexcept {
  if (!active_) return std::nullopt;
  const wire::Position tail = position_of(gate_.load(std::memory_order_acquire));
  if (options_.guard && active_->head() != tail) return std::nullopt;
  const wire::RingSlot slot = wire::Ring::slot_at(tail, record_bytes(call), options_.ring_units);
  if (!wire::Ring::is_free(slot, active_->head(), options_.ring_units)) return std::nullopt;
  return slot;
}

void Engine::release_ready() noexcept {
  bool any_stays = false;
  for (detail::OpCall* call = first_waiting_; call && active_;) {
    detail::OpCall* const next = call->next;
    if (call->stage != OpStage::ready || (any_stays && is_blocked(*call))) {
      any_stays = true;
    } else if (const std::optional<wire::RingSlot> slot = room_for(*call)) {
      remove(*call);
      call->is_hopeless = call->is_condemned || reads_what_stays_unknown(*call);
      gate_.fetch_add(slot->end() - slot->begin, std::memory_order_acq_rel);
      (void)lower_expiry(call->deadline);
      active_->enter(*call, *slot);
    } else {
      return;  // full: the poller comes back when there is room
    }
    call = next;
  }
  if (!first_waiting_ && active_ && !options_.guard) gate_.fetch_and(~kSlow, std::memory_order_acq_rel);
}

std::size_t Engine::record_bytes(const detail::OpCall& call) const noexcept {
  return options_.guard ? guarded_bytes(call) : call.bytes.bytes().size();
}

bool Engine::is_blocked(const detail::OpCall& call) const noexcept {
  if (options_.guard) return first_waiting_ && first_waiting_ != &call;
  for (const detail::OpCall* other = first_waiting_; other && other != &call; other = other->next)
    if (call.conflicts_with(*other)) return true;
  return false;
}

void Engine::give_up(detail::OpCall& call) noexcept {
  const auto watch = take_watch();
  const std::lock_guard lock(mutex_);
  if (call.ended_in_engine.load(std::memory_order_acquire)) return;
  call.given_up = true;
  if (call.stage == OpStage::in_ring || call.stage == OpStage::on_trial) {
    call.session->channel().ring().cancel(call.position);
  } else if (call.keeps_its_turn()) {
    keep_place(call, Error(ErrorKind::cancelled));
  } else if (call.waits_unbegun()) {
    remove(call);
    end(call, fail(ErrorKind::cancelled));
    release_ready();  // others may have waited for it
    if (std::exchange(attend_when_one_ends_, false)) hooks_.attend();
  }
}

// ---- looking ----

bool Engine::poll() noexcept {
  bool any = active_ && poll_session(*active_);
  if (trial_ && poll_session(*trial_)) {
    any = true;
    const std::lock_guard lock(mutex_);
    trial_ = nullptr;
    hooks_.attend();
  }
  if (any && any_waiting_.load(std::memory_order_seq_cst)) {
    const std::lock_guard lock(mutex_);
    release_ready();
    if (std::exchange(attend_when_one_ends_, false)) hooks_.attend();
  }
  return any;
}

bool Engine::poll_session(WorkerSession& session) noexcept {
  session.scan();
  const std::vector<detail::OpCall*>& done = session.take_done();
  for (std::size_t i = 0; i < done.size(); ++i) {
    detail::OpCall* const call = done[i];
    if (i + kCallsAhead < done.size()) done[i + kCallsAhead]->prefetch();
    if (call->stage == OpStage::on_trial) {
      const std::lock_guard lock(mutex_);
      remove(*call);
    }
    Result<void> result = settle(*call);
    show_error(*call, result);  // before it leaves: see `is_settled`
    session.leave(*call);
    if (call->runs_alone && !call->is_hopeless) ledger_.acquit(*call);
    end(*call, std::move(result));
  }
  if (const Error* why = session.contradiction_to_tell())
    hooks_.distrust(static_cast<std::uint32_t>(&session - sessions_.data()), *why);
  if (done.empty()) return false;
  session.free_places();
  return true;
}

Result<void> Engine::settle(detail::OpCall& call) noexcept {
  if (call.is_hopeless && call.is_condemned) {
    const Error why = about(*call.evidence, call);
    call.was_cut_off() ? taint_what_it_writes(call, why) : skip_what_it_writes(call, *call.evidence);
    return fail(why);
  }
  Result<void> result = how_it_ended(call);
  if (options_.guard) [[unlikely]]
    if (std::optional<Error> overrun = overrun_by(call, result, hooks_.is_over)) result = fail(*std::move(overrun));
  if (!result) {
    const std::string& named_by_worker = result.error().origin().op;  // the function of a plugin, say
    result = fail(about(result.error(), call, named_by_worker));
  }
  settle_content(call, result, !call.failure || call.failure->had_begun || call.was_cut_off());
  return result;
}

void Engine::submit_and_spin(const detail::IntrusivePtr<detail::OpCall>& call) noexcept {
  submit(call);  // first of all: the worker begins while we do the rest
  std::unique_lock watch(watch_, std::try_to_lock);
  if (!watch && poller_looks_.load(std::memory_order_relaxed)) watch = take_watch();  // the poller lets go at once
  if (!watch) return;  // another thread looks already, for its own op
  bell_.look();
  // It has ended, or was answered before its end: its deadline passed before it began, or it timed out.
  const auto ended = [&] { return call->ended_in_engine.load(std::memory_order_acquire) || call->settled(); };
  if (!spin_until([&] { return ended() || (poll(), ended()); }, options_.spin) && options_.patience > Duration(0))
    look_with_pauses(ended);
  bell_.listen();  // the poller sleeps at the bell
  poll();
  const bool leaves_some = !is_idle() || any_waiting_.load(std::memory_order_seq_cst);
  watch.unlock();
  if (leaves_some) bell_.ring();  // nobody could ring while we looked
}

template <class Done>
void Engine::look_with_pauses(const Done& done) noexcept {
  const long usual_slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  const TimePoint begin = std::chrono::steady_clock::now();
  const TimePoint until = begin + options_.patience;
  while (!done() && watch_wanted_.load(std::memory_order_relaxed) == 0) {
    const TimePoint now = std::chrono::steady_clock::now();
    if (now >= until || stopping_.load(std::memory_order_relaxed)) break;
    expire(now);
    if (now - begin < kLookBeforePauses)
      sched_yield();
    else
      std::this_thread::sleep_for(kLookPause);
    poll();
  }
  prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(usual_slack), 0, 0, 0);
}

std::unique_lock<std::mutex> Engine::take_watch() noexcept {
  watch_wanted_.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock watch(watch_);
  watch_wanted_.fetch_sub(1, std::memory_order_relaxed);
  return watch;
}

void Engine::poll_until_stopped() noexcept {
  const auto is_wanted = [&] { return watch_wanted_.load(std::memory_order_relaxed) > 0; };
  bool has_slept = false;  // and nothing has ended since
  while (!stopping_.load(std::memory_order_acquire)) {
    while (is_wanted()) sched_yield();
    TimePoint until = TimePoint::max();
    sleeps_until_.store(kAwake, std::memory_order_seq_cst);
    {
      const std::unique_lock watch(watch_, std::try_to_lock);
      if (!watch) {  // a thread looks for its own op; if we waited for the lock, it would have to wake us at its end
        bell_.sleep_while_looked_for(std::chrono::steady_clock::now() + kHeartbeat);
        continue;
      }
      const auto expire_in_time = [&] {
        if (next_expiry() != TimePoint::max()) expire(std::chrono::steady_clock::now());
      };
      expire_in_time();
      // Stays as long as ops end one after another.
      bool any = poll();
      if (std::exchange(has_slept, false) && !any) knock();
      poller_looks_.store(any, std::memory_order_relaxed);
      while (any && (options_.lingers || !is_idle()) && !is_wanted()) {
        any = spin_until(
            [&] {
              if (is_idle()) rest_while_idle();
              return poll() || (!options_.lingers && is_idle()) || is_wanted();
            },
            options_.spin);
        expire_in_time();
      }
      poller_looks_.store(false, std::memory_order_relaxed);
      bell_.listen();
      if (poll() || is_wanted() || stopping_.load(std::memory_order_seq_cst)) continue;
      until = next_expiry();
      sleeps_until_.store(until.time_since_epoch().count(), std::memory_order_seq_cst);
      until = std::min(until, next_expiry());
    }
    bell_.sleep(std::min(until, std::chrono::steady_clock::now() + kHeartbeat));
    has_slept = true;
  }
}

void Engine::knock() noexcept {
  if (active_) active_->knock();
  if (trial_) trial_->knock();
}

void Engine::stop_polling() noexcept {
  stopping_.store(true, std::memory_order_seq_cst);
  bell_.ring();
}

// ---- ending ----

void Engine::show_error(detail::OpCall& call, const Result<void>& result) noexcept {
  // If it had begun, that is tainted already.
  if (!result && call.nobody_waits && call.sealing == Sealing::none) skip_what_it_writes(call, result.error());
}

void Engine::end(detail::OpCall& call, Result<void> result) noexcept {
  show_error(call, result);
  tell_group(call, result);
  call.stage = OpStage::ended;
  call.uses.clear();  // before the reply: its receiver may count on the memory
  call.ended_in_engine.store(true, std::memory_order_release);
  call.complete_and_release(std::move(result));
}

void Engine::answer(detail::OpCall& call, const Error& why) noexcept {
  if (call.settled()) return;
  const Error its_own = about(why, call);
  tell_group(call, fail(its_own));
  call.fail_with(its_own);
}

void Engine::tell_group(detail::OpCall& call, const Result<void>& end) noexcept {
  if (std::exchange(call.has_group, false)) call.group->op_has_ended(call.number_in_group, end);
}

void Engine::end_cut_off(detail::OpCall& call, const Error& why) noexcept {
  const Error its_own = about(why, call);
  taint_what_it_writes(call, its_own);
  end(call, fail(its_own));
}

Error Engine::about(const Error& error, const detail::OpCall& call, std::string_view op) const noexcept {
  try {
    ErrorOrigin origin = error.origin();
    origin.op = op.empty() ? call.name() : std::string(op);
    origin.device = options_.device;
    if (call.generation >= 0) origin.generation = call.generation;
    origin.where = call.where;
    return Error(error.kind(), std::string(error.message()), std::move(origin));
  } catch (const std::bad_alloc&) {
    return error;  // without the op's name
  }
}

EngineStats Engine::stats() {
  const auto watch = take_watch();
  const std::lock_guard lock(mutex_);
  return {.submitted = submitted_.load(std::memory_order_relaxed),
          .waiting = waiting_,
          .reruns = reruns_,
          .culprits = culprits_};
}

}  // namespace troupe::inline v0
