// An op on its way to its end. `gpu.fill(a, 1.0f)` makes one; nothing is submitted until it is awaited, `get` is
// called, or `submit` sends it off.
//
//   Result<void> a = co_await gpu.fill(x, 1.0f);                     // in a Task
//   Result<void> b = gpu.fill(x, 1.0f).get();                        // in a plain thread
//   Result<void> c = co_await gpu.fill(x, 1.0f).deadline(50ms);      // stopped if it has not ended by then
//   Result<void> d = co_await gpu.fill(x, 1.0f).try_now();           // `queue_full` instead of waiting for room
//   Result<void> e = gpu.fill(x, 1.0f).submit();                     // nobody waits for its end: its errors taint x
//   Result<void> f = co_await gpu.fill(x, 1.0f).submit();            // the same in a Task, which waits for room only
//
// It ends exactly once. Results are as if ops ran one after another, in the order in which they were submitted.
#pragma once

#include <memory>
#include <optional>
#include <source_location>
#include <stop_token>
#include <utility>

#include "troupe/actor/ask.hpp"
#include "troupe/actor/system.hpp"
#include "troupe/actor/task.hpp"
#include "troupe/device/array.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {

class DeviceState;
class HeldSubmission;
class OpCall;
class ScopeBase;
class Timeout;

/// What `submit` gives: whether the device has taken the op, as a `Result<void>`. When `DeviceOptions::max_waiting` ops
/// wait in the app, a submission waits for room. A plain thread has waited before it gets this. A task awaits it, and
/// is suspended meanwhile: `CO_TRY(co_await gpu.fill(x, 1.0f).submit());` A handler that does not await it would hold
/// up its dispatcher if it waited, so it gets `queue_full`.
class [[nodiscard("an op that was not taken is never run, and nothing else says so")]] Submission
    : public Result<void> {
 public:
  using troupe_awaitable = void;

  // NOLINTNEXTLINE(google-explicit-constructor): most submissions need not wait
  Submission(Result<void> end) noexcept : Result<void>(std::move(end)) {}
  /// `queue_full`, unless it is awaited. Takes over the caller's ownership.
  explicit Submission(HeldSubmission* held);
  Submission(Submission&& other) noexcept
      : Result<void>(static_cast<Result<void>&&>(other)),
        held_(std::exchange(other.held_, nullptr)),
        is_waiting_(std::exchange(other.is_waiting_, false)) {}
  Submission& operator=(Submission&&) = delete;
  ~Submission() {
    if (held_) let_go();
  }

  bool await_ready() const noexcept { return !held_; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    start_in(waiter.promise().home(), waiter);
  }
  Result<void> await_resume() {
    if (!std::exchange(is_waiting_, false)) return std::move(static_cast<Result<void>&>(*this));
    return finish();
  }

 private:
  void start_in(Cell& home, std::coroutine_handle<> waiter) noexcept;
  Result<void> finish();
  void let_go() noexcept;

  HeldSubmission* held_ = nullptr;  // shared with the engine while it waits; most have none
  bool is_waiting_ = false;
};

/// The part of a call that does not depend on what it gives.
class CallBase {
 public:
  CallBase(CallBase&& other) noexcept;
  CallBase& operator=(CallBase&&) = delete;
  ~CallBase();

  /// For `co_await`: where in the program the op is submitted.
  void troupe_awaited_at(const std::source_location& where) noexcept { set_place(where); }

 protected:
  CallBase(std::shared_ptr<DeviceState> device, IntrusivePtr<OpCall> call) noexcept;
  /// Ends in `error` at once.
  explicit CallBase(Error error);

  void set_deadline(Duration from_now) noexcept;
  void set_place(const std::source_location& where) noexcept;
  /// What the user called, where that is not the op's own name.
  void set_name(const char* called) noexcept;
  void refuse_when_full() noexcept;
  /// True when there is nothing to wait for: it has already ended, and nothing was submitted.
  bool refuses_to_start() noexcept;
  void start_in(Cell& home, std::coroutine_handle<> waiter) noexcept;
  void submit_and_wait_in_thread() noexcept;
  Submission submit_only();
  /// Without waiting for room: for ops of which others keep the number small.
  Result<void> submit_above_limit();
  /// For `DeviceOptions::await_each`: in any thread, also one of a dispatcher.
  Result<void> submit_and_wait_anywhere();
  Result<void> take();

  std::optional<Duration> timeout_;
  std::stop_token stop_token_;
  IntrusivePtr<OpCall> call_;
  bool place_is_unknown_ = false;  // it is awaited by code of the library

 private:
  friend class ScopeBase;
  struct OnStop {
    Pending* pending;
    void operator()() const noexcept { pending->fail_with(Error(ErrorKind::cancelled)); }
  };

  /// For an op that nobody will wait for; like the next one.
  bool prepares_alone() noexcept;
  bool submits_those_before() noexcept;
  void give_up() noexcept;
  Submission wait_for_room();
  void watch_for_the_end();
  bool watches_for_the_end() noexcept;
  void stop_watching() noexcept;

  std::shared_ptr<DeviceState> device_;
  IntrusivePtr<Timeout> timer_;
  std::unique_ptr<std::stop_callback<OnStop>> on_stop_;
  bool waits_ = false;
};

/// What a call keeps until its op is done, and what it gives then: nothing, the array that was read, or the number that
/// the op has written into an array of one element.
template <class R>
struct Keeping {
  using Kept = R;
  static R give(Kept&& kept) { return std::move(kept); }
};
template <>
struct Keeping<void> {
  struct Kept {};
};
template <Element R>
struct Keeping<R> {
  using Kept = HostArray<R>;
  static R give(const Kept& kept) { return kept[0]; }
};

}  // namespace detail

/// An op on its way to its end: await it, or call `get` or `submit`. `R` is what it gives when its op went well:
/// `void`, the array that was read, a number.
template <class R>
class [[nodiscard("an op is submitted when it is awaited, or by get() or submit()")]] Call : public detail::CallBase {
 public:
  using troupe_awaitable = void;
  using Kept = typename detail::Keeping<R>::Kept;

  Call(std::shared_ptr<detail::DeviceState> device, detail::IntrusivePtr<detail::OpCall> call, Kept kept = {}) noexcept
      : detail::CallBase(std::move(device), std::move(call)), kept_(std::move(kept)) {}
  /// Gives `kept` when `call`, which writes it, has ended well.
  Call(Call<void> call, Kept kept) noexcept
    requires(!std::is_void_v<R>)
      : detail::CallBase(std::move(call)), kept_(std::move(kept)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): so that a function that gives a call can `return fail(...)`
  Call(Unexpected error) : detail::CallBase(std::move(error).error()) {}
  Call(Call&&) noexcept = default;

  /// The op must end within `limit` after its submission. An op that has not begun by then never begins; one that runs
  /// is stopped together with its worker, and what it writes is tainted.
  Call&& deadline(Duration limit) && noexcept { return std::move(deadline(limit)); }
  /// The same of a call that has a name: `call.deadline(20ms)`, and later `std::move(call).get()`.
  Call& deadline(Duration limit) & noexcept {
    set_deadline(limit);
    return *this;
  }
  /// Stops waiting after `limit`: ends in `timeout`. An op that has not begun then never begins; one that runs goes on.
  Call&& wait_at_most(Duration limit) && noexcept { return std::move(wait_at_most(limit)); }
  Call& wait_at_most(Duration limit) & noexcept {
    timeout_ = limit;
    return *this;
  }
  /// The same when a stop is requested: ends in `cancelled`.
  Call&& cancel_on(std::stop_token token) && noexcept { return std::move(cancel_on(std::move(token))); }
  Call& cancel_on(std::stop_token token) & noexcept {
    stop_token_ = std::move(token);
    return *this;
  }
  /// Ends in `queue_full` when the op would have to wait in the app for room or for a worker.
  Call&& try_now() && noexcept { return std::move(try_now()); }
  Call& try_now() & noexcept {
    refuse_when_full();
    return *this;
  }

  /// Submits, and waits in this thread. Inside a handler it would hold up the dispatcher: there it ends in
  /// `invalid_argument` at once.
  [[nodiscard("an op may have failed, and nothing else says so")]] Result<R> get(
      std::source_location where = std::source_location::current()) && {
    set_place(where);
    if (!refuses_to_start()) submit_and_wait_in_thread();
    return finish();
  }
  /// Submits, and nobody waits for the end. The error of an op that is not taken is returned; how one ends that was
  /// taken shows in what it writes, however soon that is. When too many ops wait already, a plain thread waits here
  /// until there is room; a task awaits the submission; a handler that does not await it gets `queue_full`. A deadline
  /// (`deadline_exceeded`), a timeout, a stop or the device's end ends that wait. An op that was not taken taints
  /// nothing.
  detail::Submission submit(std::source_location where = std::source_location::current()) && {
    set_place(where);
    return refuses_to_start() ? detail::Submission(take()) : submit_only();
  }

  bool await_ready() noexcept { return refuses_to_start(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    start_in(waiter.promise().home(), waiter);
  }
  [[nodiscard("an op may have failed, and nothing else says so")]] Result<R> await_resume() { return finish(); }

  /// As a task, for `when_all` and `when_any`.
  // NOLINTNEXTLINE(google-explicit-constructor): so that calls can be put into a vector of tasks
  operator Task<Result<R>>() && { return as_task(std::move(*this)); }

 private:
  friend class Device;

  static Task<Result<R>> as_task(Call call) {
    call.place_is_unknown_ = true;
    co_return co_await std::move(call);
  }

  Result<R> finish() {
    Result<void> result = take();
    if (!result) return fail(std::move(result).error());
    if constexpr (std::is_void_v<R>)
      return {};
    else
      return detail::Keeping<R>::give(std::move(kept_));
  }

  [[no_unique_address]] Kept kept_{};
};

namespace detail {

template <class R>
Task<Result<R>> to_task(Call<R>&& call) {
  return std::move(call);
}

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop

// A call that is more than one op: one that counts before it allocates, reads piece by piece, or also works on a file.
// To its caller it is like any other: `co_await` it, or `get()` in a plain thread.
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
