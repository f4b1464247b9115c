// One op under way, as the app keeps it: its bytes, the blocks it uses (and keeps alive), where it stands, and whoever
// waits for its end. One allocation per op. It is owned by the engine from submission to the op's end, and by whoever
// waits for it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <source_location>
#include <span>
#include <string>

#include "troupe/actor/ask.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/device/array.hpp"
#include "troupe/device/block.hpp"
#include "troupe/op/op.hpp"
#include "troupe/wire/channel.hpp"
#include "troupe/wire/encoding.hpp"
#include "troupe/wire/ring.hpp"
#include "troupe/wire/timeline.hpp"

namespace troupe::inline v0 {

class WorkerSession;

/// A block that an op uses, and how.
struct BlockUse {
  detail::IntrusivePtr<detail::VaultBlock> block;
  op::Touch touch;
};

/// The uses of one op: the first few inline, because almost no op has more. What is not used is not written either.
class BlockUses {
 public:
  BlockUses() noexcept {}  // NOLINT(modernize-use-equals-default): the uses are not
  ~BlockUses() { clear(); }
  BlockUses(const BlockUses&) = delete;
  BlockUses& operator=(const BlockUses&) = delete;

  void add(detail::IntrusivePtr<detail::VaultBlock> block, const op::Touch& touch) {
    if (count_ == capacity_) make_room();
    ::new (&begin_[count_]) BlockUse{std::move(block), touch};
    ++count_;
  }
  std::span<BlockUse> all() noexcept { return {begin_, count_}; }
  std::span<const BlockUse> all() const noexcept { return {begin_, count_}; }
  void clear() noexcept;

 private:
  static constexpr std::size_t kInline = 8;
  void make_room();

  std::size_t count_ = 0;
  std::size_t capacity_ = kInline;
  BlockUse* begin_ = inline_;
  union {
    BlockUse inline_[kInline];
  };
};

/// What an op says about its own result, for ops that can fail in a healthy worker (a matrix turns out to be singular):
/// words that it writes where the app sees them, and what they mean. A verdict of failure taints what the op writes,
/// like any other failure.
struct Verdict {
  std::span<const std::int32_t> words;                                   // in one of the op's arrays
  Result<void> (*judge)(std::span<const std::int32_t> words) = nullptr;  // null: there is nothing to judge
};

/// What happens to an op's block at the op's turn. Such an op is in no ring: it waits until nothing uses its block, and
/// holds it until every worker has done it.
enum class Sealing : std::uint8_t { none, seal, unseal };

/// Where an op stands.
enum class OpStage : std::uint8_t {
  in_ring,    // in a ring, nothing is wrong
  ready,      // waits in the app: for room, for a worker, or for what it conflicts with
  ghost,      // was in the ring of a worker that is dead but not reaped; its ranges are held
  suspect,    // had begun when its worker died; will be tried alone
  on_trial,   // is being tried alone
  exclusive,  // seals or unseals: waits in the app for its turn
  holding,    // its turn has come: its ranges are held
  ended,
};

namespace detail {

/// Told of the end of each op that was given to it. Shared by them and by whoever made it.
class OpGroup : public RefCounted {
 public:
  /// Op `number` has ended, as far as its caller is concerned; called exactly once. Any thread, under the engine's
  /// locks: it must not call back.
  virtual void op_has_ended(std::uint32_t number, const Result<void>& end) noexcept = 0;

 protected:
  using RefCounted::RefCounted;
};

class OpCall final : public Outcome<void> {
 public:
  OpCall() : Outcome<void>(1) {}

  // What is read for every op that ends lies together, because another core wrote it.

  // ---- the engine's, under its locks ----
  wire::Position position = 0;
  OpCall* next_in_lane = nullptr;
  wire::Ticket ticket = 0;
  std::uint32_t units = 0;
  OpStage stage = OpStage::in_ring;
  bool is_done = false;      // its timeline covers it, with proof
  bool given_up = false;     // nobody waits for it any more
  bool is_hopeless = false;  // in the ring only to keep its place: it reads something unknown, say
  bool deadline_passed = false;
  bool is_stale = false;       // hopeless because it names memory that died with a worker
  bool stands_alone = true;    // its timeline is raised for it alone
  bool writes_sealed = false;  // hopeless because it was submitted after what it writes was sealed
  bool has_group = false;      // so that nobody needs to look at `group`, which lies elsewhere
  /// How it failed, as the worker has proven; null: it went well.
  std::unique_ptr<wire::Channel::Failure> failure;
  /// The engine is done with it: it is in no ring and does not wait.
  std::atomic<bool> ended_in_engine{false};

  // ---- written before submission, by the caller ----
  bool refuse_when_full = false;
  bool nobody_waits = false;  // from the start: it was submitted without waiting
  bool runs_alone = false;    // this op, or one like it, was under way when a worker died
  bool follows = false;       // its lane is chosen when it is submitted, by what it depends on
  /// It is not run: it only keeps its place in the order. Its caller is told `evidence`, and at its turn so is whoever
  /// reads what it would have written.
  bool is_condemned = false;
  Sealing sealing = Sealing::none;
  bool ends_a_write = false;  // ops that were submitted when its call was made have written what it reads
  op::Kind kind = 0;
  std::uint32_t lane = 0;
  TimePoint deadline = TimePoint::max();
  Verdict verdict;
  BlockUses uses;
  std::optional<Duration> deadline_after;  // from its submission
  wire::Writer bytes;
  std::uint64_t account = 0;     // who pays if it costs a worker; 0: whoever submits it
  std::source_location where;    // in the program, for errors
  const char* called = nullptr;  // what the user called, where that is not the op's own name
  std::uint32_t number_in_group = 0;
  IntrusivePtr<OpGroup> group;  // null for most
  /// Another op of the same call, submitted just before this one; almost all calls have one op. Shared with the engine.
  IntrusivePtr<OpCall> before;

  // ---- the engine's, for ops that are in trouble ----
  WorkerSession* session = nullptr;  // whose ring it is in
  std::int64_t generation = -1;      // of the worker it was first given to
  std::int64_t cut_off_in = -1;      // the generation whose death cut it off
  OpCall* next = nullptr;            // in the waiting list
  OpCall* previous = nullptr;
  int runs_cut_off = 0;                  // how often a worker died while it ran
  int times_resent = 0;                  // how often a worker died before it began it
  TimePoint kill_at = TimePoint::max();  // when its worker is killed if it still runs
  std::uint64_t progress = 0;            // past its deadline: how far the ops before it were at the last look
  TimePoint stands_since{};              // since when `progress` has not changed
  bool was_first = false;                // of its lane that was not done when it was cut off
  bool stands_still = false;             // `progress` has not changed for too long
  bool is_culprit = false;               // it ran past its deadline, and its worker is killed for that
  bool is_in_the_way = false;            // perhaps of an op past its deadline
  bool has_trial_limit = false;          // its deadline is that of its trial
  /// Why the worker that cut it off died: the op ends in this if nothing better is known in time.
  std::optional<Error> evidence;

  /// It waits in the app, and no worker has begun it.
  bool waits_unbegun() const noexcept {
    return (stage == OpStage::ready || stage == OpStage::suspect || stage == OpStage::exclusive) && !was_cut_off();
  }
  /// Nobody waits for it and it has not begun: if it fails, that shows in what it writes, and must happen in order.
  bool keeps_its_turn() const noexcept { return nobody_waits && sealing == Sealing::none && waits_unbegun(); }
  /// A worker may have begun it and died: until the op has run well, what it writes may be half written.
  bool was_cut_off() const noexcept { return runs_cut_off > 0; }
  /// Prefetches what is read when it ends.
  void prefetch() const noexcept {
    __builtin_prefetch(this, 1);
    __builtin_prefetch(&position, 1);
  }
  /// The error of a call that nobody waits for, if it was not taken. How a call that was taken ends shows in what it
  /// writes, however soon that is: so a program gets the same answer each time.
  Result<void> refusal() { return settled() && !nobody_waits ? take() : Result<void>(); }
  /// It writes no element that it reads, so running it twice has the effect of running it once.
  bool can_be_rerun() const noexcept;
  bool conflicts_with(const OpCall& other) const noexcept;
  /// It runs the user's own code, a kernel or a plugin.
  bool is_users_code() const noexcept;
  /// Both are in one worker's ring: while `other` is not done, this op has certainly not begun. Only for different
  /// lanes; within one lane the timeline tells.
  bool comes_after(const OpCall& other) const noexcept {
    return other.lane != lane && other.position < position && conflicts_with(other);
  }
  /// "blas.gemm", or with the name of the user's own kernel or function: "jit.launch saxpy".
  std::string name() const;
};

// glibc keeps freed blocks of up to 1032 bytes for their thread; larger ones take a lock twice per op (10 % of a
// pipelined no-op).
static_assert(sizeof(OpCall) <= 1032);

}  // namespace detail

}  // namespace troupe::inline v0
