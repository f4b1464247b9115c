// What an actor can do as an actor: spawn children, watch others, set timers, stash messages. An actor that needs its
// context takes it as the first parameter of its constructor:
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
// Use a context only inside the handlers, the hooks and the constructor of its own actor.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "troupe/actor/cell.hpp"
#include "troupe/actor/ref.hpp"

// How an actor is made: check the options, make the cell of its type, put it into the tree. `System` spawns top-level
// actors so, and `Context` children.

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

template <class A>
class Context;

namespace detail {

/// False; for a sentence about an argument that stands where options belong.
template <class T>
inline constexpr bool no_options = false;

template <class A, class... Args>
concept ConstructibleWithContext = std::is_constructible_v<A, Context<A>, const Args&...>;

template <class A, class... Args>
concept ConstructibleAsActor = ConstructibleWithContext<A, Args...> || std::is_constructible_v<A, const Args&...>;

/// The cell of an actor of type `A`. It keeps the constructor's arguments, so that a restart can construct a new
/// instance. The instance is inside the cell, so that an actor is one allocation.
template <class A, class... Args>
class ActorCell final : public Cell {
 public:
  template <class... Given>
  ActorCell(SystemCore& core, IntrusivePtr<Cell> parent, const SpawnOptions& options, std::uint64_t id,
            Given&&... given)
      : Cell(core, std::move(parent), options, id), arguments_(std::forward<Given>(given)...) {}

  const std::type_info& actor_type() const noexcept override { return typeid(A); }

 private:
  A& actor() noexcept { return *static_cast<A*>(instance_); }

  void construct() override {
    std::apply(
        [this](const Args&... args) {
          if constexpr (ConstructibleWithContext<A, Args...>)
            instance_ = std::construct_at(reinterpret_cast<A*>(storage_), Context<A>(*this), args...);
          else
            instance_ = std::construct_at(reinterpret_cast<A*>(storage_), args...);
        },
        arguments_);
  }
  void destroy() noexcept override {
    if (!instance_) return;
    std::destroy_at(&actor());
    instance_ = nullptr;
  }

  void started() override {
    if constexpr (requires(A& a) { a.started(); }) actor().started();
  }
  void restarted([[maybe_unused]] const Error& error) override {
    if constexpr (requires(A& a) { a.restarted(error); })
      actor().restarted(error);
    else
      started();
  }
  void restarting([[maybe_unused]] const Error& error) override {
    if constexpr (requires(A& a) { a.restarting(error); }) actor().restarting(error);
  }
  void stopping() override {
    if constexpr (requires(A& a) { a.stopping(); }) actor().stopping();
  }

  [[no_unique_address]] std::tuple<Args...> arguments_;
  alignas(A) std::byte storage_[sizeof(A)];
};

template <class A, class... Args>
Result<Ref<A>> spawn_under(SystemCore& core, IntrusivePtr<Cell> parent, SpawnOptions options, Args&&... args) {
  static_assert(ConstructibleAsActor<A, std::decay_t<Args>...>,
                "an actor is constructed from const references to the arguments given to spawn, anew at each restart: "
                "its constructor must take them so, optionally with Context<A> first");
  if constexpr (ConstructibleAsActor<A, std::decay_t<Args>...>) {
    TROUPE_TRY(check(options));
    using Made = ActorCell<A, std::decay_t<Args>...>;
    // This share is the caller's. `add_to_tree` adds the system's share, which lasts until the actor has stopped.
    auto cell = IntrusivePtr<Cell>::adopt(
        new Made(core, std::move(parent), options, next_id(core), std::forward<Args>(args)...));
    TROUPE_TRY(add_to_tree(core, *cell));
    return Ref<A>(std::move(cell));
  }
}

}  // namespace detail

/// The name of a timer of an actor; `Context::cancel` takes it.
enum class TimerId : std::uint64_t {};

/// What an actor can do as an actor: spawn children, watch others, set timers, stash messages.
template <class A>
class Context {
 public:
  explicit Context(detail::Cell& cell) noexcept : cell_(&cell) {}

