// What `submit` gives: whether the device has taken the op, as a `Result<void>`. When as many ops wait in the app as
// may
// (`DeviceOptions::max_waiting`), a submission waits for room. A plain thread has done so before it gets this. A task
// awaits it, and is suspended meanwhile:
//
//   CO_TRY(co_await gpu.fill(x, 1.0f).submit());
//
// A handler that does not await it cannot wait without holding up its dispatcher: there it is `queue_full`.
#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <stop_token>

#include "troupe/actor/pending.hpp"
#include "troupe/device/op_call.hpp"

namespace troupe::inline v0 {

class DeviceState;

/// A submission that found no room. It ends when there is room, or in an error: of its op's deadline, its timeout or a
/// stop, whichever comes first. Its op is in the queue while it waits, so that the order is kept.
class HeldSubmission final : public Outcome<void> {
 public:
  HeldSubmission(std::shared_ptr<DeviceState> device, IntrusivePtr<OpCall> call, std::optional<Duration> timeout,
                 std::stop_token stop_token) noexcept;
  ~HeldSubmission() override;

  /// Submits, and waits in this thread.
  Result<void> wait_in_this_thread();
  /// Submits; the coroutine goes on when it has ended. On the home's turn.
  void start_in(Cell& home, std::coroutine_handle<> waiter) noexcept;
  /// After its end: whether the op was taken.
  Result<void> finish();
  /// Its coroutine is being destroyed. The op never begins, if it still waits in the app.
  void cut_off() noexcept;
  Error queue_full() const;

 private:
  struct OnStop {
    Pending* pending;
    void operator()() const noexcept { pending->fail_with(Error(ErrorKind::cancelled)); }
  };

  void start() noexcept;
  void stop_watching() noexcept;

  const std::shared_ptr<DeviceState> device_;  // shared with every call under way
  const IntrusivePtr<OpCall> call_;
  const std::optional<Duration> timeout_;
  std::stop_token stop_token_;
  IntrusivePtr<Timer> limit_;
  std::optional<std::stop_callback<OnStop>> on_stop_;
};

class [[nodiscard("an op that was not taken is never run, and nothing else says so")]] Submission
    : public Result<void> {
 public:
  using troupe_awaitable = void;

  // NOLINTNEXTLINE(google-explicit-constructor): most submissions are through at once
  Submission(Result<void> end) noexcept : Result<void>(std::move(end)) {}
  /// `queue_full`, unless it is awaited.
  explicit Submission(IntrusivePtr<HeldSubmission> held)
      : Result<void>(Unexpected(held->queue_full())), held_(std::move(held)) {}
  Submission(Submission&&) noexcept = default;
  Submission& operator=(Submission&&) = delete;
  ~Submission() {
    if (is_waiting_) held_->cut_off();
  }

  bool await_ready() const noexcept { return !held_; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    is_waiting_ = true;
    held_->start_in(waiter.promise().home(), waiter);
  }
  Result<void> await_resume() {
    if (!std::exchange(is_waiting_, false)) return std::move(static_cast<Result<void>&>(*this));
    return held_->finish();
  }

 private:
  IntrusivePtr<HeldSubmission> held_;
  bool is_waiting_ = false;
};

}  // namespace troupe::inline v0
