#include "troupe/device/held_submission.hpp"

#include "troupe/actor/system_core.hpp"
#include "troupe/core/without_memory.hpp"
#include "troupe/device/call.hpp"
#include "troupe/device/device_state.hpp"

namespace troupe::inline v0::detail {
namespace {

/// When it fires, whatever waits ends in an error.
class Limit final : public Timer {
 public:
  Limit(IntrusivePtr<Pending> pending, Error error) noexcept : pending_(std::move(pending)), error_(std::move(error)) {}
  void fire() noexcept override { pending_->fail_with(error_); }

 private:
  const IntrusivePtr<Pending> pending_;
  const Error error_;
};

}  // namespace

HeldSubmission::HeldSubmission(std::shared_ptr<DeviceState> device, IntrusivePtr<OpCall> call,
                               std::optional<Duration> timeout, std::stop_token stop_token) noexcept
    : device_(std::move(device)), call_(std::move(call)), timeout_(timeout), stop_token_(std::move(stop_token)) {}

HeldSubmission::~HeldSubmission() = default;

Error HeldSubmission::queue_full() const {
  return Error(
      ErrorKind::queue_full,
      std::to_string(device_->options().max_waiting) +
          " ops wait for the device, as many as may "
          "(DeviceOptions::max_waiting), and a handler cannot wait for room: co_await the submission in a task",
      ErrorOrigin{.op = call_->name(), .device = device_->info().index});
}

Result<void> HeldSubmission::wait_in_this_thread() {
  start();
  (void)wait_in_thread(device_->system());
  return finish();
}

void HeldSubmission::start_in(Cell& home, std::coroutine_handle<> waiter) noexcept {
  wait_in(home, waiter);
  start();
}

void HeldSubmission::start() noexcept {
  const bool has_deadline = call_->deadline != TimePoint::max();
  const Duration left = has_deadline ? call_->deadline - std::chrono::steady_clock::now() : Duration::max();
  const bool times_out_first = timeout_ && *timeout_ < left;
  if (times_out_first || has_deadline) {
    const Duration given = times_out_first ? *timeout_ : *call_->deadline_after;
    const Error error = describe(times_out_first ? ErrorKind::timeout : ErrorKind::deadline_exceeded, [&] {
      return "the op found no room within its " + to_string(given) + ": more than " +
             std::to_string(device_->options().max_waiting) + " ops wait for the device (max_waiting)";
    });
    const auto make = [&] {
      limit_ = IntrusivePtr<Limit>::adopt(new Limit(IntrusivePtr<Pending>::share(this), error));
    };
    SystemCore& core = device_->system();
    if (await_memory_unless(make, [this] { return device_->is_over(); }))  // else it ends with the device
      core.wheel().start(limit_, core.now() + (times_out_first ? *timeout_ : left));
  }
  if (stop_token_.stop_possible()) on_stop_.emplace(std::move(stop_token_), OnStop{this});
  device_->engine().submit(call_);
  device_->engine().hold_back(*call_, IntrusivePtr<Outcome<void>>::share(this));
}

Result<void> HeldSubmission::finish() {
  stop_watching();
  if (const Result<void> end = take(); !end) device_->engine().withdraw(*call_, *this, end.error());
  return call_->refusal();
}

void HeldSubmission::cut_off() noexcept {
  stop_watching();
  abandon();
  device_->engine().withdraw(*call_, *this, Error(ErrorKind::cancelled));
}

void HeldSubmission::stop_watching() noexcept {
  on_stop_.reset();  // waits for the callback if it runs right now
  if (limit_) device_->system().wheel().cancel(*std::exchange(limit_, nullptr));
}

Submission::Submission(HeldSubmission* held) : Result<void>(Unexpected(held->queue_full())), held_(held) {}

void Submission::start_in(Cell& home, std::coroutine_handle<> waiter) noexcept {
  is_waiting_ = true;
  held_->start_in(home, waiter);
}

Result<void> Submission::finish() { return held_->finish(); }

void Submission::let_go() noexcept {
  if (is_waiting_) held_->cut_off();
  std::exchange(held_, nullptr)->release();
}

}  // namespace troupe::inline v0::detail
