// A call that is more than one op: one that counts before it allocates, reads piece by piece, or also works on a file.
// To its caller it is like any other: `co_await` it, or `get()` in a plain thread.
#pragma once

#include <memory>
#include <optional>
#include <source_location>
#include <utility>

#include "troupe/actor/system.hpp"
#include "troupe/actor/task.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0::detail {

class DeviceState;

/// The system of a device.
SystemCore& system_of(DeviceState& device) noexcept;
/// The error, with the place of the call instead of one inside the library.
Error called_at(const Error& error, const std::source_location& where) noexcept;
/// `get` in a handler.
Error refused_get() noexcept;

/// It begins when it is awaited, or by `get`, and gives an `R`.
template <class R>
class [[nodiscard("it begins when it is awaited, or by get()")]] TaskCall {
 public:
  using troupe_awaitable = void;

  TaskCall(std::shared_ptr<DeviceState> device, Task<Result<R>> task) noexcept
      : device_(std::move(device)), task_(std::move(task)) {}

  /// Waits in this thread. Inside a handler it would hold up the dispatcher: there it ends in `invalid_argument`.
  [[nodiscard("it may have failed, and nothing else says so")]] Result<R> get(
      std::source_location where = std::source_location::current()) && {
    where_ = where;
    return placed(Cell::current_cell() ? Result<R>(fail(refused_get()))
                                       : run_in(system_of(*device_), std::move(task_)));
  }

  /// For `co_await`: where in the program it is awaited.
  void troupe_awaited_at(const std::source_location& where) noexcept { where_ = where; }
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    awaiter_.emplace(std::move(task_).operator co_await());
    return awaiter_->await_suspend(waiter);
  }
  [[nodiscard("it may have failed, and nothing else says so")]] Result<R> await_resume() {
    return placed(awaiter_->await_resume());
  }

  /// As a task, for `when_all` and `when_any`.
  // NOLINTNEXTLINE(google-explicit-constructor): so that calls can be put into a vector of tasks
  operator Task<Result<R>>() && { return std::move(task_); }

 private:
  Result<R> placed(Result<R> end) const {
    if (!end) return fail(called_at(end.error(), where_));
    return end;
  }

  std::shared_ptr<DeviceState> device_;  // shared with the device: it outlives the handle that made the call
  Task<Result<R>> task_;
  std::optional<typename Task<Result<R>>::Awaiter> awaiter_;
  std::source_location where_;
};

template <class R>
Task<Result<R>> to_task(TaskCall<R>&& call) {
  return std::move(call);
}

}  // namespace troupe::inline v0::detail
#pragma GCC visibility pop
