// The app's side of a device: ops go in, each comes out exactly once. While all is well an op goes straight into the
// active worker's ring, without a lock. When the ring is full, or a worker has died, ops go through the waiting list:
// all unfinished ops that are not in a live ring, in program order. One rule governs it: an op goes to the active
// worker when no op before it in the list conflicts with it.
//
// After a failure the dead worker's ops are *ghosts* at the front of the list. At the reap each of them ends, becomes
// ready again, or becomes a *suspect*, which is tried alone in another worker while everybody else goes on.
//
// Locks: `watch_` (who looks at timelines) before `mutex_` (the waiting list). Submitting takes neither while all is
// well. No code of the user runs while they are held.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "troupe/core/clock.hpp"
#include "troupe/core/park.hpp"
#include "troupe/device/crash_ledger.hpp"
#include "troupe/device/op_call.hpp"
#include "troupe/device/session.hpp"
#include "troupe/op/lanes_apart.hpp"
#include "troupe/wire/channel.hpp"
#include "troupe/wire/last_words.hpp"

namespace troupe::inline v0 {

static_assert(op::kLanesApart.back() < wire::kMaxLanes);

/// How often a worker may die of causes from outside while an op runs alone, before the op is blamed after all.
inline constexpr int kMaxRunsCutOff = 10;
/// How often a worker may die with an op in its ring that had not begun, before the op is tried alone: perhaps it had
/// begun without a trace.
inline constexpr int kMaxTimesResent = 5;
/// How long a trial may take when the op was in the way of another one past its deadline, or when its own deadline
/// passes meanwhile.
inline constexpr Duration kTrialLimit = std::chrono::seconds(2);

/// How often an op may be under way in a worker that dies of causes from outside before it is tried alone.
inline constexpr int kMaxInnocentRuns = 2;

/// Who is to blame for a worker's death, as far as is known.
enum class Blame : std::uint8_t {
  nobody_here,  // it was killed from outside, or for another op's sake
  some_op,      // one of those that it had begun; trials will show which
  the_only_op,  // the same, by the accelerator's own report, which leaves no doubt if only one was under way, or only
                // one of the user's own code
};

struct EngineStats {
  std::uint64_t submitted = 0;
  std::uint64_t waiting = 0;   // wait in the app, not in a ring
  std::uint64_t reruns = 0;    // ops that are run again after a worker's death
  std::uint64_t culprits = 0;  // ops that were convicted: they cost a worker
};

class Engine {
 public:
  struct Options {
    std::uint64_t ring_units = 4096;
    std::size_t max_waiting = 65536;
    int device = 0;
    wire::Ticket ops_per_flag = 1;
    /// Whether ops that were cut off may be tried again, alone, in a second worker.
    bool can_try = true;
    /// How long a thread looks before it sleeps.
    Duration spin = kSpinTime;
    /// Whether the poller goes on looking when nothing is under way: another op may come, and waking up for it costs as
    /// much as the op.
    bool lingers = false;
    /// How long a thread that waits for its op looks, with pauses, before it leaves that to the poller.
    Duration patience = Duration(0);
    CrashBudget crash_budget = {};
    /// Arrays have fences. One op is in a ring at a time, and the next one waits until its fences were compared: so
    /// it is certain which op has broken one.
    bool guard = false;
  };
  /// What the engine cannot do itself. Called from any thread, under the engine's locks: only post the request.
  struct Hooks {
    /// An op runs past its deadline in that worker.
    std::function<void(std::uint32_t worker, const Error&)> kill;
    /// What that worker has written cannot be true.
    std::function<void(std::uint32_t worker, const Error&)> distrust;
    /// There are suspects, a trial has ended, or the turn of an exclusive op may have come.
    std::function<void()> attend;
    /// Whether the device closes. Then nothing waits for memory any more: whoever closes it waits for the engine, and
    /// may be who has the memory.
    std::function<bool()> is_over = [] { return false; };
  };

  Engine(Options options, Hooks hooks, wire::Bell& bell);
  ~Engine();

  // ---- any thread ----

