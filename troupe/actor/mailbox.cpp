#include "troupe/actor/mailbox.hpp"

#include <sched.h>

#include <utility>

namespace troupe::inline v0::detail {

void NodeList::push_back(Node& node) noexcept {
  node.next_ = nullptr;
  (tail_ ? tail_->next_ : head_) = &node;
  tail_ = &node;
}

Node* NodeList::pop_front() noexcept {
  Node* node = head_;
  if (node) {
    head_ = node->next_;
    if (!head_) tail_ = nullptr;
  }
  return node;
}

void NodeList::prepend(NodeList& other) noexcept {
  if (other.empty()) return;
  other.tail_->next_ = head_;
  if (!tail_) tail_ = other.tail_;
  head_ = other.head_;
  other.head_ = other.tail_ = nullptr;
}

void Lane::refill() noexcept {
  // Acquire: what the producers of these nodes wrote is visible from here on.
  Node* newest = inbox_.exchange(nullptr, std::memory_order_acquire);
  while (newest) {
    Node* older = newest->next_;
    newest->next_ = ready_;
    ready_ = newest;
    newest = older;
  }
}

Mailbox::Push Mailbox::push_message(Node& node, bool may_wait, Node*& dropped) noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (word & kClosed) return Push::closed;
    if (messages(word) >= capacity_ || (word & kSomeWaitOutside)) {
      Push outcome = Push::full;
      if (overflow_ == Overflow::drop_oldest)
        outcome = replace_oldest(node, dropped);
      else if (may_wait)
        outcome = wait_outside(node);
      if (outcome != Push::schedule) return outcome;  // here `schedule` means that there may be room now: try again
      word = word_.load(std::memory_order_relaxed);
      continue;
    }
    // Acquire: if this producer schedules the actor, it must see what the last turn wrote.
    if (word_.compare_exchange_weak(word, (word + kOneMessage) | kScheduled, std::memory_order_acquire,
                                    std::memory_order_relaxed))
      break;
  }
  messages_.push(node);
  return word & kScheduled ? Push::taken : Push::schedule;
}

Mailbox::Push Mailbox::push_control(Node& node) noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  do {
    if (word & kClosed) return Push::closed;
  } while (!word_.compare_exchange_weak(word, (word + kOneControl) | kScheduled, std::memory_order_acquire,
                                        std::memory_order_relaxed));
  control_.push(node);
  return word & kScheduled ? Push::taken : Push::schedule;
}

bool Mailbox::raise(Signal signal) noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  do {
    if (word & kRetired) return false;
  } while (!word_.compare_exchange_weak(word, word | static_cast<std::uint64_t>(signal) | kScheduled,
                                        std::memory_order_acq_rel, std::memory_order_relaxed));
  return !(word & kScheduled);
}

std::uint64_t Mailbox::take_signals() noexcept {
  if (!(word_.load(std::memory_order_acquire) & kSignals)) return 0;
  return word_.fetch_and(~kSignals, std::memory_order_acq_rel) & kSignals;
}

Node* Mailbox::pop_control() noexcept {
  Node* node = control_.pop();
  if (node) popped_.store(popped() + kOneControl, std::memory_order_relaxed);
  return node;
}

Node* Mailbox::pop_message() noexcept {
  if (overflow_ == Overflow::drop_oldest) {
    lock();
    Node* node = messages_.pop();
    if (node) word_.fetch_sub(kOneMessage, std::memory_order_relaxed);
    unlock();
    return node;
  }
  Node* node = messages_.pop();
  if (node) popped_.store(popped() + kOneMessage, std::memory_order_relaxed);
  return node;
}

void Mailbox::count_out() noexcept {
  const std::uint64_t counted_out = popped();
  if (counted_out == 0) return;
  std::uint32_t room = messages(counted_out);
  popped_.store(0, std::memory_order_relaxed);
  const std::uint64_t word = word_.fetch_sub(counted_out, std::memory_order_relaxed);
  if (word & kSomeWaitOutside)
    while (room-- > 0)
      // A closed mailbox is being emptied: its nodes are dropped.
      if (Node* node = admit_one(); node && !(word & kClosed)) node->admitted();
}

// It counts out and falls idle in one step, so an actor that gets one message at a time pays for one step per message.
bool Mailbox::finish_turn(bool ignore_messages) noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  std::uint64_t popped = this->popped();
  popped_.store(0, std::memory_order_relaxed);  // now, because after the step below the next turn may be running
  for (;;) {
    if (messages(popped) > 0 && (word & kSomeWaitOutside)) {  // this makes room, so it must admit waiting nodes
      popped_.store(std::exchange(popped, 0), std::memory_order_relaxed);
      count_out();
      word = word_.load(std::memory_order_relaxed);
    }
    const std::uint64_t left = word - popped;
    const bool more = (left & kSignals) || controls(left) > 0 || (messages(left) > 0 && !ignore_messages);
    // Release: the next turn, on any thread, sees what this turn wrote.
    if (word_.compare_exchange_weak(word, more ? left : left & ~kScheduled, std::memory_order_release,
                                    std::memory_order_relaxed))
      return more;
  }
}

Node* Mailbox::pop_leftover() noexcept {
  for (;;) {
    count_out();
    if (Node* node = pop_control()) return node;
    if (Node* node = pop_message()) return node;
    const std::uint64_t word = word_.load(std::memory_order_acquire);
    if (messages(word) == 0 && controls(word) == 0 && !(word & kSomeWaitOutside)) return nullptr;
    // Either a producer has counted its node in and is about to push it, or nodes still wait outside.
    if (messages(word) == 0 && (word & kSomeWaitOutside))
      admit_one();
    else
      sched_yield();
  }
}

// Nothing is counted in or out: the new node takes the place of the oldest one.
Mailbox::Push Mailbox::replace_oldest(Node& node, Node*& dropped) noexcept {
  lock();
  dropped = messages_.pop();
  unlock();
  // Null: the room is taken by nodes that are counted and not pushed yet, or some room has just become free.
  if (!dropped) {
    sched_yield();
    return Push::schedule;
  }
  messages_.push(node);
  return Push::taken;
}

// One step on the word checks that the mailbox is full and sets the flag. So the turn that makes room sees the flag.
Mailbox::Push Mailbox::wait_outside(Node& node) noexcept {
  lock();
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  Push outcome = Push::outside;
  do {
    if (word & kClosed) {
      outcome = Push::closed;
    } else if (messages(word) < capacity_ && !(word & kSomeWaitOutside)) {
      outcome = Push::schedule;
    } else if (outside_count_ >= kMaxSuspendedAsks) {
      outcome = Push::full;
    }
    if (outcome != Push::outside) break;
  } while (!word_.compare_exchange_weak(word, word | kSomeWaitOutside, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  if (outcome == Push::outside) {
    outside_.push_back(node);
    ++outside_count_;
  }
  unlock();
  return outcome;
}

// Moves the first node from outside into the message lane, and returns it; null when there was none. It stays in the
// lane until this turn goes on, because only this turn pops.
Node* Mailbox::admit_one() noexcept {
  lock();
  Node* node = outside_.pop_front();
  if (node) {
    --outside_count_;
    word_.fetch_add(kOneMessage, std::memory_order_relaxed);
    messages_.push(*node);
  }
  if (outside_.empty()) word_.fetch_and(~kSomeWaitOutside, std::memory_order_relaxed);
  unlock();
  return node;
}

void Mailbox::lock() noexcept {
  while (lock_.test_and_set(std::memory_order_acquire)) sched_yield();
}

}  // namespace troupe::inline v0::detail
