// `Task<T>`: a coroutine that computes a `T`. It is lazy: it runs when somebody awaits it. Control moves between
// coroutines without growing the stack (symmetric transfer). A task always belongs to one actor, its home, and runs
// only on that actor's turns. So it needs no locks, and destroying a task cuts it off at the await where it stands.
//
//   Task<Result<int>> sum(Ref<Counter> a, Ref<Counter> b) {
//     const int x = CO_TRY(co_await a.ask<Get>());   // the value; an error ends the task
//     const int y = CO_TRY(co_await b.ask<Get>());
//     co_return x + y;
//   }
//
// A task waits only for what Troupe can cut off: tasks, asks, calls of a device, `sleep_for`, `stop_requested`,
// `when_all`, `when_any`.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <variant>

#include "troupe/core/assert.hpp"
#include "troupe/core/result.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

template <class T = void>
class Task;

namespace detail {

class Cell;

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<Task<T>> = true;

/// Is told the end of a task that no coroutine awaits directly: the task of a handler, or one of several tasks under
/// `when_all` or `when_any`.
class Completion {
 public:
  /// Returns the coroutine that goes on. The task's frame is suspended, and may be destroyed after this returns.
  virtual std::coroutine_handle<> completed() noexcept = 0;

 protected:
  ~Completion() = default;
};

/// A type that a task may wait for. Such a type declares `using troupe_awaitable = void;`.
template <class A>
concept Awaitable = requires { typename std::remove_cvref_t<A>::troupe_awaitable; };

class PromiseBase {
 public:
  std::suspend_always initial_suspend() noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) noexcept {
      return ended.promise().next();
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }

  template <class A>
  A&& await_transform(A&& awaitable, std::source_location where = std::source_location::current()) noexcept {
    static_assert(Awaitable<A>,
                  "a Task can only wait for what Troupe can cut off: a Task, an Ask, sleep_for, stop_requested, "
                  "when_all or when_any");
    if constexpr (requires { awaitable.troupe_awaited_at(where); }) awaitable.troupe_awaited_at(where);
    return std::forward<A>(awaitable);
  }

  /// The coroutine that runs when this task has ended.
  std::coroutine_handle<> next() noexcept { return completion_ ? completion_->completed() : continuation_; }

  Cell& home() const noexcept {
    TROUPE_ASSERT(home_ != nullptr, "a running task has a home");
    return *home_;
  }

 private:
  template <class T>
  friend class troupe::Task;

  std::coroutine_handle<> continuation_ = std::noop_coroutine();
  Completion* completion_ = nullptr;
  Cell* home_ = nullptr;
};

/// The promise of a task; it keeps the task's value or exception.
template <class T>
class TaskPromise : public PromiseBase {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  Task<T> get_return_object() noexcept;
  void unhandled_exception() noexcept { outcome_.template emplace<2>(std::current_exception()); }

  template <class U = Value>
    requires std::is_constructible_v<Value, U&&>
  void return_value(U&& value) {
    outcome_.template emplace<1>(std::forward<U>(value));
  }

  bool ended() const noexcept { return outcome_.index() != 0; }
  T take() {
    if (outcome_.index() == 2) std::rethrow_exception(std::get<2>(std::move(outcome_)));
    if constexpr (is_result<T>)  // the compiler lets it pass
      if (outcome_.index() == 0)
        return fail(ErrorKind::internal, "a Task<Result<...>> ran off its end; end it with co_return");
    TROUPE_ASSERT(outcome_.index() == 1, "only an ended task has a value");
    if constexpr (!std::is_void_v<T>) return std::get<1>(std::move(outcome_));
  }

 private:
  std::variant<std::monostate, Value, std::exception_ptr> outcome_;
};

/// The promise of a task without a value. It is a class of its own, because a promise must not have both `return_void`
/// and `return_value`.
class VoidTaskPromise : public PromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void unhandled_exception() noexcept { exception_ = std::current_exception(); }
  void return_void() noexcept { ended_ = true; }
  bool ended() const noexcept { return ended_ || exception_; }
  void take() {
    if (exception_) std::rethrow_exception(std::move(exception_));
  }

 private:
  bool ended_ = false;
  std::exception_ptr exception_;
};

}  // namespace detail

/// A coroutine that computes a `T`, on the turns of the actor that awaits it.
template <class T>
class [[nodiscard("a task does nothing until it is awaited")]] Task {
 public:
  using promise_type = std::conditional_t<std::is_void_v<T>, detail::VoidTaskPromise, detail::TaskPromise<T>>;
  using troupe_awaitable = void;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) noexcept : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  class Awaiter {
   public:
    explicit Awaiter(Handle handle) noexcept : handle_(handle) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    Handle await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
      handle_.promise().continuation_ = waiter;
      handle_.promise().home_ = &waiter.promise().home();
      return handle_;
    }
    T await_resume() { return handle_.promise().take(); }

   private:
    Handle handle_;
  };
  Awaiter operator co_await() && noexcept { return Awaiter(handle_); }

  /// Runs the task as a coroutine of `home`, up to its first wait. `completion` is told when the task has ended. Call
  /// it on the home's turn.
  void start(detail::Cell& home, detail::Completion& completion) {
    handle_.promise().home_ = &home;
    handle_.promise().completion_ = &completion;
    handle_.resume();
  }
  bool ended() const noexcept { return handle_.promise().ended(); }
  /// Returns the value of an ended task, or throws its exception.
  T take() { return handle_.promise().take(); }

 private:
  Handle handle_;
};

template <class T>
Task<T> detail::TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(Task<T>::Handle::from_promise(*this));
}
inline Task<void> detail::VoidTaskPromise::get_return_object() noexcept {
  return Task<void>(Task<void>::Handle::from_promise(*this));
}

namespace detail {

/// The awaitable behind `CO_TRY`. It gives the value of a good result; the error of a bad one ends the enclosing task.
template <class T>
class OrReturn {
 public:
  using troupe_awaitable = void;

  explicit OrReturn(Result<T> result) noexcept : result_(std::move(result)) {}
  bool await_ready() const noexcept { return result_.has_value(); }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> task) noexcept {
    static_assert(
        requires { task.promise().return_value(Unexpected(result_.error())); },
        "CO_TRY stands in a coroutine that returns Task<Result<...>>");
    // The task stays suspended here for good. Its owner destroys it, as if it had returned.
    task.promise().return_value(Unexpected(std::move(result_).error()));
    return task.promise().next();
  }
  T await_resume() {
    if constexpr (!std::is_void_v<T>) return std::move(*result_);
  }

 private:
  Result<T> result_;
};

template <class T>
OrReturn<T> or_return(Result<T> result) noexcept {
  return OrReturn<T>(std::move(result));
}
/// Says what is missing when something is not awaited.
template <Awaitable A>
  requires(!requires(const A& a) { a.error(); })
OrReturn<int> or_return(A&&) {
  static_assert(std::is_void_v<A>, "CO_TRY takes a Result, and this is still to be awaited: CO_TRY(co_await ...)");
  return OrReturn<int>({});
}

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop

/// For use in a `Task<Result<...>>`: gives the value of a `Result`; an error ends the task with that error.
/// (`TROUPE_TRY` cannot be used there: its statement expression crashes g++ 12 inside a coroutine.)
#define CO_TRY(...) (co_await ::troupe::detail::or_return(__VA_ARGS__))
