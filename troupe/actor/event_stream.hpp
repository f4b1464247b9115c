// Publish and subscribe inside one system, by type: `events().subscribe<DeadLetter>(ref)`, and `ref`'s actor gets every
// `DeadLetter` as an ordinary message. An event is a copyable struct; delivery is a `tell`, so a full mailbox loses it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <typeindex>
#include <vector>

#include "troupe/core/error.hpp"
#include "troupe/core/intrusive.hpp"

namespace troupe::inline v0 {

namespace detail {
class Cell;
}  // namespace detail

template <class A>
class Ref;

/// A tell that reached nobody. (An ask never becomes one: its asker gets the error.)
struct DeadLetter {
  std::string path;          // of the actor it was meant for
  std::string message_type;  // for people
  Error reason;
};

/// Tells events to the actors that subscribed to their type.
class EventStream {
 public:
  /// `A` must handle `Event`. Subscribing twice changes nothing; an actor that stops is taken out, and an empty ref has
  /// nobody to tell. Any thread.
  template <class Event, class A>
  void subscribe(const Ref<A>& ref);
  template <class Event, class A>
  void unsubscribe(const Ref<A>& ref);
  /// Tells `event` to everybody who subscribed to `Event`. Any thread.
  template <class Event>
  void publish(const Event& event) {
    if (!empty()) publish(typeid(Event), &event);
  }
  bool empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }

  /// The actor has stopped: takes it out everywhere.
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
