// The address of an actor. It stays the same across restarts, it may outlive the actor and the system, and it accepts
// exactly the messages that the actor has an `on` for.
//
//   struct Add { int by; };
//   struct Get { using Reply = int; };
//   counter.tell<Add>(2);                              // or tell(Add{2})
//   Result<int> sum = counter.ask<Get>().get();
//
// `ask<M>(args...)` builds the message in place. There is no `ask(M{...})`, because g++ 12 destroys such a temporary
// twice inside a `co_await` expression (see docs/decisions).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <typeindex>
#include <vector>

#include "troupe/actor/ask.hpp"
#include "troupe/actor/envelope.hpp"
#include "troupe/core/intrusive.hpp"
#include "troupe/core/result.hpp"

// Publish and subscribe inside one system, by type. After `events().subscribe<DeadLetter>(ref)` the actor of `ref` gets
// every `DeadLetter` as an ordinary message. An event is a copyable struct. It is sent by `tell`, so a full mailbox
// loses it.

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

/// The address of an actor, through which you tell it messages, ask it questions, and stop it.
template <class A>
class Ref {
 public:
  /// An empty ref: every tell and every ask ends in `invalid_argument`.
  Ref() = default;
  explicit Ref(detail::IntrusivePtr<detail::Cell> cell) noexcept : cell_(std::move(cell)) {}

  /// Sends a message that nobody waits for. An error says why it was not sent. Then the message becomes a dead letter,
  /// and if the mailbox was full, the log says so. Any thread.
  template <class M, class... Args>
  [[nodiscard("a tell can be refused: look at its result, or write (void) and leave it to the log")]] Result<void> tell(
      Args&&... args) const {
    return tell_from<M>(detail::NoSender{}, std::forward<Args>(args)...);
  }
  template <class M>
  [[nodiscard("a tell can be refused: look at its result, or write (void) and leave it to the log")]] Result<void> tell(
      M message) const {
    return tell<M, M>(std::move(message));
  }

  /// Tells, and waits while the mailbox is full: back-pressure. Await it in a handler or a task, or call `get()` in a
  /// plain thread. It ends well when the message is in the mailbox. It ends in `stopped`, `timeout`, `cancelled` or
  /// `mailbox_full` (when `kMaxSuspendedAsks` wait already) when nothing was sent. With `Overflow::drop_oldest` it does
  /// not wait: it pushes the oldest message out.
  template <class M, class... Args>
  Ask<void> tell_or_wait(Args&&... args) const {
    static_assert(detail::Handles<A, M>, "this actor has no handler for this message: there is no on(M) that takes it");
    using Made = detail::Envelope<A, M, detail::Sent::told_when_there_is_room>;
    return Ask<void>(cell_, new Made(detail::NoSender{}, std::forward<Args>(args)...), true);
  }

  /// Makes an ask, which is sent when you await it or call `get`; see ask.hpp. Any thread.
  template <class M, class... Args>
  auto ask(Args&&... args) const {
    static_assert(detail::Handles<A, M>, "this actor has no handler for this message: there is no on(M) that takes it");
    static_assert(detail::HasReply<M>,
                  "this message has no reply: tell it, or give it `using Reply = void;` to ask for its completion");
    if constexpr (detail::Handles<A, M> && detail::HasReply<M>) {
      using Made = detail::Envelope<A, M, detail::Sent::asked>;
      return Ask<detail::reply_t<M>>(cell_, new Made(detail::NoSender{}, std::forward<Args>(args)...));
    }
  }

  /// Stops the actor after the current message. What is queued, or waits at a `co_await`, ends in `stopped`. Any
  /// thread.
  void stop() const noexcept {
    if (cell_) cell_->raise(detail::Signal::stop);
  }
  /// Stops the actor when everything queued is handled and every handler has ended. Any thread.
  void drain() const noexcept {
    if (cell_) cell_->raise(detail::Signal::drain);
  }

