// The app's side of one worker's ring: which ops are in it, in ring order, and which of them its timelines cover. It is
// used again for a later worker, and never freed, because a thread that is about to submit may still look at it.
//
// Only whoever holds the engine's `watch_` calls these functions, except those that submitting threads call: `head`,
// `busy_lanes`, `no_chain_is_under_way` and `enter`.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "troupe/core/result.hpp"
#include "troupe/device/op_call.hpp"
#include "troupe/wire/channel.hpp"

namespace troupe::inline v0 {

class WorkerSession {
 public:
  /// Begins anew with the channel of a worker, which must stay until `close`, and its doorbell, which must stay for
  /// ever. `ops_per_flag`: the worker raises a timeline at once for this many ops at most. `guard`: it is told where
  /// the fences of arrays are. `is_over`: nothing waits for memory any more.
  void open(wire::Channel& channel, wire::Bell& doorbell, wire::Ticket ops_per_flag = 1, bool guard = false,
            std::function<bool()> is_over = never);
  void close() noexcept { channel_ = nullptr; }
  bool is_open() const noexcept { return channel_ != nullptr; }
  wire::Channel& channel() noexcept { return *channel_; }
  /// The device's generation when this worker began to serve; -1 while it is a standby.
  std::int64_t generation() const noexcept { return generation_; }
  void set_generation(std::int64_t generation) noexcept { generation_ = generation; }

  /// The oldest position still in use; any thread. Sequentially consistent, see `Engine::count_waiting`.
  wire::Position head() const noexcept { return head_.load(std::memory_order_seq_cst); }
  /// The lanes that had ops at the last look, a bit for each; any thread.
  std::uint32_t busy_lanes() const noexcept { return busy_lanes_.load(std::memory_order_relaxed); }
  /// Whether no op that has followed others to their lanes is under way; any thread. False when it is not known yet.
  bool no_chain_is_under_way(std::uint32_t lanes) const noexcept {
    return looked_up_to_.load(std::memory_order_acquire) >= last_follower_end_.load(std::memory_order_relaxed) &&
           (busy_lanes() & lanes) == 0;
  }
  /// A submitting thread puts the op into its slot of the ring. Wakes the worker if it sleeps.
  void enter(detail::OpCall& call, const wire::RingSlot& slot) noexcept;

  /// Where the next op goes; valid while no op is being entered.
  wire::Position tail() const noexcept { return scanned_; }
  /// Takes note of ops that were entered since the last call; false while one before `tail` is still being written.
  bool scan_to(wire::Position tail) noexcept;
  void scan() noexcept { scan_to(~wire::Position{0}); }
  /// The ops that are done, in ring order, together with all that they depend on. They are out of the session then, but
  /// `leave` frees their slot. None after a contradiction, and none once `is_over` and there is no memory for what the
  /// worker says of them.
  const std::vector<detail::OpCall*>& take_done() noexcept;
  /// Why what the worker says about its lanes cannot be true. From then on, until the worker is dead, nothing that it
  /// says is done is believed. What has begun stands in words of its own.
  const std::optional<Error>& contradiction() const noexcept { return contradiction_; }
  /// The same, once.
  const Error* contradiction_to_tell() noexcept {
    return contradiction_ && !std::exchange(contradiction_is_told_, true) ? &*contradiction_ : nullptr;
  }
  /// Replaces `take_done` when the worker is dead: even after a contradiction, a lane whose last word is proven is
  /// believed.
  void take_last_done() noexcept;
  /// Whether it is known which ops of a lane were done.
  bool knows_what_was_done(std::uint32_t lane) const noexcept { return (unknown_lanes_ & (1U << lane)) == 0; }
  /// The worker has failed: gives the ops that are left, in ring order, and takes them out of the ring. `take_done`
  /// finds those that it still does. Valid until the next call.
  const std::vector<detail::OpCall*>& retire() noexcept;
  /// After `retire`, when the worker takes nothing from its ring any more: those that it has not begun are not in this
  /// session any more, and cannot begin there.
  void withdraw_unbegun() noexcept;
  /// After `retire`: its ops may end, and nothing is looked for any more.
  void forget_ops() noexcept {
    lanes_.fill({});
    occupied_ = 0;
  }
  /// Gives the slots of finished ops back to the ring.
  void free_places() noexcept;
  /// The op is out of the ring: its content is settled, and its slot is no longer needed.
  void leave(detail::OpCall& call) noexcept;

