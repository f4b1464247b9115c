// What an actor can do as an actor: spawn children, watch, set timers, stash. An actor that wants it takes it as the
// first parameter of its constructor:
//
//   class Batcher {
//    public:
//     explicit Batcher(Context<Batcher> self) : self_(self) {}
//     void started() { self_.every(5ms, Flush{}); }
//     ...
//    private:
//     Context<Batcher> self_;
//   };
//
// Use it inside the actor's own handlers, hooks and constructor only.
#pragma once

#include <memory>
#include <utility>

#include "troupe/actor/ref.hpp"
#include "troupe/actor/spawn.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// A timer of an actor, to cancel it by.
enum class TimerId : std::uint64_t {};

/// What an actor can do as an actor: spawn children, watch, set timers, stash.
template <class A>
class Context {
 public:
  explicit Context(detail::Cell& cell) noexcept : cell_(&cell) {}

  Ref<A> ref() const noexcept { return Ref<A>(detail::IntrusivePtr<detail::Cell>::share(cell_)); }
  std::string path() const { return cell_->path(); }
  TimePoint now() const noexcept { return cell_->now(); }
  void log(LogLevel level, std::string_view message) const { cell_->log(level, message); }

  /// A child: it stops before this actor stops or restarts. Errors as `System::spawn`.
  template <class B, class... Args>
  Result<Ref<B>> spawn(SpawnOptions options, Args&&... args) const {
    return detail::spawn_under<B>(cell_->core(), detail::IntrusivePtr<detail::Cell>::share(cell_), std::move(options),
                                  std::forward<Args>(args)...);
  }

  /// As `to.tell<M>(args...)`, and a handler `on(M, RefTo<...> sender)` gets this actor as the sender.
  template <class M, class B, class... Args>
  [[nodiscard("a tell can be refused: look at its result, or write (void) and leave it to the log")]] Result<void> tell(
      const Ref<B>& to, Args&&... args) const {
    if constexpr (detail::HandlesWithSender<B, M>)
      return to.template tell_from<M>(detail::SenderOf<A>(*cell_), std::forward<Args>(args)...);
    else
      return to.template tell<M>(std::forward<Args>(args)...);
  }

  /// Stops this actor after the current message.
  void stop() const noexcept { cell_->raise(detail::Signal::stop); }

  /// This actor gets a `Terminated` when `other` has stopped; at once if it has already. Watching twice is once.
  template <class B>
  void watch(const Ref<B>& other) const {
    static_assert(detail::Handles<A, Terminated>,
                  "an actor that watches needs a handler for the news: void on(Terminated)");
    if (other)
      cell_->watch(other.cell(), [](Terminated&& notice) -> detail::EnvelopeBase* {
        return new detail::Envelope<A, Terminated, detail::Sent::told>(detail::NoSender{}, std::move(notice));
      });
  }
  /// No `Terminated` for `other` is handled after this.
  template <class B>
  void unwatch(const Ref<B>& other) const noexcept {
    if (other) cell_->unwatch(*other.cell());
  }

  /// Sends this actor `message` after `delay`. Ends with the actor, and with a restart.
  template <class M>
  Result<TimerId> after(Duration delay, M message) const {
    return start_timer(std::make_unique<Once<M>>(std::move(message)), delay, Duration(0));
  }
  /// Sends this actor a copy of `message` every `period`, first after one period. Beats do not pile up: while one waits
  /// to be handled, the next ones are left out. `invalid_argument` for a period that is not positive.
  template <class M>
  Result<TimerId> every(Duration period, M message) const {
    if (period.count() <= 0) return fail(ErrorKind::invalid_argument, "a timer's period must be positive");
    return start_timer(std::make_unique<Every<M>>(std::move(message)), period, period);
  }
  /// False when it has fired for the last time already.
  bool cancel(TimerId timer) const noexcept { return cell_->cancel_timer(std::to_underlying(timer)); }

  /// Puts the message being handled aside; whatever the handler returns for it is ignored. Call it before the handler's
  /// first wait. `invalid_argument` for any other message, `mailbox_full` when the stash is.
  template <class M>
  Result<void> stash(M&& message) const {
    static_assert(!std::is_lvalue_reference_v<M>, "stash takes the message over: stash(std::move(message))");
    auto* envelope = dynamic_cast<detail::MessageEnvelope<A, M>*>(cell_->current());
    if (!envelope)
      return fail(ErrorKind::invalid_argument, "only the message being handled can be stashed, before the first wait");
    envelope->put_back(std::forward<M>(message));
    return {};
  }
  /// What was stashed is handled next, in its order. A restart does this, too.
  void unstash_all() const noexcept { cell_->unstash_all(); }

  EventStream& events() const noexcept { return cell_->events(); }

 private:
  template <class M>
  class Once final : public detail::TimerMessage {
   public:
    explicit Once(M message) : message_(std::move(message)) {}
    detail::EnvelopeBase* make() override {
      return new detail::Envelope<A, M, detail::Sent::told>(detail::NoSender{}, std::move(message_));
    }

   private:
    M message_;
  };
  template <class M>
  class Every final : public detail::TimerMessage {
   public:
    explicit Every(M message) : message_(std::move(message)) {}
    detail::EnvelopeBase* make() override {
      return new detail::Envelope<A, M, detail::Sent::told>(detail::NoSender{}, message_);
    }

   private:
    M message_;
  };

  Result<TimerId> start_timer(std::unique_ptr<detail::TimerMessage> message, Duration first, Duration period) const {
    return TimerId{TROUPE_TRY(cell_->start_timer(std::move(message), first, period))};
  }

  detail::Cell* cell_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
