// The part of a scope that knows no family of ops: one deadline, one error, one cancellation for ops that belong
// together. Users have `Scope` (troupe/library/scope/scope.hpp).
#pragma once

#include <optional>
#include <source_location>
#include <stop_token>
#include <utility>
#include <vector>

#include "troupe/device/device.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What a scope can be told.
struct ScopeOptions {
  /// For all of its ops together, from when the scope is made. An op that has not begun by then never begins; one that
  /// runs is stopped together with its worker. None: they may take as long as they like.
  std::optional<Duration> deadline = {};
  /// When a stop is requested, the scope ends in `cancelled`, and what has not begun never begins.
  std::stop_token stop = {};
};

template <class R>
class ScopedCall;

namespace detail {

class OpsOfScope;

/// Waits for the end of all ops of a scope: the first error in their order, or none. Await it, or call `get`.
class [[nodiscard("await it, or call get()")]] EndOfScope {
 public:
  using troupe_awaitable = void;

  EndOfScope(EndOfScope&& other) noexcept;
  EndOfScope& operator=(EndOfScope&&) = delete;
  ~EndOfScope();

  /// Waits in this thread. Inside a handler it would hold up the dispatcher: there it ends in `invalid_argument`.
  [[nodiscard("an op may have failed, and nothing else says so")]] Result<void> get() &&;

  bool await_ready() const noexcept { return !ops_; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    start_in(waiter.promise().home(), waiter);
  }
  [[nodiscard("an op may have failed, and nothing else says so")]] Result<void> await_resume();

 private:
  friend class ScopeBase;
  EndOfScope(Device device, IntrusivePtr<OpsOfScope> ops);
  void start_in(Cell& home, std::coroutine_handle<> waiter) noexcept;
  void wait_for_ops() noexcept;

  Device device_;
  IntrusivePtr<OpsOfScope> ops_;  // null when somebody else asked before, or this one has begun to wait
  IntrusivePtr<OpsOfScope> waited_for_;
  IntrusivePtr<Outcome<void>> end_;
  bool is_waiting_ = false;
};

/// One thread or one task uses it at a time; `cancel` can be called by any.
class ScopeBase {
 public:
  ScopeBase(const ScopeBase&) = delete;
  ScopeBase& operator=(const ScopeBase&) = delete;

  /// The device that it was made for; an op of another one fails the scope.
  const Device& device() const noexcept { return device_; }
  /// The first error so far, in the order of the ops: one that still runs may fail, too.
  std::optional<Error> error();
  /// Ends in `cancelled`; what has not begun never begins. Any thread.
  void cancel(std::source_location where = std::source_location::current());
  /// When all ops of the scope have ended: their first error, or none. The scope takes no more ops.
  EndOfScope end();

 protected:
  ScopeBase(Device device, ScopeOptions options, const std::source_location& where);
  /// Gives up what has not begun. An error that nobody has been told is logged.
  ~ScopeBase();

  /// Submits an op that nobody waits for. Where the scope has failed, the op only keeps its place in the order: what it
  /// would have written says why it is not good.
  void run_op(Call<void> call, const std::source_location& where);
  /// False when the scope has failed, has ended, or is past its deadline, which is its error then.
  bool goes_on(const std::source_location& where);
  void fail_with(const Error& error);
  /// An op of the scope has to write this array: `fail_unless_written` looks whether one does.
  void must_write(const AnyArray& array);
  void fail_unless_written(const std::source_location& where);

 private:
  struct MustWrite {
    AnyArray array;
    bool is_written = false;
    bool is_being_written = false;  // by the call that somebody waits for
  };
  template <class R>
  friend class troupe::ScopedCall;
  struct OnStop {
    ScopeBase* scope;
    void operator()() const noexcept { scope->cancel_everything(Error(ErrorKind::cancelled)); }
  };

  /// Before a call that somebody waits for is submitted: false when the scope has failed.
  bool prepare(CallBase& call, const std::source_location& where);
  /// The scope's error, if there is one, instead of the call's own end.
  std::optional<Error> error_with(const Error* own);
  void cancel_everything(const Error& why) noexcept;
  void limit(CallBase& call, bool is_run) noexcept;
  static bool writes(const OpCall& call, const MustWrite& one) noexcept;
  void submit_or_wait(CallBase& call);
  void give_up() noexcept;

  Device device_;
  IntrusivePtr<OpsOfScope> ops_;
  std::optional<Duration> deadline_;
  TimePoint until_ = TimePoint::max();
  std::stop_token stop_;
  std::optional<std::stop_callback<OnStop>> on_stop_;
  std::vector<MustWrite> must_write_;
  bool has_ended_ = false;
};

}  // namespace detail

/// A call within a scope: what it gives, or the first error of the scope. Await it, or call `get`; the scope must still
/// be there then.
template <class R>
class [[nodiscard("an op is submitted when it is awaited, or by get()")]] ScopedCall {
 public:
  using troupe_awaitable = void;

  ScopedCall(detail::ScopeBase& scope, Call<R> call) noexcept : scope_(&scope), call_(std::move(call)) {}

  /// Submits, and waits in this thread.
  [[nodiscard("an op may have failed, and nothing else says so")]] Result<R> get(
      std::source_location where = std::source_location::current()) && {
    if (!scope_->prepare(call_, where)) return fail(*scope_->error_with(nullptr));
    return finish(std::move(call_).get(where));
  }

  /// For `co_await`: where in the program it is awaited.
  void troupe_awaited_at(const std::source_location& where) {
    has_failed_ = !scope_->prepare(call_, where);
    call_.troupe_awaited_at(where);
  }
  bool await_ready() noexcept { return has_failed_ || call_.await_ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    call_.await_suspend(waiter);
  }
  [[nodiscard("an op may have failed, and nothing else says so")]] Result<R> await_resume() {
    if (has_failed_) return fail(*scope_->error_with(nullptr));
    return finish(call_.await_resume());
  }

 private:
  Result<R> finish(Result<R> end) {
    if (std::optional<Error> first = scope_->error_with(end ? nullptr : &end.error())) return fail(*std::move(first));
    return end;
  }

  detail::ScopeBase* scope_;
  Call<R> call_;
  bool has_failed_ = false;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
