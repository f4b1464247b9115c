#include "troupe/device/scope_base.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#include "troupe/actor/cell.hpp"
#include "troupe/core/without_memory.hpp"
#include "troupe/device/device_state.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/device/op_call.hpp"

namespace troupe::inline v0::detail {
namespace {

/// A task cannot wait for room in the middle of a line, so a scope has room of its own there.
constexpr std::uint32_t kMostUnderWay = 16 * 1024;

Error of_another_device(const OpCall& call) noexcept {
  return describe(ErrorKind::invalid_argument, [&] { return call.name() + " is of another device than its scope"; });
}

}  // namespace

/// The ops of one scope, as those who end them see it: how many are under way, and which error is the first.
class OpsOfScope final : public OpGroup {
 public:
  OpsOfScope(ControlLoop& loop, const std::source_location& where) noexcept : loop_(&loop), where_(where) {}

  /// For an op that is about to be submitted.
  std::uint32_t one_more() noexcept {
    under_way_.fetch_add(1, std::memory_order_relaxed);
    return last_number_.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  /// It has been submitted.
  void note(const IntrusivePtr<OpCall>& call) {
    const std::lock_guard lock(mutex_);
    if (calls_.size() >= look_again_at_) {
      std::erase_if(calls_, [](const auto& one) { return one->ended_in_engine.load(std::memory_order_acquire); });
      look_again_at_ = std::max(kLookAgainAt, 2 * calls_.size());
    }
    calls_.push_back(call);
  }
  std::vector<IntrusivePtr<OpCall>> take_calls() noexcept {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }

  void op_has_ended(std::uint32_t number, const Result<void>& end) noexcept override {
    if (!end) fail_with(number, end.error());
    one_less();
  }
  /// The owner's own error, which comes after those of all ops so far.
  void fail_with(const Error& error) noexcept { fail_with(last_number_.load(std::memory_order_relaxed) + 1, error); }
  /// The same, and whoever waits with the token is woken.
  void cancel(const Error& why) noexcept {
    fail_with(why);
    std::stop_source waiters(std::nostopstate);
    {
      const std::lock_guard lock(mutex_);
      is_cancelled_ = true;
      waiters = waiters_;
    }
    waiters.request_stop();  // without the lock: it calls them
  }
  /// For somebody who is about to wait; most scopes need none.
  std::stop_token stop_of_waiters() {
    const std::lock_guard lock(mutex_);
    if (!waiters_.stop_possible()) waiters_ = std::stop_source();
    if (is_cancelled_) waiters_.request_stop();  // nobody waits with it yet
    return waiters_.get_token();
  }

  std::uint32_t under_way() const noexcept { return under_way_.load(std::memory_order_relaxed) - 1; }
  bool has_failed() const noexcept { return has_failed_.load(std::memory_order_acquire); }
  /// Whoever gets it is told.
  std::optional<Error> tell() noexcept {
    if (!has_failed()) return std::nullopt;
    const std::lock_guard lock(mutex_);
    is_told_ = true;
    return first_;
  }
  /// Like `tell`, for an op that is refused.
  Error why() noexcept {
    const std::lock_guard lock(mutex_);
    return *first_;
  }

  /// No more ops will come. `end`, if there is one, ends when all have.
  void close(IntrusivePtr<Outcome<void>> end) noexcept {
    {
      const std::lock_guard lock(mutex_);
      end_ = std::move(end);
    }
    one_less();
  }
  /// Nobody runs ops any more: errors are logged, but for those of ops that are given up now. Whoever has asked for the
  /// end is told of those, too.
  void drop() noexcept {
    const std::lock_guard lock(mutex_);
    is_dropped_ = true;
    log_if_untold();
  }

 private:
  static constexpr std::size_t kLookAgainAt = 64;

  void fail_with(std::uint32_t number, const Error& error) noexcept {
    const std::lock_guard lock(mutex_);
    const bool is_given_up = is_dropped_ && error.kind() == ErrorKind::cancelled;
    if (first_ && error.kind() == ErrorKind::cancelled) return;  // it was given up for the first
    if (!first_ || first_is_given_up_ || number < first_number_) {
      first_ = is_given_up ? was_dropped() : error;
      first_number_ = number;
      first_is_given_up_ = is_given_up;
    }
    has_failed_.store(true, std::memory_order_release);
    if (is_dropped_) log_if_untold();
  }
  void one_less() noexcept {
    if (under_way_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    IntrusivePtr<Outcome<void>> end;
    {
      const std::lock_guard lock(mutex_);
      end = std::move(end_);
    }
    if (end) end.leak()->complete_and_release({});
  }
  void log_if_untold() noexcept {
    if (!first_ || first_is_given_up_ || std::exchange(is_told_, true)) return;
    try {
      (void)loop_->take_log(LogLevel::warning, "scope at " + place_of(where_),
                            "nobody asked for its error: " + first_->to_string());
    } catch (const std::bad_alloc&) {  // then it is not logged
    }
  }

  static Error was_dropped() noexcept {
    return describe(ErrorKind::cancelled, [] { return "the scope was dropped before its ops had ended"; });
  }

  ControlLoop* const loop_;  // of the device, which is there while it has ops
  const std::source_location where_;
  std::atomic<std::uint32_t> last_number_{0};
  std::atomic<std::uint32_t> under_way_{1};  // and the owner, until it closes
  std::atomic<bool> has_failed_{false};
  std::mutex mutex_;
  std::vector<IntrusivePtr<OpCall>> calls_;  // under way, and some that have ended
  std::size_t look_again_at_ = kLookAgainAt;
  std::optional<Error> first_;
  std::uint32_t first_number_ = 0;
  bool first_is_given_up_ = false;  // when the scope was dropped
  bool is_told_ = false;
  bool is_cancelled_ = false;
  std::stop_source waiters_{std::nostopstate};
  bool is_dropped_ = false;
  IntrusivePtr<Outcome<void>> end_;
};

// ---- the end ----

namespace {

class AllEnded final : public Outcome<void> {
 public:
  AllEnded() : Outcome<void>(1) {}
};

}  // namespace

EndOfScope::EndOfScope(Device device, IntrusivePtr<OpsOfScope> ops)
    : device_(std::move(device)), ops_(std::move(ops)), end_(IntrusivePtr<Outcome<void>>::adopt(new AllEnded)) {}

EndOfScope::EndOfScope(EndOfScope&& other) noexcept = default;

EndOfScope::~EndOfScope() {
  if (is_waiting_) end_->abandon();  // its coroutine is being destroyed
  if (ops_) ops_->close(nullptr);    // nobody has waited
}

Result<void> EndOfScope::get() && {
  if (Cell::current_cell())
    return fail(describe(ErrorKind::invalid_argument, [] {
      return "get() inside a handler would hold up its dispatcher: co_await the end of the scope instead";
    }));
  if (await_ready()) return await_resume();
  wait_for_ops();
  end_->wait_in_thread(DeviceParts::state(device_)->system());
  return await_resume();
}

void EndOfScope::start_in(Cell& home, std::coroutine_handle<> waiter) noexcept {
  is_waiting_ = true;
  end_->wait_in(home, waiter);
  wait_for_ops();
}

void EndOfScope::wait_for_ops() noexcept {
  waited_for_ = std::move(ops_);
  waited_for_->close(end_);
}

Result<void> EndOfScope::await_resume() {
  is_waiting_ = false;
  if (!waited_for_)
    return fail(describe(ErrorKind::invalid_argument, [] { return "the end of this scope was asked for before"; }));
  if (std::optional<Error> first = waited_for_->tell()) return fail(*std::move(first));
  return {};
}

// ---- the scope ----

ScopeBase::ScopeBase(Device device, ScopeOptions options, const std::source_location& where)
    : device_(std::move(device)),
      ops_(IntrusivePtr<OpsOfScope>::adopt(new OpsOfScope(DeviceParts::state(device_)->loop(), where))),
      deadline_(options.deadline),
      stop_(std::move(options.stop)) {
  const TimePoint now = std::chrono::steady_clock::now();
  if (deadline_ && *deadline_ >= TimePoint::max() - now) deadline_.reset();
  if (deadline_) until_ = now + *deadline_;
  if (stop_.stop_possible()) on_stop_.emplace(stop_, OnStop{this});
}

ScopeBase::~ScopeBase() {
  on_stop_.reset();  // waits for the callback if it runs right now
  ops_->drop();
  give_up();
  if (!has_ended_) ops_->close(nullptr);
}

std::optional<Error> ScopeBase::error() { return ops_->tell(); }

void ScopeBase::cancel(std::source_location where) {
  cancel_everything(describe(ErrorKind::cancelled, [] { return "the scope was cancelled"; }).at(where));
}

void ScopeBase::cancel_everything(const Error& why) noexcept {
  ops_->cancel(why);
  give_up();
}

void ScopeBase::give_up() noexcept {
  for (const auto& call : ops_->take_calls()) DeviceParts::state(device_)->engine().give_up(*call);
}

EndOfScope ScopeBase::end() { return {device_, std::exchange(has_ended_, true) ? nullptr : ops_}; }

void ScopeBase::fail_with(const Error& error) { ops_->fail_with(error); }

bool ScopeBase::goes_on(const std::source_location& where) {
  if (ops_->has_failed()) {
    give_up();
    return false;
  }
  if (has_ended_)
    ops_->fail_with(
        describe(ErrorKind::invalid_argument, [] { return "the scope has ended: make another one"; }).at(where));
  else if (deadline_ && std::chrono::steady_clock::now() >= until_)
    ops_->fail_with(describe(ErrorKind::deadline_exceeded, [&] {
                      return "the " + to_string(*deadline_) + " of the scope are over";
                    }).at(where));
  else if (Cell::current_cell() && ops_->under_way() > kMostUnderWay)
    ops_->fail_with(describe(ErrorKind::queue_full, [] {
                      return std::to_string(kMostUnderWay) +
                             " ops of the scope are under way; co_await one of its reads now and then";
                    }).at(where));
  return !ops_->has_failed();
}

bool ScopeBase::prepare(CallBase& call, const std::source_location& where) {
  if (!goes_on(where)) return false;
  if (call.call_->settled()) return true;  // it was refused when it was made, and says so
  if (call.device_ != DeviceParts::state(device_)) {
    ops_->fail_with(of_another_device(*call.call_).at(where));
    return false;
  }
  if (deadline_) limit(call, true);
  if (!call.stop_token_.stop_possible()) call.stop_token_ = ops_->stop_of_waiters();
  // It counts when it has ended well: whoever waits for it may be cut off.
  for (MustWrite& one : must_write_) one.is_being_written = writes(*call.call_, one);
  return true;
}

std::optional<Error> ScopeBase::error_with(const Error* own) {
  if (own) ops_->fail_with(*own);
  for (MustWrite& one : must_write_) one.is_written |= std::exchange(one.is_being_written, false) && !own;
  return ops_->tell();
}

void ScopeBase::run_op(Call<void> call, const std::source_location& where) {
  CallBase& base = call;
  base.set_place(where);
  const bool goes = goes_on(where);
  if (base.refuses_to_start()) {  // when it was made, most likely
    if (const Result<void> refused = base.take(); goes && !refused) ops_->fail_with(refused.error());
    return;
  }
  if (base.device_ != DeviceParts::state(device_)) {
    if (goes) ops_->fail_with(of_another_device(*base.call_).at(where));
    return;
  }
  if (!goes && base.call_->sealing != Sealing::none) return;  // it writes nothing, so it needs no place in the order
  if (deadline_ || !goes) limit(base, goes);
  const bool can_wait = !Cell::current_cell();
  if (!can_wait && !goes) base.refuse_when_full();
  for (MustWrite& one : must_write_) one.is_written |= writes(*base.call_, one);
  const auto take_in = [&](const auto& self, OpCall& op) -> void {
    if (op.before) self(self, *op.before);
    if (!has_ended_) {
      op.has_group = true;
      op.group = ops_;
      op.number_in_group = ops_->one_more();
    }
    if (goes) return;
    op.is_condemned = true;
    op.evidence = ops_->why();
  };
  take_in(take_in, *base.call_);
  if (can_wait)
    submit_or_wait(base);
  else
    (void)base.submit_above_limit();
  if (!goes) return;
  for (IntrusivePtr<OpCall> op = base.call_; op; op = op->before) ops_->note(op);
  if (ops_->has_failed()) give_up();  // somebody may have cancelled it meanwhile
}

/// An op that is not taken has told the group.
void ScopeBase::submit_or_wait(CallBase& call) {
  if (!call.prepares_alone()) return;
  if (call.device_->options().await_each) [[unlikely]]
    return static_cast<void>(call.submit_and_wait_anywhere());
  if (call.device_->engine().submit_if_room(call.call_)) return;
  try {
    if (!call.stop_token_.stop_possible()) call.stop_token_ = ops_->stop_of_waiters();
    (void)static_cast<Result<void>>(call.wait_for_room());
  } catch (const std::bad_alloc&) {  // the engine has not seen it
    OpCall& op = *call.call_;
    op.ended_in_engine.store(true, std::memory_order_release);
    if (op.has_group) ops_->op_has_ended(op.number_in_group, fail(ErrorKind::out_of_memory));
  }
}

void ScopeBase::must_write(const AnyArray& array) { must_write_.push_back({array}); }

bool ScopeBase::writes(const OpCall& call, const MustWrite& one) noexcept {
  for (const OpCall* op = &call; op; op = op->before.get())
    for (const BlockUse& use : op->uses.all())
      if ((use.touch.writes || op->ends_a_write) && use.block == one.array.block()) return true;
  return false;
}

void ScopeBase::fail_unless_written(const std::source_location& where) {
  for (const MustWrite& one : must_write_)
    if (!one.is_written && one.array.element_count() > 0)
      ops_->fail_with(describe(ErrorKind::invalid_argument, [&] {
                        return "commit: nothing in the scope writes the next version of an array " +
                               one.array.shape().to_string() + " that it has asked for";
                      }).at(where));
}

/// What is left for the scope, unless the op has less. An op that is not run has no limit: its turn comes.
void ScopeBase::limit(CallBase& call, bool is_run) noexcept {
  OpCall& op = *call.call_;
  if (!is_run) return op.deadline_after.reset();
  const Duration left = std::max(Duration(1), Duration(until_ - std::chrono::steady_clock::now()));
  op.deadline_after = std::min(left, op.deadline_after.value_or(left));
}

}  // namespace troupe::inline v0::detail