  Ref<A> ref() const noexcept { return Ref<A>(detail::IntrusivePtr<detail::Cell>::share(cell_)); }
  std::string path() const { return cell_->path(); }
  TimePoint now() const noexcept { return cell_->now(); }
  /// Writes a sentence to the log of the system, under the path of this actor.
  void log(LogLevel level, std::string_view message) const { cell_->log(level, message); }

  /// Spawns a child, which stops before this actor stops or restarts. Fails as `System::spawn` does.
  template <class B, class... Args>
  Result<Ref<B>> spawn(SpawnOptions options = {}, Args&&... args) const {
    return detail::spawn_under<B>(cell_->core(), detail::IntrusivePtr<detail::Cell>::share(cell_), std::move(options),
                                  std::forward<Args>(args)...);
  }
  /// Does not compile: it says what is missing.
  template <class B, class First, class... Args>
    requires(!std::convertible_to<First, SpawnOptions>)
  Result<Ref<B>> spawn(First&&, Args&&...) const {
    static_assert(detail::no_options<First>,
                  "spawn takes the options first, then what the constructor takes: "
                  "spawn<A>({}, arguments...)");
    return fail(ErrorKind::invalid_argument);
  }

  /// Does what `to.tell<M>(args...)` does. A handler `on(M, RefTo<...> sender)` gets this actor as the sender.
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

  /// This actor gets a `Terminated` when `other` has stopped; if `other` has stopped already, it gets one now. A second
  /// watch of the same actor changes nothing.
  template <class B>
  void watch(const Ref<B>& other) const {
    static_assert(detail::Handles<A, Terminated>,
                  "an actor that watches needs a handler for the news: void on(Terminated)");
    if (other)
      cell_->watch(other.cell(), [](Terminated&& notice) -> detail::EnvelopeBase* {
        return new detail::Envelope<A, Terminated, detail::Sent::told>(detail::NoSender{}, std::move(notice));
      });
  }
  /// This actor handles no `Terminated` of `other` after this call.
  template <class B>
  void unwatch(const Ref<B>& other) const noexcept {
    if (other) cell_->unwatch(*other.cell());
  }

  /// Sends `message` to this actor after `delay`. The timer ends when the actor stops or restarts. `out_of_memory` when
  /// the actor has `kMaxTimersPerActor` timers.
  template <class M>
  Result<TimerId> after(Duration delay, M message) const {
    return start_timer(std::make_unique<Once<M>>(std::move(message)), delay, Duration(0));
  }
  /// Sends a copy of `message` to this actor every `period`; the first one comes after one period. The messages do not
  /// pile up: while one of them waits, the timer sends no further ones. Fails as `after` does, and with
  /// `invalid_argument` when `period` is not positive.
  template <class M>
  Result<TimerId> every(Duration period, M message) const {
    if (period.count() <= 0) return fail(ErrorKind::invalid_argument, "a timer's period must be positive");
    return start_timer(std::make_unique<Every<M>>(std::move(message)), period, period);
  }
  /// Ends a timer: no message of it is handled after this call. False when the timer has ended already.
  bool cancel(TimerId timer) const noexcept { return cell_->cancel_timer(std::to_underlying(timer)); }

  /// Puts the message being handled aside; what the handler returns for it is ignored. `invalid_argument` when no `M`
  /// is being handled, or after the handler's first wait. If the stash is full, the message ends in `mailbox_full` when
  /// the handler returns.
  template <class M>
  Result<void> stash(M&& message) const {
    static_assert(!std::is_lvalue_reference_v<M>, "stash takes the message over: stash(std::move(message))");
    auto* envelope = dynamic_cast<detail::MessageEnvelope<A, M>*>(cell_->current());
    if (!envelope)
      return fail(ErrorKind::invalid_argument, "only the message being handled can be stashed, before the first wait");
    envelope->put_back(std::forward<M>(message));
    return {};
  }
  /// The stashed messages are handled next, in their order. A restart unstashes them, too.
  void unstash_all() const noexcept { cell_->unstash_all(); }

  /// Where actors subscribe to events, and publish them.
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
