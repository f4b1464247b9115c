// A message of type `M` on its way to an actor of type `A`, in one allocation. The envelope of a told message holds
// little more than the message. The envelope of an asked one also has the place for the reply, and the mailbox and the
// asker share its ownership. It has room for a coroutine only if the handler is one. The concepts here say, at compile
// time, which messages an actor takes.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "troupe/actor/ask.hpp"
#include "troupe/actor/cell.hpp"
#include "troupe/actor/mailbox.hpp"
#include "troupe/actor/task.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

template <class... Ms>
class RefTo;

namespace detail {

/// A message as the cell sees it. The cell can run it or drop it, and the message's handler can stash it.
class EnvelopeBase : public Node {
 public:
  /// The message's type, as people read it.
  virtual std::string message_type() const = 0;

  bool stashed = false;

 protected:
  ~EnvelopeBase() = default;
};

/// A run of a handler that is a coroutine.
class RunningHandler : public Completion {
 public:
  /// Its coroutine has ended: sends the reply and lets go of itself. On the cell's turn.
  virtual void finished(Cell& cell) noexcept = 0;
  /// Destroys its coroutine. An ask ends in `why`; a tell becomes a dead letter. On the cell's turn.
  virtual void cut(Cell& cell, const Error& why) noexcept = 0;

  std::coroutine_handle<> completed() noexcept final;

 protected:
  ~RunningHandler() = default;

  Cell* cell_ = nullptr;  // the actor whose handler this is; set when the coroutine begins

 private:
  friend class Cell;
  RunningHandler* previous_running_ = nullptr;
  RunningHandler* next_running_ = nullptr;
  RunningHandler* next_ended_ = nullptr;
};

/// Makes a timer's message each time the timer fires.
class TimerMessage {
 public:
  virtual ~TimerMessage() = default;
  virtual EnvelopeBase* make() = 0;
};

/// A readable name of a type.
std::string type_name(const std::type_info& type);

template <class M>
concept HasReply = requires { typename M::Reply; };

template <class M>
struct ReplyOf {
  using type = void;
};
template <HasReply M>
struct ReplyOf<M> {
  using type = typename M::Reply;
};

/// `M::Reply`, or `void` for a message without one.
template <class M>
using reply_t = typename ReplyOf<M>::type;

/// Converts to any ref that a handler takes as the sender; only for questions at compile time.
struct AnySender {
  template <class... Ms>
  operator RefTo<Ms...>() const;  // NOLINT(google-explicit-constructor): a handler's parameter is made from it
};

/// `A` has an `on` for `M` that takes the sender, too: `on(M, RefTo<...>)`.
template <class A, class M>
concept HandlesWithSender = requires(A& actor, M&& message) { actor.on(std::move(message), AnySender{}); };

/// `A` has an `on` for `M`.
template <class A, class M>
concept Handles = requires(A& actor, M&& message) { actor.on(std::move(message)); } || HandlesWithSender<A, M>;

template <class A, class M>
struct HandledBy {
  using type = decltype(std::declval<A&>().on(std::declval<M>()));
};
template <class A, class M>
  requires HandlesWithSender<A, M>
struct HandledBy<A, M> {
  using type = decltype(std::declval<A&>().on(std::declval<M>(), AnySender{}));
};

/// The sender of a message that no actor has sent through its context: the handler gets an empty ref.
struct NoSender {
  template <class... Ms>
  operator RefTo<Ms...>() const noexcept {  // NOLINT(google-explicit-constructor): as above
    return {};
  }
};

/// The value type of a handler's return type: without its `Task` and without its `Result`.
template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<Task<T>> : Unwrapped<T> {};
template <class T>
struct Unwrapped<std::expected<T, Error>> : Unwrapped<T> {};

template <class Handled, class Reply>
inline constexpr bool can_reply =
    std::is_void_v<Reply> || std::is_convertible_v<typename Unwrapped<Handled>::type, Reply>;

/// Counts a tell that reached nobody, and publishes a `DeadLetter` about it.
void dead_letter(const Cell& cell, const EnvelopeBase& envelope, const Error& why) noexcept;

/// How a message is sent. The sender of an asked message waits for the result of its handler. The sender of a message
/// that is told when there is room waits until the message is in the mailbox.
enum class Sent : std::uint8_t { told, asked, told_when_there_is_room };

/// The message itself.
template <class A, class M>
class MessageEnvelope : public EnvelopeBase {
 public:
  template <class... Args>
  explicit MessageEnvelope(Args&&... args) : message_{std::forward<Args>(args)...} {}

  std::string message_type() const final { return type_name(typeid(M)); }

  /// Puts the message back into the envelope, which is stashed when the handler returns.
  void put_back(M&& message) {
    if (&message != &message_) {  // they are the same when the handler took the message by reference
      std::destroy_at(&message_);
      std::construct_at(&message_, std::move(message));
    }
    stashed = true;
  }

 protected:
  ~MessageEnvelope() = default;
  M message_;
};

/// The coroutine of a handler, for handlers that are coroutines. `E` is the envelope.
template <class E, class Handled>
class CoroutineOf : public RunningHandler {
 public:
  void finished(Cell& cell) noexcept final {
    cell.handler_gone(*this);
    static_cast<E*>(this)->coroutine_ended(cell);
  }
  void cut(Cell& cell, const Error& why) noexcept final {
    cell.handler_gone(*this);
    task_.reset();
    static_cast<E*>(this)->drop(cell, why);
  }