  /// Takes an op, and one ownership of it, until its end. An op that cannot be taken ends in its error at once. The op
  /// may wait in the app above `max_waiting`, because its caller waits for it and submits nothing meanwhile.
  void submit(detail::IntrusivePtr<detail::OpCall> call) noexcept { take_up_to(kNoLimit, *call.leak()); }
  /// The same for an op that nobody waits for. False when `max_waiting` ops wait already; then nothing has changed.
  bool submit_if_room(detail::IntrusivePtr<detail::OpCall> call) noexcept {
    return take_up_to(options_.max_waiting, *call.leak());
  }
  /// Holds back the submitter, who owns `call`, which went above `max_waiting`: `submitter` ends as soon as no more
  /// than that wait.
  void hold_back(detail::OpCall& call, detail::IntrusivePtr<detail::Outcome<void>> submitter) noexcept;
  /// The submitter stops waiting for room. If its op still waits in the app, the op ends in `why` and never begins;
  /// nothing is tainted, because the submitter learns of it.
  void withdraw(detail::OpCall& call, const detail::Outcome<void>& submitter, const Error& why) noexcept;
  /// Nobody waits for the op any more: if it has not begun, it never will.
  void give_up(detail::OpCall& call) noexcept;
  /// `submit` for a thread that waits for the op's end: for a short while it looks at the timelines itself.
  void submit_and_spin(const detail::IntrusivePtr<detail::OpCall>& call) noexcept;
  /// Whether the block is whole, and nothing that writes it and was submitted before (by this thread, or by one whose
  /// submissions it knows of) is still to end: so nobody need wait. Takes no lock; false where only a lock would tell.
  bool is_settled(const detail::VaultBlock& block) const noexcept;
  EngineStats stats();
  CrashLedger& ledger() noexcept { return ledger_; }

  // ---- the poller's thread ----

  /// Looks at the timelines until `stop_polling`.
  void poll_until_stopped() noexcept;
  void stop_polling() noexcept;

  // ---- the device's context, on its turns ----
  // Workers go by their number, which is also that of their doorbell.

  /// A worker is ready: a standby for now.
  void open(std::uint32_t worker, wire::Channel& channel, wire::Bell& doorbell);
  /// A standby has ended, and nothing of it is left. Not for the active worker or one with a trial.
  void close(std::uint32_t worker);
  /// A standby serves from now on, as the given generation. There must be no active one.
  void take_over(std::uint32_t worker, std::int64_t generation);
  /// The active worker has failed: its unfinished ops become ghosts until `reaped`.
  /// When that worker takes nothing from its ring any more, what it has not begun need not wait for the reap.
  void retire_active(bool takes_no_more = false);
  /// Call it before `retire_active`, when the accelerator has reported that a kernel failed. If it is clear which op
  /// that was, its caller is told now; the op itself, and its memory, stay until the reap.
  void answer_plain_culprit(const Error& why);
  /// A retired worker's process is gone, for this reason: what its timelines cover is done, the rest is sorted out.
  /// True when one of its ops accounts for the death; a trial may find that later. `named`: the op in which it died, as
  /// it said itself: no others are told that the death was theirs, unless their trial shows it.
  bool reaped(std::uint32_t worker, const Error& why, Blame blame = Blame::some_op,
              std::optional<wire::NamedOp> named = {});

  /// What the active worker may have begun, for people: "jit.launch saxpy", or "3 ops, the first blas.gemm".
  std::string under_way();
  /// Whether an op still runs in that worker past its deadline.
  bool runs_overdue(std::uint32_t worker);
  /// That worker was killed for such an op: whoever waits for one is answered now. The op itself, and its memory, stay
  /// until the reap.
  void answer_overdue(std::uint32_t worker, const Error& why);
  bool has_suspects();
  /// Tries the first suspect that may go, alone, in a standby; false when none may go now.
  bool try_suspect(std::uint32_t worker);
  /// The standby that has an op on trial. When the op ends, so does the trial, and `Hooks::attend` is called.
  std::optional<std::uint32_t> trial();
  /// The worker of the trial is dead. `by_op`: because of the op, and not because of something from outside. Gives the
  /// generation whose death this explains.
  std::optional<std::int64_t> trial_failed(const Error& why, bool by_op);

  /// The first op that seals or unseals whose turn has come, if any. Nothing uses its block until `end_exclusive`.
  detail::IntrusivePtr<detail::OpCall> take_exclusive();
  /// Does nothing when the engine was shut meanwhile, which ends all ops.
  void end_exclusive(detail::OpCall& call, Result<void> result) noexcept;

  /// Everything under way and to come ends in `why`.
  void shut(const Error& why);