  /// Asks the worker not to begin it. True when it certainly has not begun and will not.
  bool cancel(const detail::OpCall& call) noexcept;
  /// Whether its timeline covered it at the last look.
  bool covers(const detail::OpCall& call) const noexcept { return wire::reached(lanes_[call.lane].done, call.ticket); }
  /// Whether it may have begun: it was handed to its lane, and the ops before it there are done or may be. Does not
  /// look at ops of other lanes that it waits for: see `comes_after`.
  bool may_have_begun(const detail::OpCall& call) const noexcept;
  /// Whether all that came before it in its lane have ended.
  bool is_first_in_lane(const detail::OpCall& call) const noexcept { return lanes_[call.lane].first == &call; }
  /// Whether it certainly has not begun because an op of another lane, here in the ring, comes before it.
  bool waits_for_another(const detail::OpCall& call) const noexcept;

  bool empty() const noexcept { return occupied_ == 0; }
  /// Wakes the worker if it sleeps over its ops.
  void knock() noexcept {
    if (!empty()) doorbell_->wake();
  }
  /// A number that changes when an op that this one waits for is done.
  std::uint64_t progress_before(const detail::OpCall& call) const noexcept;
  /// Calls `f(call)` for every op known to be in the ring.
  template <class F>
  void for_each(F&& f) const {
    for (const LaneOps& lane : lanes_)
      for (detail::OpCall* call = lane.first; call;) {
        detail::OpCall* const next = call->next_in_lane;
        f(*call);
        call = next;
      }
  }

 private:
  struct LaneOps {
    detail::OpCall* first = nullptr;
    detail::OpCall* last = nullptr;
    wire::Ticket issued = 0;
    wire::Ticket done = 0;       // proven
    std::uint16_t failures = 0;  // the sum of their proofs, up to `done`
    std::uint64_t word = 0;      // the timeline's word at `done`
  };

  static bool never() noexcept { return false; }
  bool take_covered() noexcept;
  void tell_busy_lanes() noexcept;
  void take_covered(std::uint32_t number, std::uint64_t word) noexcept;
  bool take_proven(std::uint32_t number, std::uint64_t word) noexcept;
  void forget_this_look() noexcept;
  void distrust(std::uint32_t lane, std::uint64_t word) noexcept;
  bool was_handed_in(const detail::OpCall& call) const noexcept;

  // What submitting threads read, apart from what every op that ends writes.
  alignas(128) wire::Channel* channel_ = nullptr;
  wire::Bell* doorbell_ = nullptr;
  std::int64_t generation_ = -1;
  wire::Ticket ops_per_flag_ = 1;
  bool guard_ = false;
  std::vector<detail::OpCall*> calls_;  // by the index in the ring; null where none is under way
  alignas(64) std::atomic<wire::Position> last_follower_end_{0};  // of the last op that was entered and `follows`

  alignas(128) std::atomic<wire::Position> head_{0};
  std::atomic<std::uint32_t> busy_lanes_{0};
  std::atomic<wire::Position> looked_up_to_{0};  // `scanned_` at the last look
  wire::Position scanned_ = 0;
  std::array<LaneOps, wire::kMaxLanes> lanes_;
  std::uint32_t occupied_ = 0;                         // a bit for every lane with ops
  std::vector<detail::OpCall*> done_, rest_;           // have room for all ops from the start
  std::array<LaneOps, wire::kMaxLanes> lanes_before_;  // before this look, of those that it has changed
  std::uint32_t changed_ = 0;                          // a bit for each
  std::optional<Error> contradiction_;
  bool contradiction_is_told_ = false;
  std::uint32_t unknown_lanes_ = 0;  // a bit for each
  std::function<bool()> is_over_;
  bool has_given_up_ = false;  // for want of memory
};

}  // namespace troupe::inline v0
