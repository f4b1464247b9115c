// An actor's mailbox: a bounded lane for messages and a control lane that is never refused, with many producers and
// one consumer, the turn of the actor.
//
// One atomic word holds everything that two threads must agree on: how many nodes each lane has, whether the actor is
// scheduled, which signals were raised, and whether the mailbox is closed. A producer first counts its node into
// the word and then pushes it, so the word never counts less than there is. Three promises follow directly:
//  - exactly one producer finds "not scheduled", and it schedules the actor: no lost wake-up, no double run;
//  - an actor falls idle only in one step from "nothing counted": there is no window to re-check;
//  - after `close` nothing is counted in any more, so emptying it by count loses nothing.
// A lane is the oldest lock-free list there is: push is one compare-and-swap on the head, the consumer takes all at
// once and reverses them. It never pops single nodes from the shared head, so there is no ABA and nothing to reclaim.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "troupe/core/assert.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

class Error;

/// What happens to a message when the mailbox is at its capacity.
enum class Overflow : std::uint8_t {
  refuse,         // it ends in `mailbox_full`
  drop_oldest,    // the oldest waiting message ends in `mailbox_full`, this one is taken
  suspend_asker,  // an ask waits outside until there is room; a tell ends in `mailbox_full`
};  // whatever the policy, `Ref::tell_or_wait` waits until there is room

/// How many messages a mailbox holds, unless `SpawnOptions` says otherwise: enough for a plain program never to meet
/// the limit, and few enough that an actor which is told more than it can handle is noticed before memory is.
inline constexpr std::uint32_t kDefaultMailboxCapacity = 1u << 20;
/// How many messages a mailbox may hold at most.
inline constexpr std::uint32_t kMaxMailboxCapacity = (1u << 27) - 1;
/// How many asks and tells may wait outside a full mailbox; one more ends in `mailbox_full`.
inline constexpr std::uint32_t kMaxSuspendedAsks = 4096;

namespace detail {

class Cell;

/// Something that waits in a lane. Exactly one of `run` and `drop` is called, once, on the actor's turn (a node that
/// `drop_oldest` pushes out is dropped on the turn of nobody, by the producer). It owns itself until then.
class Node {
 public:
  virtual void run(Cell& cell) noexcept = 0;
  virtual void drop(Cell& cell, const Error& why) noexcept = 0;
  /// It waited outside a full mailbox and is now in it. On the actor's turn.
  virtual void admitted() noexcept {}

 protected:
  ~Node() = default;

 private:
  friend class Lane;
  friend class NodeList;
  Node* next_ = nullptr;
};

/// First in, first out, one thread.
class NodeList {
 public:
  bool empty() const noexcept { return head_ == nullptr; }
  void push_back(Node& node) noexcept;
  Node* pop_front() noexcept;
  /// Puts all of `other` in front, in its order.
  void prepend(NodeList& other) noexcept;

 private:
  Node* head_ = nullptr;
  Node* tail_ = nullptr;
};

/// Many producers, one consumer.
class Lane {
 public:
  /// The consumer sees what the producer wrote before (release, against the acquire in `pop`).
  void push(Node& node) noexcept {
    Node* head = inbox_.load(std::memory_order_relaxed);
    do {
      node.next_ = head;
    } while (!inbox_.compare_exchange_weak(head, &node, std::memory_order_release, std::memory_order_relaxed));
  }
  /// The oldest node, or null. Consumer only.
  Node* pop() noexcept {
    if (!ready_ && inbox_.load(std::memory_order_relaxed)) refill();
    Node* node = ready_;
    if (node) ready_ = node->next_;
    return node;
  }
  /// Whether the consumer has one that it need not ask the producers for. Consumer only.
  bool at_hand() const noexcept { return ready_ != nullptr; }

 private:
  void refill() noexcept;

  std::atomic<Node*> inbox_{nullptr};  // newest first
  Node* ready_ = nullptr;              // oldest first; the consumer's own
};

/// Requests that carry nothing but themselves. Raising one never fails and never allocates.
enum class Signal : std::uint64_t {
  stop = std::uint64_t{1} << 56,        // now: what is queued is cut off
  drain = std::uint64_t{1} << 57,       // stop when what is queued is done
  by_parent = std::uint64_t{1} << 58,   // says who asked for the stop
  child_gone = std::uint64_t{1} << 59,  // a child has stopped
};

class Mailbox {
 public:
  enum class Push : std::uint8_t { taken, schedule, outside, full, closed };

