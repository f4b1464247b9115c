// Waits for several things at once, or for time. Everything here runs on the home's turns, so it needs no locks. What
// loses a race is cut off: its coroutine is destroyed.
//
//   auto [a, b] = co_await when_all(first(), second());              // runs both side by side
//   AnyOf<int> first = co_await when_any(replica(1), replica(2));    // the faster one; the other is cut off
//   co_await sleep_for(10ms);
//   Result<int> r = co_await with_timeout(slow(), 1s);               // ends in `timeout`
//   Result<int> s = co_await with_stop(slow(), token);               // ends in `cancelled`
#pragma once

#include <memory>
#include <stop_token>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "troupe/actor/ask.hpp"
#include "troupe/actor/task.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {

/// One of several tasks that one coroutine waits for. It tells the group when its task has ended.
template <class Group>
class Member final : public Completion {
 public:
  Member(Group& group, std::size_t index) noexcept : group_(group), index_(index) {}
  std::coroutine_handle<> completed() noexcept override { return group_.member_ended(index_); }

 private:
  Group& group_;
  std::size_t index_;
};

/// The awaitable behind `when_all`. It starts every task, and the waiter goes on when all have ended.
template <class... T>
class AllOf {
 public:
  using troupe_awaitable = void;

  explicit AllOf(Task<T>&&... tasks) noexcept : tasks_(std::move(tasks)...) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiter) {
    waiter_ = waiter;
    left_ = sizeof...(T) + 1;  // one more, so that the waiter does not go on while tasks are still being started
    members_.reserve(sizeof...(T));
    for (std::size_t i = 0; i < sizeof...(T); ++i) members_.emplace_back(*this, i);
    std::apply(
        [&](auto&... task) {
          std::size_t i = 0;
          (task.start(waiter.promise().home(), members_[i++]), ...);
        },
        tasks_);
    return --left_ > 0;
  }
  /// Gives the values in the order of the tasks; a task without a value gives `std::monostate`. If tasks threw, throws
  /// the exception of the first of them in that order.
  auto await_resume() {
    return std::apply([](auto&... task) { return std::tuple{take(task)...}; }, tasks_);
  }

  std::coroutine_handle<> member_ended(std::size_t) noexcept { return --left_ == 0 ? waiter_ : std::noop_coroutine(); }

 private:
  template <class U>
  static auto take(Task<U>& task) {
    if constexpr (std::is_void_v<U>)
      return task.take(), std::monostate{};
    else
      return task.take();
  }

  std::tuple<Task<T>...> tasks_;
  std::vector<Member<AllOf>> members_;
  std::coroutine_handle<> waiter_;
  std::size_t left_ = 0;
};

/// The same for any number of tasks of one type.
template <class T>
class AllOfMany {
 public:
  using troupe_awaitable = void;

  explicit AllOfMany(std::vector<Task<T>> tasks) noexcept : tasks_(std::move(tasks)) {}

  bool await_ready() const noexcept { return tasks_.empty(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiter) {
    waiter_ = waiter;
    left_ = tasks_.size() + 1;
    members_.reserve(tasks_.size());
    for (std::size_t i = 0; i < tasks_.size(); ++i) members_.emplace_back(*this, i);
    for (std::size_t i = 0; i < tasks_.size(); ++i) tasks_[i].start(waiter.promise().home(), members_[i]);
    return --left_ > 0;
  }
  std::vector<T> await_resume() {
    std::vector<T> values;
    values.reserve(tasks_.size());
    for (Task<T>& task : tasks_) values.push_back(task.take());
    return values;
  }

  std::coroutine_handle<> member_ended(std::size_t) noexcept { return --left_ == 0 ? waiter_ : std::noop_coroutine(); }

 private:
  std::vector<Task<T>> tasks_;
  std::vector<Member<AllOfMany>> members_;
  std::coroutine_handle<> waiter_;
  std::size_t left_ = 0;
};

}  // namespace detail

/// What `when_any` gives: the index of the task that ended first, and its value.
template <class T>
struct AnyOf {
  std::size_t index;
  T value;
};

namespace detail {

/// The awaitable behind `when_any`. The waiter goes on when the first task ends; the other tasks are destroyed.
template <class T>
class FirstOf {
 public:
  using troupe_awaitable = void;

  explicit FirstOf(std::vector<Task<T>> tasks) noexcept : tasks_(std::move(tasks)) {}

