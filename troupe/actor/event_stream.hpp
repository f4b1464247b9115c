// Publish and subscribe inside one system, by type. After `events().subscribe<DeadLetter>(ref)` the actor of `ref` gets
// every `DeadLetter` as an ordinary message. An event is a copyable struct. It is sent by `tell`, so a full mailbox
// loses it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <typeindex>
#include <vector>

#include "troupe/core/error.hpp"
#include "troupe/core/intrusive.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {
class Cell;
}  // namespace detail

template <class A>
class Ref;

/// A tell that reached nobody. (An ask never becomes a dead letter: its asker gets the error.)
struct DeadLetter {
  std::string path;          // the path of the actor that the message was for
  std::string message_type;  // the message's type, as people read it
  Error reason;              // why nobody got it
};

/// Tells each event to the actors that have subscribed to its type.
class EventStream {
 public:
  /// From now on the actor is told every `Event`; `A` must handle `Event`. A second subscription changes nothing. An
  /// empty ref is ignored. When an actor stops, its subscriptions end. Any thread.
  template <class Event, class A>
  void subscribe(const Ref<A>& ref);
  /// From now on the actor is not told that event any more. Any thread.
  template <class Event, class A>
  void unsubscribe(const Ref<A>& ref);
  /// Tells `event` to every actor that has subscribed to `Event`. Any thread.
  template <class Event>
  void publish(const Event& event) {
    if (!empty()) publish(typeid(Event), &event);
  }
  bool empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }

  /// The actor has stopped: removes all its subscriptions.
  void remove(const detail::Cell& cell) noexcept;

 private:
  using Deliver = void (*)(detail::Cell&, const void* event);
  struct Subscriber {
    std::type_index type;
    detail::IntrusivePtr<detail::Cell> cell;
    Deliver deliver;
  };

  void subscribe(std::type_index type, detail::IntrusivePtr<detail::Cell> cell, Deliver deliver);
  void unsubscribe(std::type_index type, const detail::Cell& cell);
  void publish(std::type_index type, const void* event);

  std::mutex mutex_;
  std::vector<Subscriber> subscribers_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