 private:
  // The gate: what a submitting thread needs to know, in one word. Its low bits are the next position in the active
  // worker's ring; then that worker's number; then some bits of the generation, so that an old word is never taken for
  // a new one; and one bit that sends everybody to the waiting list.
  static constexpr std::uint64_t kSlow = std::uint64_t{1} << 63;
  static constexpr int kPositionBits = 48;
  static constexpr int kWorkerBits = 4;
  static_assert(wire::kMaxDoorbells == 1 << kWorkerBits);
  static constexpr TimePoint::rep kNever = TimePoint::max().time_since_epoch().count();
  static constexpr TimePoint::rep kAwake = TimePoint::min().time_since_epoch().count();

  static constexpr wire::Position position_of(std::uint64_t gate) noexcept {
    return gate & ((std::uint64_t{1} << kPositionBits) - 1);
  }
  static constexpr std::uint32_t worker_of(std::uint64_t gate) noexcept {
    return static_cast<std::uint32_t>(gate >> kPositionBits) % wire::kMaxDoorbells;
  }

  template <class Done>
  void look_with_pauses(const Done& done) noexcept;
  static constexpr std::size_t kNoLimit = ~std::size_t{0};
  /// False when the op is refused because of what it or its caller has cost; then it has ended.
  bool is_admitted(detail::OpCall& call) noexcept;
  std::uint32_t lane_by_dependency(const detail::OpCall& call) noexcept;
  /// Takes over the caller's ownership, too.
  bool take_up_to(std::size_t max_waiting, detail::OpCall& op) noexcept;
  bool enter_fast(detail::OpCall& call) noexcept;
  /// An error that nobody else learns of shows in what the op writes.
  void show_error(detail::OpCall& call, const Result<void>& result) noexcept;
  /// False when `max_waiting` ops wait already.
  bool submit_slowly(detail::OpCall& call, std::size_t max_waiting) noexcept;

  /// Locks `watch_` for a moment. The poller, who keeps it for as long as ops end, lets go.
  std::unique_lock<std::mutex> take_watch() noexcept;

  // Each needs `watch_`.
  bool poll() noexcept;
  bool poll_session(WorkerSession& session) noexcept;
  bool is_idle() const noexcept { return (!active_ || active_->empty()) && !trial_; }
  void expire(TimePoint now) noexcept;
  void expire_in(WorkerSession& session, TimePoint now) noexcept;
  void pass_deadline(detail::OpCall& call, TimePoint now) noexcept;
  /// For an op whose deadline passed before it began; it says what was ahead of it.
  Error passed_before_it_began(const detail::OpCall& call) noexcept;
  /// For an op that the worker which has it now does not begin.
  Error passed_before_this_run(const detail::OpCall& call) noexcept;
  bool stands_still_behind_others(detail::OpCall& call, TimePoint now) noexcept;
  void stop_for(detail::OpCall& call, const Error& why) noexcept;
  void expire_waiting(TimePoint now) noexcept;
  /// Whoever waits for an op that was cut off is answered at its deadline; its trial has a time limit of its own.
  void answer_with_evidence(detail::OpCall& call) noexcept;
  TimePoint next_expiry() const noexcept;
  /// False when an earlier expiry is known. Any thread.
  bool lower_expiry(TimePoint to) noexcept;
  /// Wakes workers that have ops and say nothing: bad code may have overwritten their bells.
  void knock() noexcept;
  template <class F>
  void for_each_overdue(std::uint32_t worker, const F& f);

  // Each needs `mutex_`.
  void release_ready() noexcept;
  std::optional<wire::RingSlot> room_for(const detail::OpCall& call) const noexcept;
  void count_waiting(int change) noexcept;
  void let_go() noexcept;
  void append(detail::OpCall& call) noexcept;
  void prepend(detail::OpCall& call) noexcept;
  void remove(detail::OpCall& call) noexcept;
  void set_stage(detail::OpCall& call, OpStage stage) noexcept;
  bool is_blocked(const detail::OpCall& call) const noexcept;
  std::size_t record_bytes(const detail::OpCall& call) const noexcept;
  /// Whether something in the waiting list or in the active worker's ring must end before it; then `Hooks::attend` is
  /// called when something has. Needs `watch_`, too.
  bool waits_for_others(const detail::OpCall& call) noexcept;
  /// The suspect whose turn it is. The first op of a lane comes after the others that were cut off with it: most likely
  /// it is the culprit, and the others need not wait until it has cost another worker.
  detail::OpCall* next_suspect() noexcept;
  /// Gives an op without a deadline one for its trial.
  void limit_trial(detail::OpCall& call, TimePoint now) noexcept;
  void lift_trial_limit(detail::OpCall& call) noexcept;

  // Each needs both.
  /// About an op that was cut off; `and_is_lost`: it cannot be run again.
  enum class HadBegun : std::uint8_t { no, yes, and_is_lost };
  /// True when the op accounts for the worker's death: it is convicted, or suspected and cannot be tried. `is_likely`:
  /// if its deadline passes before it has been tried, it ends in what its worker died of.
  bool sort_out(detail::OpCall& call, HadBegun had_begun, const Error& why, Blame blame, bool is_likely = false);
  /// For an op that has cost a worker, where one before it is run again and would make whole what this one has left
  /// unknown. Its caller is told now; the op goes through the ring once more, where nobody runs it, and taints what it
  /// writes again when its turn comes.
  void condemn(detail::OpCall& call, const Error& end_in) noexcept;
  /// For an op that nobody waits for and that will not begin. Its failure shows in what it writes, and that must happen
  /// in order; so it goes through the ring, where nobody runs it. Needs `watch_`, too.
  void keep_place(detail::OpCall& call, const Error& why) noexcept;
  /// The op has cost a worker, and is charged for it.
  void convict(detail::OpCall& call, const Error& why) noexcept;
  /// Calls `f(call)` for every op that the worker may have begun and not ended.
  template <class F>
  static void for_each_under_way(const WorkerSession& session, const F& f);
  /// How the op ended, as the worker has proven. Settles the content of its blocks.
  Result<void> settle(detail::OpCall& call) noexcept;

  void end(detail::OpCall& call, Result<void> result) noexcept;
  /// Whoever waits for the op is told now; its own end comes later.
  void answer(detail::OpCall& call, const Error& why) noexcept;
  static void tell_group(detail::OpCall& call, const Result<void>& end) noexcept;
  void end_cut_off(detail::OpCall& call, const Error& why) noexcept;
  /// The error with the op's name in its origin: `op` if it is given.
  Error about(const Error& error, const detail::OpCall& call, std::string_view op = {}) const noexcept;

  const Options options_;
  const Hooks hooks_;
  wire::Bell& bell_;
  CrashLedger ledger_;

  // Apart from what the poller reads all the time, because every submission writes these.
  alignas(128) std::atomic<std::uint64_t> gate_{kSlow};
  std::atomic<std::uint64_t> submitted_{0};
  std::atomic<std::uint32_t> next_chain_{0};                              // whose lane the next chain of ops takes
  alignas(128) std::array<WorkerSession, wire::kMaxDoorbells> sessions_;  // by the worker's number

  std::mutex watch_;
  std::atomic<int> watch_wanted_{0};       // by how many threads besides the poller
  std::atomic<bool> poller_looks_{false};  // it holds `watch_`, and gives it to whoever wants it
  std::mutex mutex_;
  WorkerSession* active_ = nullptr;  // changes under both
  WorkerSession* trial_ = nullptr;   // likewise: the standby that has an op on trial
  detail::OpCall* first_waiting_ = nullptr;
  detail::OpCall* last_waiting_ = nullptr;
  std::size_t waiting_ = 0;
  std::atomic<bool> any_waiting_{false};  // to be read without the lock
  std::size_t not_ready_ = 0;             // ghosts, suspects and ops on trial among them
  bool attend_when_one_ends_ = false;
  std::optional<Error> shut_;

  std::atomic<bool> stopping_{false};
  /// No deadline passes before this time; perhaps none at it. An op that ends does not change it: at this time the
  /// poller looks for the next one, so deadlines that are met cost nothing.
  std::atomic<TimePoint::rep> next_expiry_{kNever};
  std::atomic<TimePoint::rep> sleeps_until_{kAwake};
  /// Of the poller, while deadlines pass: the op in the ring that is furthest ahead, and how many are there. Found for
  /// the first op that asks.
  struct Ahead {
    const detail::OpCall* first;
    std::size_t count;
  };
  std::optional<Ahead> ahead_;
  std::uint64_t reruns_ = 0;
  std::uint64_t culprits_ = 0;
  /// Submitters that wait for room; only while more than `max_waiting` ops wait.
  struct HeldBack {
    detail::OpCall* call;
    detail::IntrusivePtr<detail::Outcome<void>> submitter;
  };
  std::vector<HeldBack> held_back_;
};

}  // namespace troupe::inline v0
