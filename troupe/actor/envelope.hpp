// A message of type `M` on its way to an actor of type `A`, together with the place for its reply: one allocation per
// message, owned by the mailbox and, for an ask, by the asker, too. It says at compile time what an actor can be sent.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "troupe/actor/cell.hpp"
#include "troupe/actor/mailbox.hpp"
#include "troupe/actor/pending.hpp"
#include "troupe/actor/task.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0::detail {

/// A message as the cell sees it: it can be run, dropped, finished when its coroutine ends, or cut off.
class EnvelopeBase : public Node, public Completion {
 public:
  /// Its coroutine has ended: reply, and be gone. On the cell's turn.
  virtual void finished(Cell& cell) noexcept = 0;
  /// Destroys its coroutine; the ask ends in `why`. On the cell's turn.
  virtual void cut(Cell& cell, const Error& why) noexcept = 0;
  /// The message's type, for people.
  virtual std::string message_type() const = 0;

  std::coroutine_handle<> completed() noexcept final;

  bool stashed = false;

 protected:
  ~EnvelopeBase() = default;

  Cell* cell_ = nullptr;  // whose handler runs it; set when a coroutine begins

 private:
  friend class Cell;
  EnvelopeBase* previous_running_ = nullptr;
  EnvelopeBase* next_running_ = nullptr;
};

/// Makes the message of a timer, each time it fires.
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

/// `A` has an `on` for `M`.
template <class A, class M>
concept Handles = requires(A& actor, M&& message) { actor.on(std::move(message)); };

/// What a handler's return type comes to once a Task is awaited and a Result unwrapped.
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

/// Counts a tell that reached nobody, and publishes it.
void dead_letter(const Cell& cell, const EnvelopeBase& envelope, const Error& why) noexcept;

template <class A, class M>
class Envelope final : public EnvelopeBase, public Outcome<reply_t<M>> {
 public:
  using Reply = reply_t<M>;
  using Handled = decltype(std::declval<A&>().on(std::declval<M>()));
  static_assert(can_reply<Handled, Reply>,
                "what this actor's handler returns is not the message's Reply: return Reply, Result<Reply>, "
                "Task<Reply> or Task<Result<Reply>>");

  template <class... Args>
  explicit Envelope(bool asked, Args&&... args)
      : Outcome<Reply>(asked ? 2 : 1), asked_(asked), message_{std::forward<Args>(args)...} {}

  void run(Cell& cell) noexcept override {
    if (asked_ && this->ended()) return this->release();  // the asker gave up before the handler began
    cell.set_current(*this);
    A& actor = *static_cast<A*>(cell.instance());
    try {
      if constexpr (is_task<Handled>) {
        task_.emplace(actor.on(std::move(message_)));
        cell_ = &cell;
        cell.handler_waits(*this);
        task_->start(cell, *this);
      } else if constexpr (std::is_void_v<Handled>) {
        actor.on(std::move(message_));
        end(cell, Result<Reply>());
      } else {
        end(cell, to_result(actor.on(std::move(message_))));
      }
    } catch (...) {
      fail(cell, current_exception_as_error());
    }
  }

  void finished(Cell& cell) noexcept override {
    if constexpr (is_task<Handled>) {
      cell.handler_gone(*this);
      try {
        if constexpr (std::is_void_v<decltype(task_->take())>) {
          task_->take();
          task_.reset();
          end(cell, Result<Reply>());
        } else {
          Result<Reply> result = to_result(task_->take());
          task_.reset();
          end(cell, std::move(result));
        }
      } catch (...) {
        const Error error = current_exception_as_error();
        task_.reset();
        fail(cell, error);
      }
    }
  }

  void cut(Cell& cell, const Error& why) noexcept override {
    if constexpr (is_task<Handled>) {
      cell.handler_gone(*this);
      task_.reset();
    }
    drop(cell, why);
  }

  void drop(Cell& cell, const Error& why) noexcept override {
    if (asked_) return this->fail_and_release(why);
    dead_letter(cell, *this, why);
    this->release();
  }

  std::string message_type() const override { return type_name(typeid(M)); }

  /// Puts the message back, to be stashed when its handler returns.
  void put_back(M&& message) {
    if (&message != &message_) {  // the same when the handler took it by reference
      std::destroy_at(&message_);
      std::construct_at(&message_, std::move(message));
    }
    stashed = true;
  }

 private:
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
    if (stashed) {
      stashed = false;
      if (Result<void> kept = cell.stash(*this); !kept) drop(cell, kept.error());
      return;
    }
    if (asked_) return this->complete_and_release(std::move(result));
    if (!result) cell.report_unheard(*this, result.error());
    this->release();
  }

  void fail(Cell& cell, const Error& error) noexcept {
    if (asked_)
      this->fail_and_release(error);
    else
      this->release();
    cell.fail(error);
  }

  const bool asked_;
  M message_;
  [[no_unique_address]] std::conditional_t<is_task<Handled>, std::optional<Handled>, std::monostate> task_;
};

}  // namespace troupe::inline v0::detail
#pragma GCC visibility pop