  bool await_ready() const noexcept { return tasks_.empty(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiter) {
    members_.reserve(tasks_.size());
    for (std::size_t i = 0; i < tasks_.size(); ++i) members_.emplace_back(*this, i);
    for (std::size_t i = 0; i < tasks_.size() && winner_ == kNone; ++i)
      tasks_[i].start(waiter.promise().home(), members_[i]);
    waiter_ = waiter;
    return winner_ == kNone;
  }
  AnyOf<T> await_resume() {
    if (tasks_.empty()) throw Exception(Error(ErrorKind::invalid_argument, "when_any of nothing would never end"));
    Task<T> winner = std::move(tasks_[winner_]);
    tasks_.clear();
    return {winner_, winner.take()};
  }

  std::coroutine_handle<> member_ended(std::size_t index) noexcept {
    if (winner_ != kNone) return std::noop_coroutine();
    winner_ = index;
    return waiter_ ? waiter_ : std::noop_coroutine();  // null while `await_suspend` is still starting tasks
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::vector<Task<T>> tasks_;
  std::vector<Member<FirstOf>> members_;
  std::coroutine_handle<> waiter_;
  std::size_t winner_ = kNone;
};

/// Turns a task or an ask into a task.
template <class T>
Task<T> to_task(Task<T>&& task) noexcept {
  return std::move(task);
}
template <class R>
Task<Result<R>> to_task(Ask<R>&& ask) {
  return std::move(ask);
}
template <class Awaited>
auto to_tasks(std::vector<Awaited> awaited) {
  std::vector<decltype(to_task(std::declval<Awaited>()))> tasks;
  tasks.reserve(awaited.size());
  for (Awaited& one : awaited) tasks.push_back(to_task(std::move(one)));
  return tasks;
}

}  // namespace detail

/// Runs tasks, asks and calls side by side, and waits for all of them. Gives a tuple of their values.
template <class... Awaited>
auto when_all(Awaited&&... awaited) {
  using detail::to_task;  // argument-dependent lookup finds another one, for calls of a device
  return detail::AllOf(to_task(std::forward<Awaited>(awaited))...);
}
template <class T>
auto when_all(std::vector<Task<T>> tasks) {
  static_assert(!std::is_void_v<T>, "a vector of tasks without values: give them Result<void>");
  return detail::AllOfMany<T>(std::move(tasks));
}
/// The same of a vector of asks or calls, such as `std::vector<Call<void>>`.
template <class Awaited>
  requires(!detail::is_task<Awaited>)
auto when_all(std::vector<Awaited> awaited) {
  return when_all(detail::to_tasks(std::move(awaited)));
}

/// Runs tasks, asks and calls side by side, and waits until the first of them ends; the others are cut off. All must
/// have the same value type. An empty vector throws `invalid_argument`.
template <class First, class... Rest>
auto when_any(First&& first, Rest&&... rest) {
  using detail::to_task;
  auto task = to_task(std::forward<First>(first));
  std::vector<decltype(task)> tasks;
  tasks.reserve(1 + sizeof...(Rest));
  tasks.push_back(std::move(task));
  (tasks.push_back(to_task(std::forward<Rest>(rest))), ...);
  return detail::FirstOf(std::move(tasks));
}
template <class T>
auto when_any(std::vector<Task<T>> tasks) {
  return detail::FirstOf<T>(std::move(tasks));
}
/// The same of a vector of asks or calls.
template <class Awaited>
  requires(!detail::is_task<Awaited>)
auto when_any(std::vector<Awaited> awaited) {
  return when_any(detail::to_tasks(std::move(awaited)));
}

namespace detail {

/// The awaitable behind `sleep_for` and `stop_requested`: a wait without a value.
class Wait {
 public:
  using troupe_awaitable = void;

  explicit Wait(Duration duration) noexcept;
  explicit Wait(std::stop_token token) noexcept;
  Wait(Wait&& other) noexcept;
  ~Wait();

  bool await_ready() const noexcept;
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiter) {
    begin(waiter.promise().home(), waiter);
  }
  void await_resume() noexcept { end(); }

 private:
  struct Waiting;

  void begin(Cell& home, std::coroutine_handle<> waiter);
  void end() noexcept;

  Duration duration_{-1};
  std::stop_token token_;
  std::unique_ptr<Waiting> waiting_;
};

}  // namespace detail

/// Waits for `duration`; does not wait when it is not positive.
inline detail::Wait sleep_for(Duration duration) noexcept { return detail::Wait(std::max(duration, Duration(0))); }
/// Waits until a stop is requested. If nobody can request a stop of `token`, it waits until it is cut off.
inline detail::Wait stop_requested(std::stop_token token) noexcept { return detail::Wait(std::move(token)); }

namespace detail {

template <class T>
Task<Result<T>> fail_after(Duration limit) {
  co_await sleep_for(limit);
  co_return fail(ErrorKind::timeout, "it did not end within " + to_string(limit));
}
template <class T>
Task<Result<T>> fail_on_stop(std::stop_token token) {
  co_await stop_requested(std::move(token));
  co_return fail(ErrorKind::cancelled);
}

}  // namespace detail

/// Gives the task's result; if the task does not end within `limit`, cuts it off and gives `timeout`.
template <class T>
Task<Result<T>> with_timeout(Task<Result<T>> task, Duration limit) {
  AnyOf<Result<T>> first = co_await when_any(std::move(task), detail::fail_after<T>(limit));
  co_return std::move(first.value);
}
/// Gives the task's result; if a stop is requested before the task ends, cuts it off and gives `cancelled`.
template <class T>
Task<Result<T>> with_stop(Task<Result<T>> task, std::stop_token token) {
  AnyOf<Result<T>> first = co_await when_any(std::move(task), detail::fail_on_stop<T>(std::move(token)));
  co_return std::move(first.value);
}

}  // namespace troupe::inline v0
#pragma GCC visibility pop
