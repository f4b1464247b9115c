// The address of an actor. It stays the same across restarts, outlives the actor and the system safely, and accepts
// exactly the messages the actor has an `on` for.
//
//   struct Add { int by; };
//   struct Get { using Reply = int; };
//   counter.tell<Add>(2);                              // or tell(Add{2})
//   Result<int> sum = counter.ask<Get>().get();
//
// `ask<M>(args...)` builds the message in place. There is no `ask(M{...})`: inside a `co_await` expression g++ 12
// destroys such a temporary twice (see docs/decisions).
#pragma once

#include <cstdint>
#include <string>

#include "troupe/actor/ask.hpp"
#include "troupe/actor/envelope.hpp"
#include "troupe/actor/event_stream.hpp"

namespace troupe::inline v0 {

/// The address of an actor: tell it messages, ask it questions, stop it.
template <class A>
class Ref {
 public:
  /// An empty ref: every ask ends in `invalid_argument`.
  Ref() = default;
  explicit Ref(detail::IntrusivePtr<detail::Cell> cell) noexcept : cell_(std::move(cell)) {}

  /// Sends and forgets. The error, if any, says why nothing was sent; it becomes a dead letter, too. Any thread.
  template <class M, class... Args>
  Result<void> tell(Args&&... args) const {
    static_assert(detail::Handles<A, M>, "this actor has no handler for this message: there is no on(M) that takes it");
    if (!cell_) return fail(ErrorKind::invalid_argument, "the ref is empty: it names no actor");
    if constexpr (detail::Handles<A, M>) {
      auto* envelope = new detail::Envelope<A, M>(false, std::forward<Args>(args)...);
      Result<void> sent = cell_->send(*envelope, false);
      if (!sent) envelope->drop(*cell_, sent.error());
      return sent;
    }
  }
  template <class M>
  Result<void> tell(M message) const {
    return tell<M, M>(std::move(message));
  }

  /// Asks; see ask.hpp. Any thread.
  template <class M, class... Args>
  auto ask(Args&&... args) const {
    static_assert(detail::Handles<A, M>, "this actor has no handler for this message: there is no on(M) that takes it");
    static_assert(detail::HasReply<M>,
                  "this message has no reply: tell it, or give it `using Reply = void;` to ask for its completion");
    if constexpr (detail::Handles<A, M> && detail::HasReply<M>)
      return Ask<detail::reply_t<M>>(cell_, new detail::Envelope<A, M>(true, std::forward<Args>(args)...));
  }

  /// Stops the actor after the message it is at; what is queued ends in `stopped`. Any thread.
  void stop() const noexcept {
    if (cell_) cell_->raise(detail::Signal::stop);
  }
  /// Stops the actor when all that is queued has been handled. Any thread.
  void drain() const noexcept {
    if (cell_) cell_->raise(detail::Signal::drain);
  }

  /// Whether it has begun to stop (or never was). By the time you look, a running actor may have stopped, too.
  bool stopped() const noexcept { return !cell_ || cell_->stopped(); }
  std::string path() const { return cell_ ? cell_->path() : std::string(); }
  /// Unique in its system; what `Terminated` names.
  std::uint64_t id() const noexcept { return cell_ ? cell_->id() : 0; }
  /// Messages queued and handlers under way.
  std::uint32_t load() const noexcept { return cell_ ? cell_->load() : 0; }
  explicit operator bool() const noexcept { return static_cast<bool>(cell_); }
  friend bool operator==(const Ref&, const Ref&) noexcept = default;

  const detail::IntrusivePtr<detail::Cell>& cell() const noexcept { return cell_; }

 private:
  detail::IntrusivePtr<detail::Cell> cell_;
};

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