  /// True when the actor has begun to stop, and for an empty ref. After false the actor may stop at any moment.
  bool stopped() const noexcept { return !cell_ || cell_->stopped(); }
  std::string path() const { return cell_ ? cell_->path() : std::string(); }
  /// A number that no other actor of the system has; `Terminated` has it, too. 0 for an empty ref.
  std::uint64_t id() const noexcept { return cell_ ? cell_->id() : 0; }
  /// How many messages are queued and handlers under way.
  std::uint32_t load() const noexcept { return cell_ ? cell_->load() : 0; }
  explicit operator bool() const noexcept { return static_cast<bool>(cell_); }
  friend bool operator==(const Ref&, const Ref&) noexcept = default;

  const detail::IntrusivePtr<detail::Cell>& cell() const noexcept { return cell_; }

 private:
  template <class B>
  friend class Context;

  template <class M, class Sender, class... Args>
  Result<void> tell_from(Sender sender, Args&&... args) const {
    static_assert(detail::Handles<A, M>, "this actor has no handler for this message: there is no on(M) that takes it");
    if (!cell_) return fail(ErrorKind::invalid_argument, "the ref is empty: it names no actor");
    if constexpr (detail::Handles<A, M>) {
      using Made = detail::Envelope<A, M, detail::Sent::told, Sender>;
      return cell_->tell(*new Made(std::move(sender), std::forward<Args>(args)...));
    }
  }

  detail::IntrusivePtr<detail::Cell> cell_;
};

namespace detail {

/// How to send an `M` to an actor whose type is no longer known.
template <class M>
struct WayToSend {
  EnvelopeBase* (*tell)(M&& message) = nullptr;
  Ask<void> (*tell_or_wait)(const IntrusivePtr<Cell>& cell, M&& message) = nullptr;
};
template <HasReply M>
struct WayToSend<M> {
  EnvelopeBase* (*tell)(M&& message) = nullptr;
  Ask<void> (*tell_or_wait)(const IntrusivePtr<Cell>& cell, M&& message) = nullptr;
  Ask<reply_t<M>> (*ask)(const IntrusivePtr<Cell>& cell, M&& message) = nullptr;
};

template <class A, class M>
constexpr WayToSend<M> way_to_send() {
  static_assert(Handles<A, M>, "this actor cannot be a RefTo that message: it has no on(M) that takes it");
  WayToSend<M> way;
  if constexpr (Handles<A, M>) {
    way.tell = [](M&& message) -> EnvelopeBase* {
      return new Envelope<A, M, Sent::told>(NoSender{}, std::move(message));
    };
    way.tell_or_wait = [](const IntrusivePtr<Cell>& cell, M&& message) {
      return Ref<A>(cell).template tell_or_wait<M>(std::move(message));
    };
    if constexpr (HasReply<M>)
      way.ask = [](const IntrusivePtr<Cell>& cell, M&& message) {
        return Ref<A>(cell).template ask<M>(std::move(message));
      };
  }
  return way;
}

template <class... Ms>
struct WaysToSend : WayToSend<Ms>... {};

template <class A, class... Ms>
inline constexpr WaysToSend<Ms...> kWaysToSend{way_to_send<A, Ms>()...};

/// The actor type that an empty `RefTo` uses. It never handles anything, because all that is sent there is refused.
template <class M>
struct Nobody {
  void on(M) {}
};
template <HasReply M>
struct Nobody<M> {
  Result<reply_t<M>> on(M) { return fail(ErrorKind::invalid_argument); }
};

}  // namespace detail

/// The address of an actor of any type that handles `Ms`. With it actors need not know each other's types: two actors
/// that talk to each other need no out-of-line handlers, and a message can carry the address for its answer. A `Ref<A>`
/// converts to it if `A` has an `on` for each of `Ms`. A handler can also take the sender of a message as a `RefTo`,
/// for messages sent by `Context::tell`: `void on(Ping, RefTo<Pong> sender)`.
template <class... Ms>
class RefTo {
 public:
  /// An empty ref.
  RefTo() = default;
  template <class A>
  RefTo(const Ref<A>& ref) noexcept  // NOLINT(google-explicit-constructor): it accepts no more than the ref
      : cell_(ref.cell()), ways_(&detail::kWaysToSend<A, Ms...>) {}

  /// Does what `Ref::tell` does.
  template <class M, class... Args>
  [[nodiscard("a tell can be refused: look at its result, or write (void) and leave it to the log")]] Result<void> tell(
      Args&&... args) const {
    static_assert((std::is_same_v<M, Ms> || ...), "this RefTo does not name this message");
    if (!cell_) return fail(ErrorKind::invalid_argument, "the ref is empty: it names no actor");
    return cell_->tell(*way<M>().tell(M{std::forward<Args>(args)...}));
  }
  /// The same with a message that is there already.
  template <class M>
  [[nodiscard("a tell can be refused: look at its result, or write (void) and leave it to the log")]] Result<void> tell(
      M message) const {
    return tell<M, M>(std::move(message));
  }
  /// Does what `Ref::tell_or_wait` does.
  template <class M, class... Args>
  Ask<void> tell_or_wait(Args&&... args) const {
    static_assert((std::is_same_v<M, Ms> || ...), "this RefTo does not name this message");
    return way<M>().tell_or_wait(cell_, M{std::forward<Args>(args)...});
  }
  /// Does what `Ref::ask` does.
  template <class M, class... Args>
  auto ask(Args&&... args) const {
    static_assert((std::is_same_v<M, Ms> || ...), "this RefTo does not name this message");
    return way<M>().ask(cell_, M{std::forward<Args>(args)...});
  }

  /// Does what `Ref::stopped` does.
  bool stopped() const noexcept { return !cell_ || cell_->stopped(); }
  std::string path() const { return cell_ ? cell_->path() : std::string(); }
  std::uint64_t id() const noexcept { return cell_ ? cell_->id() : 0; }
  explicit operator bool() const noexcept { return static_cast<bool>(cell_); }
  friend bool operator==(const RefTo& a, const RefTo& b) noexcept { return a.cell_ == b.cell_; }

 private:
  template <class M>
  const detail::WayToSend<M>& way() const noexcept {
    if (!ways_) return detail::kWaysToSend<detail::Nobody<M>, M>;
    return *ways_;
  }

  detail::IntrusivePtr<detail::Cell> cell_;
  const detail::WaysToSend<Ms...>* ways_ = nullptr;
};

namespace detail {

/// The sender of a message that an actor of type `B` has sent through its context.
template <class B>
class SenderOf {
 public:
  explicit SenderOf(Cell& cell) noexcept : ref_(IntrusivePtr<Cell>::share(&cell)) {}
  template <class... Ms>
  operator RefTo<Ms...>() const noexcept {  // NOLINT(google-explicit-constructor): it is a handler's parameter
    return RefTo<Ms...>(ref_);
  }

 private:
  Ref<B> ref_;
};

}  // namespace detail

template <class Event, class A>
void EventStream::subscribe(const Ref<A>& ref) {
  static_assert(detail::Handles<A, Event>,
                "this actor has no handler for this event: there is no on(Event) that takes it");
  if (!ref) return;
  subscribe(typeid(Event), ref.cell(), [](detail::Cell& cell, const void* event) {
    (void)Ref<A>(detail::IntrusivePtr<detail::Cell>::share(&cell))
        .template tell<Event>(*static_cast<const Event*>(event));
  });
}

template <class Event, class A>
void EventStream::unsubscribe(const Ref<A>& ref) {
  if (ref) unsubscribe(typeid(Event), *ref.cell());
}

}  // namespace troupe::inline v0
#pragma GCC visibility pop
