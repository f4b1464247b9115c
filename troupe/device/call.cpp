#include "troupe/device/call.hpp"

#include <new>

#include "troupe/actor/cell.hpp"
#include "troupe/actor/system_core.hpp"
#include "troupe/actor/timeout.hpp"
#include "troupe/core/without_memory.hpp"
#include "troupe/device/device_state.hpp"
#include "troupe/device/held_submission.hpp"
#include "troupe/device/op_call.hpp"

namespace troupe::inline v0::detail {
namespace {

/// The ops of `call`'s call that come before it, the first one first. Nobody waits for them: `call` needs what they
/// write. Ends in the error of one that was not taken.
Result<void> submit_those_before(Engine& engine, const OpCall& call) noexcept {
  if (!call.before) return {};
  OpCall& before = *call.before;
  before.refuse_when_full = call.refuse_when_full;
  before.deadline_after = call.deadline_after;
  before.deadline = call.deadline;
  before.nobody_waits = true;
  if (Result<void> taken = submit_those_before(engine, before); !taken) {
    if (before.group) before.group->op_has_ended(before.number_in_group, taken);
    return taken;
  }
  engine.submit(call.before);
  return before.refusal();
}

/// How the first of them failed; it has ended if `call` has.
Result<void> end_of_those_before(const OpCall& call) noexcept {
  if (!call.before) return {};
  TROUPE_TRY(end_of_those_before(*call.before));
  return call.before->settled() ? call.before->take() : Result<void>();
}

}  // namespace

CallBase::CallBase(std::shared_ptr<DeviceState> device, IntrusivePtr<OpCall> call) noexcept
    : call_(std::move(call)), device_(std::move(device)) {}

CallBase::CallBase(Error error) : call_(IntrusivePtr<OpCall>::adopt(new OpCall)) { call_->fail_with(error); }

CallBase::CallBase(CallBase&& other) noexcept = default;

// Either it was never submitted, or its coroutine is being destroyed while it awaits this (on its home's turn).
CallBase::~CallBase() {
  if (!call_) return;  // moved from
  stop_watching();
  if (!waits_) return;
  call_->abandon();
  give_up();
}

void CallBase::give_up() noexcept {
  for (OpCall* call = call_.get(); call; call = call->before.get()) device_->engine().give_up(*call);
}

void CallBase::set_deadline(Duration from_now) noexcept {
  if (call_) call_->deadline_after = from_now;
}

void CallBase::set_place(const std::source_location& where) noexcept {
  if (place_is_unknown_) return;
  for (OpCall* call = call_.get(); call; call = call->before.get()) call->where = where;
}

void CallBase::set_name(const char* called) noexcept {
  if (call_) call_->called = called;
}

void CallBase::refuse_when_full() noexcept {
  if (call_) call_->refuse_when_full = true;
}

bool CallBase::refuses_to_start() noexcept {
  if (call_->settled()) return true;
  if (device_->system().is_forked())
    call_->fail_with(fork_error());
  else if (call_->deadline_after && call_->deadline_after->count() <= 0)
    call_->fail_with(
        describe(ErrorKind::deadline_exceeded, [] { return "a deadline of zero leaves no time for the op"; }));
  else if (timeout_ && timeout_->count() <= 0)
    call_->fail_with(describe(ErrorKind::timeout, [] { return "a timeout of zero leaves no time to answer"; }));
  else if (stop_token_.stop_requested())
    call_->fail_with(Error(ErrorKind::cancelled));
  else
    return false;
  return true;
}

void CallBase::start_in(Cell& home, std::coroutine_handle<> waiter) noexcept {
  call_->wait_in(home, waiter);
  if (watches_for_the_end() && submits_those_before()) device_->engine().submit(call_);
}

void CallBase::submit_and_wait_in_thread() noexcept {
  if (Cell::current_cell()) {
    call_->fail_with(describe(ErrorKind::invalid_argument, [] {
      return "get() inside a handler would hold up its dispatcher: co_await the call instead";
    }));
    return;
  }
  if (watches_for_the_end() && submits_those_before()) device_->engine().submit_and_spin(call_);
  call_->wait_in_thread(device_->system());
}

Submission CallBase::submit_only() {
  if (!prepares_alone()) return call_->take();
  if (device_->options().await_each) [[unlikely]]
    return submit_and_wait_anywhere();
  if (!device_->engine().submit_if_room(call_)) return wait_for_room();
  return call_->refusal();
}

Submission CallBase::wait_for_room() {
  auto held = IntrusivePtr<HeldSubmission>::adopt(new HeldSubmission(device_, call_, timeout_, std::move(stop_token_)));
  if (Cell::current_cell()) return Submission(held.leak());
  return held->wait_in_this_thread();
}

Result<void> CallBase::submit_and_wait_anywhere() {
  device_->engine().submit(call_);
  call_->wait_in_thread(device_->system());
  return take();
}

Result<void> CallBase::submit_above_limit() {
  if (!prepares_alone()) return call_->take();
  if (device_->options().await_each) [[unlikely]]
    return submit_and_wait_anywhere();
  device_->engine().submit(call_);
  return call_->refusal();
}

bool CallBase::prepares_alone() noexcept {
  if (call_->deadline_after) call_->deadline = std::chrono::steady_clock::now() + *call_->deadline_after;
  call_->nobody_waits = true;
  return submits_those_before();
}

/// False when one was not taken: then the call has ended in that one's error, and the engine never sees the last op.
bool CallBase::submits_those_before() noexcept {
  if (!call_->before) [[likely]]
    return true;
  const Result<void> taken = submit_those_before(device_->engine(), *call_);
  if (taken) return true;
  if (call_->group) call_->group->op_has_ended(call_->number_in_group, taken);
  call_->before = nullptr;
  call_->ended_in_engine.store(true, std::memory_order_release);
  call_->fail_with(taken.error());
  return false;
}

/// False when there was no memory: then the call has ended, and the engine never sees it.
bool CallBase::watches_for_the_end() noexcept {
  try {
    watch_for_the_end();
    return true;
  } catch (const std::bad_alloc&) {
    call_->ended_in_engine.store(true, std::memory_order_release);
    call_->fail_with(Error(ErrorKind::out_of_memory));
    return false;
  }
}

void CallBase::watch_for_the_end() {
  waits_ = true;
  if (call_->deadline_after) call_->deadline = std::chrono::steady_clock::now() + *call_->deadline_after;
  if (timeout_) {
    SystemCore& core = device_->system();
    timer_ = IntrusivePtr<Timeout>::adopt(new Timeout(call_, *timeout_));
    core.wheel().start(timer_, core.now() + *timeout_);
  }
  if (stop_token_.stop_possible())
    on_stop_ = std::make_unique<std::stop_callback<OnStop>>(std::move(stop_token_), OnStop{call_.get()});
}

void CallBase::stop_watching() noexcept {
  on_stop_.reset();  // waits for the callback if it runs right now
  if (timer_) device_->system().wheel().cancel(*std::exchange(timer_, nullptr));
}

Result<void> CallBase::take() {
  stop_watching();
  if (std::exchange(waits_, false) && !call_->ended_in_engine.load(std::memory_order_acquire))
    give_up();  // somebody else has ended it: a timeout, a stop
  Result<void> end = call_->take();
  if (end) return end;
  if (end.error().kind() == ErrorKind::buffer_tainted) TROUPE_TRY(end_of_those_before(*call_));
  return fail(end.error().at(call_->where));
}

}  // namespace troupe::inline v0::detail