 protected:
  ~CoroutineOf() = default;
  std::optional<Handled> task_;
};
template <class E>
struct NoCoroutine {};

/// A told message has no outcome, and it has only one owner.
struct NoOutcome {
  explicit NoOutcome(std::uint32_t) noexcept {}
};

template <class M, Sent kSent>
using OutcomeOf = std::conditional_t<kSent == Sent::told, NoOutcome,
                                     Outcome<std::conditional_t<kSent == Sent::asked, reply_t<M>, void>>>;

template <class A, class M, Sent kSent, class Sender = NoSender>
class Envelope final
    : public MessageEnvelope<A, M>,
      public std::conditional_t<is_task<typename HandledBy<A, M>::type>,
                                CoroutineOf<Envelope<A, M, kSent, Sender>, typename HandledBy<A, M>::type>,
                                NoCoroutine<Envelope<A, M, kSent, Sender>>>,
      public OutcomeOf<M, kSent> {
 public:
  using Reply = reply_t<M>;
  using Handled = typename HandledBy<A, M>::type;
  static_assert(can_reply<Handled, Reply>,
                "what this actor's handler returns is not the message's Reply: return Reply, Result<Reply>, "
                "Task<Reply> or Task<Result<Reply>>");

  template <class... Args>
  explicit Envelope(Sender sender, Args&&... args)
      : MessageEnvelope<A, M>(std::forward<Args>(args)...),
        OutcomeOf<M, kSent>(2),  // two owners: the mailbox and the asker
        sender_(std::move(sender)) {}

  void run(Cell& cell) noexcept override {
    if constexpr (kSent == Sent::asked)
      if (this->ended()) return let_go();  // the asker gave up before the handler began
    if constexpr (kSent == Sent::told_when_there_is_room)
      if (given_up_) return let_go();
    cell.set_current(*this);
    try {
      if constexpr (is_task<Handled>) {
        this->task_.emplace(handle(cell));
        this->cell_ = &cell;
        cell.handler_waits(*this);
        this->task_->start(cell, *this);
      } else if constexpr (std::is_void_v<Handled>) {
        handle(cell);
        end(cell, Result<Reply>());
      } else {
        end(cell, to_result(handle(cell)));
      }
    } catch (...) {
      fail(cell, cell.thrown_by(*this));
    }
  }

  void coroutine_ended(Cell& cell) noexcept {
    try {
      if constexpr (std::is_void_v<decltype(this->task_->take())>) {
        this->task_->take();
        this->task_.reset();
        end(cell, Result<Reply>());
      } else {
        Result<Reply> result = to_result(this->task_->take());
        this->task_.reset();
        end(cell, std::move(result));
      }
    } catch (...) {
      const Error error = cell.thrown_by(*this);
      this->task_.reset();
      fail(cell, error);
    }
  }

  void drop(Cell& cell, const Error& why) noexcept override {
    if constexpr (kSent == Sent::asked) return this->fail_and_release(why);
    if constexpr (kSent == Sent::told_when_there_is_room)
      if (given_up_ || !this->ended()) return this->fail_and_release(why);
    dead_letter(cell, *this, why);
    let_go();
  }

  void admitted() noexcept override {
    if constexpr (kSent == Sent::told_when_there_is_room) {
      this->retain();
      given_up_ = !this->complete_and_release({});
    }
  }

 private:
  decltype(auto) handle([[maybe_unused]] Cell& cell) {
    A& actor = *static_cast<A*>(cell.instance());
    if constexpr (HandlesWithSender<A, M>)
      return actor.on(std::move(this->message_), sender_);
    else
      return actor.on(std::move(this->message_));
  }

  template <class Value>
  static Result<Reply> to_result(Value&& value) {
    if constexpr (is_result<std::remove_cvref_t<Value>>) {
      if (!value) return Unexpected(std::forward<Value>(value).error());
      if constexpr (std::is_void_v<Reply>)
        return {};
      else
        return Result<Reply>(*std::forward<Value>(value));
    } else if constexpr (std::is_void_v<Reply>) {
      return {};
    } else {
      return Result<Reply>(std::forward<Value>(value));
    }
  }

  void end(Cell& cell, Result<Reply>&& result) noexcept {
    if (this->stashed) {
      this->stashed = false;
      if (Result<void> kept = cell.stash(*this); !kept) drop(cell, kept.error());
      return;
    }
    if constexpr (kSent == Sent::asked) {
      this->complete_and_release(std::move(result));
      return;
    }
    if (!result) cell.report_unheard(*this, result.error());
    let_go();
  }

  void fail(Cell& cell, const Error& error) noexcept {
    if constexpr (kSent == Sent::asked)
      this->fail_and_release(error);
    else
      let_go();
    cell.fail(error);
  }

  void let_go() noexcept {
    if constexpr (kSent == Sent::told)
      delete this;
    else
      this->release();
  }

  [[no_unique_address]] const Sender sender_;
  bool given_up_ = false;  // the sender waited for room, and gave up before there was any
};

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop
