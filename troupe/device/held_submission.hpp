// What is behind a `Submission` that waits for room. It has a header of its own, which users do not include, because
// most submissions never need it.
#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <stop_token>

#include "troupe/actor/ask.hpp"
#include "troupe/actor/timer.hpp"
#include "troupe/device/op_call.hpp"

namespace troupe::inline v0::detail {

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
  /// Submits; the coroutine goes on when this has ended. Call it on the home's turn.
  void start_in(Cell& home, std::coroutine_handle<> waiter) noexcept;
  /// After its end: whether the op was taken.
  Result<void> finish();
  /// Its coroutine is being destroyed. If the op still waits in the app, it never begins.
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

}  // namespace troupe::inline v0::detail