  /// Born scheduled: whoever makes it schedules the actor's first turn.
  Mailbox(std::uint32_t capacity, Overflow overflow) noexcept : capacity_(capacity), overflow_(overflow) {}

  // ---- producers: any thread. `schedule` obliges the caller to schedule the actor. ----

  /// A message that `may_wait` waits outside a full mailbox, in order, until there is room. `dropped` receives the
  /// message that had to go for this one (`drop_oldest` only).
  Push push_message(Node& node, bool may_wait, Node*& dropped) noexcept;
  Push push_control(Node& node) noexcept;
  /// True obliges the caller to schedule the actor. Works until `retire`, on a closed mailbox too.
  bool raise(Signal signal) noexcept;

  /// Messages waiting, and the one being handled; for statistics and the least-loaded router.
  std::uint32_t size() const noexcept {
    const std::uint32_t counted = messages(word_.load(std::memory_order_relaxed));
    const std::uint32_t handled = std::max(messages(popped()), 1u) - 1;
    return counted - std::min(handled, counted);
  }
  bool closed() const noexcept { return word_.load(std::memory_order_acquire) & kClosed; }
  Overflow overflow() const noexcept { return overflow_; }
  std::uint32_t capacity() const noexcept { return capacity_; }

  // ---- the consumer: the actor's turn ----

  /// The signals raised since the last call, as a set of bits.
  std::uint64_t take_signals() noexcept;
  Node* pop_control() noexcept;
  Node* pop_message() noexcept;
  /// Counts out what was popped and makes room for as much. Until then the message being handled keeps its place.
  void count_out() noexcept;
  /// Whether the turn may go on with a message it has at hand, without a step on the word that the producers share. Not
  /// for long: messages that were handled and are not counted out take room, a sixteenth of it at most.
  bool message_at_hand() const noexcept {
    return overflow_ != Overflow::drop_oldest && messages_.at_hand() && messages(popped()) < capacity_ / 16;
  }
  /// Counts out and ends the turn. True: there is more to do, the actor stays scheduled. With `ignore_messages`,
  /// waiting messages do not count as something to do. After false the actor may be running on another thread: touch
  /// nothing.
  bool finish_turn(bool ignore_messages) noexcept;
  /// From here on every push answers `closed`. Then empty it with `pop_leftover` until that returns null.
  void close() noexcept { word_.fetch_or(kClosed, std::memory_order_acq_rel); }
  Node* pop_leftover() noexcept;
  /// The very last step of an actor: no signal, no schedule ever again.
  void retire() noexcept { word_.fetch_or(kRetired | kClosed, std::memory_order_acq_rel); }

 private:
  // The word: 28 bits of messages, 28 of control nodes, then flags.
  static constexpr std::uint64_t kOneMessage = 1;
  static constexpr std::uint64_t kOneControl = std::uint64_t{1} << 28;
  static constexpr std::uint64_t kCountMask = (std::uint64_t{1} << 28) - 1;
  static constexpr std::uint64_t kSignals = std::uint64_t{15} << 56;
  static constexpr std::uint64_t kScheduled = std::uint64_t{1} << 60;
  static constexpr std::uint64_t kSomeWaitOutside = std::uint64_t{1} << 61;
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 62;
  static constexpr std::uint64_t kRetired = std::uint64_t{1} << 63;

  static constexpr std::uint32_t messages(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word & kCountMask);
  }
  static constexpr std::uint32_t controls(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>((word / kOneControl) & kCountMask);
  }

  std::uint64_t popped() const noexcept { return popped_.load(std::memory_order_relaxed); }
  Push replace_oldest(Node& node, Node*& dropped) noexcept;
  Push wait_outside(Node& node) noexcept;
  Node* admit_one() noexcept;
  void lock() noexcept;
  void unlock() noexcept { lock_.clear(std::memory_order_release); }

  std::atomic<std::uint64_t> word_{kScheduled};
  Lane control_;
  Lane messages_;
  std::atomic<std::uint64_t> popped_{
      0};             // popped and not counted out yet, in units of the word; the consumer writes it
  NodeList outside_;  // what waits for room; under lock_
  std::uint32_t outside_count_ = 0;
  const std::uint32_t capacity_;
  const Overflow overflow_;
  std::atomic_flag lock_;  // the message lane's pop side (drop_oldest) or outside_ (the others)
};

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop
