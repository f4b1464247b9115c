// An actor's mailbox: a bounded lane for messages, and a control lane that always has room. Many producers push; the
// only consumer is the actor's turn.
//
// One atomic word holds everything that two threads must agree on: how many nodes each lane has, whether the actor is
// scheduled, which signals were raised, and whether the mailbox is closed. A producer first counts its node into
// the word and then pushes it, so the word never counts fewer nodes than there are. Three promises follow:
//  - exactly one producer finds "not scheduled", and it schedules the actor: no wake-up is lost, no two turns overlap;
//  - an actor falls idle in the same step that finds nothing to do in the word, so it need not look again;
//  - after `close` no producer counts anything in, so the consumer loses nothing when it empties the lanes by count.
// A lane is a lock-free list. A push is one compare-and-swap on its head. The consumer takes all nodes at once and
// reverses them. It never pops a single node from the shared head, so there is no ABA and nothing to reclaim.
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
  refuse,         // the message ends in `mailbox_full`
  drop_oldest,    // the mailbox takes the message, and its oldest waiting message ends in `mailbox_full`
  suspend_asker,  // an ask waits outside until there is room; a tell ends in `mailbox_full`
};  // with `refuse` and `suspend_asker`, `Ref::tell_or_wait` waits until there is room

/// How many messages a mailbox holds, unless `SpawnOptions` says otherwise: so many that a plain program never meets
/// the limit, and so few that an actor which gets more than it can handle is noticed before memory runs out.
inline constexpr std::uint32_t kDefaultMailboxCapacity = 1u << 20;
/// The largest capacity that `SpawnOptions` may give a mailbox.
inline constexpr std::uint32_t kMaxMailboxCapacity = (1u << 27) - 1;
/// How many asks and tells may wait outside a full mailbox; one more ends in `mailbox_full`.
inline constexpr std::uint32_t kMaxSuspendedAsks = 4096;

namespace detail {

class Cell;

/// Something that waits in a lane. It owns itself until its end: either `run` or `drop` is called, on the actor's turn.
/// A node that was postponed or stashed is run again later. If the mailbox does not take a node, or `drop_oldest`
/// pushes it out, the producer disposes of it, on any thread.
class Node {
 public:
  virtual void run(Cell& cell) noexcept = 0;
  virtual void drop(Cell& cell, const Error& why) noexcept = 0;
  /// The node waited outside a full mailbox, and is in the mailbox now. On the actor's turn.
  virtual void admitted() noexcept {}

 protected:
  ~Node() = default;

 private:
  friend class Lane;
  friend class NodeList;
  Node* next_ = nullptr;
};

/// A list of nodes, first in, first out. For one thread at a time.
class NodeList {
 public:
  bool empty() const noexcept { return head_ == nullptr; }
  void push_back(Node& node) noexcept;
  Node* pop_front() noexcept;
  /// Moves all nodes of `other` to the front, in their order.
  void prepend(NodeList& other) noexcept;

 private:
  Node* head_ = nullptr;
  Node* tail_ = nullptr;
};

/// A queue with many producers and one consumer.
class Lane {
 public:
  /// The consumer sees what the producer wrote before the push (release here, acquire in `pop`).
  void push(Node& node) noexcept {
    Node* head = inbox_.load(std::memory_order_relaxed);
    do {
      node.next_ = head;
    } while (!inbox_.compare_exchange_weak(head, &node, std::memory_order_release, std::memory_order_relaxed));
  }
  /// Takes the oldest node; null when there is none. Only the consumer may call it.
  Node* pop() noexcept {
    if (!ready_ && inbox_.load(std::memory_order_relaxed)) refill();
    Node* node = ready_;
    if (node) ready_ = node->next_;
    return node;
  }
  /// Whether the consumer has a node without a look at what the producers share. Only the consumer may call it.
  bool at_hand() const noexcept { return ready_ != nullptr; }

 private:
  void refill() noexcept;

  std::atomic<Node*> inbox_{nullptr};  // newest first
  Node* ready_ = nullptr;              // oldest first; only the consumer touches it
};

/// Requests without content. Raising one never fails and never allocates.
enum class Signal : std::uint64_t {
  stop = std::uint64_t{1} << 56,        // stop now; what is queued is cut off
  drain = std::uint64_t{1} << 57,       // stop after everything queued is done
  by_parent = std::uint64_t{1} << 58,   // the parent asks for the stop
  child_gone = std::uint64_t{1} << 59,  // a child has stopped
};

class Mailbox {
 public:
  enum class Push : std::uint8_t { taken, schedule, outside, full, closed };

  /// A new mailbox counts as scheduled: its creator must schedule the actor's first turn.
  Mailbox(std::uint32_t capacity, Overflow overflow) noexcept : capacity_(capacity), overflow_(overflow) {}

  // ---- producers: any thread. On `schedule` the caller must schedule the actor. ----

  /// If the mailbox is full, a message that `may_wait` waits outside, in order, until there is room. With `drop_oldest`
  /// no message waits outside: `dropped` receives the message that was pushed out.
  Push push_message(Node& node, bool may_wait, Node*& dropped) noexcept;
  Push push_control(Node& node) noexcept;
  /// True: the caller must schedule the actor. Signals work until `retire`, on a closed mailbox, too.
  bool raise(Signal signal) noexcept;

  /// How many messages wait, for statistics and the least-loaded router. The message being handled counts, too, except
  /// with `drop_oldest`.
  std::uint32_t size() const noexcept {
    const std::uint32_t counted = messages(word_.load(std::memory_order_relaxed));
    const std::uint32_t handled = std::max(messages(popped()), 1u) - 1;
    return counted - std::min(handled, counted);
  }
  bool closed() const noexcept { return word_.load(std::memory_order_acquire) & kClosed; }
  Overflow overflow() const noexcept { return overflow_; }
  std::uint32_t capacity() const noexcept { return capacity_; }

  // ---- the consumer: the actor's turn ----

  /// The signals that were raised since the last call, as a set of bits.
  std::uint64_t take_signals() noexcept;
  Node* pop_control() noexcept;
  Node* pop_message() noexcept;
  /// Counts out what was popped, which makes room for as many messages. Before this call, popped messages still take
  /// room.
  void count_out() noexcept;
  /// Whether the turn may go on with a message it has at hand, without a step on the word that the producers share.
  /// Handled messages that are not counted out take room, so this is true only up to a sixteenth of the capacity.
  bool message_at_hand() const noexcept {
    return overflow_ != Overflow::drop_oldest && messages_.at_hand() && messages(popped()) < capacity_ / 16;
  }
  /// Counts out and ends the turn. True: there is more to do, and the actor stays scheduled. With `ignore_messages`,
  /// waiting messages are nothing to do. After false the actor may be running on another thread already, so the caller
  /// must touch nothing of it.
  bool finish_turn(bool ignore_messages) noexcept;
  /// Every push after this returns `closed`. The caller must then call `pop_leftover` until it returns null.
  void close() noexcept { word_.fetch_or(kClosed, std::memory_order_acq_rel); }
  Node* pop_leftover() noexcept;
  /// The very last step of an actor: after it no signal is raised and no turn is scheduled.
  void retire() noexcept { word_.fetch_or(kRetired | kClosed, std::memory_order_acq_rel); }

 private:
  // The word has 28 bits for the number of messages, 28 for the number of control nodes, and then flags.
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
  // What was popped and is not counted out yet, in units of the word. Only the consumer writes it.
  std::atomic<std::uint64_t> popped_{0};
  NodeList outside_;  // what waits for room; guarded by `lock_`
  std::uint32_t outside_count_ = 0;
  const std::uint32_t capacity_;
  const Overflow overflow_;
  std::atomic_flag lock_;  // guards the pop side of the message lane (`drop_oldest`) or `outside_` (the others)
};

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop
