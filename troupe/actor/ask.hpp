// A question on its way to its answer. `ref.ask<Get>()` makes one. Nothing is sent before you await it or call `get`.
//
//   Result<int> a = co_await counter.ask<Get>();                       // in a Task
//   Result<int> b = counter.ask<Get>().wait_at_most(50ms).get();             // in a plain thread
//   Result<int> c = co_await counter.ask<Get>().cancel_on(token);      // ends in `cancelled` on request_stop()
//
// An ask ends exactly once: in the reply, in the error that the handler returned or threw, or in `stopped`,
// `restarted`, `mailbox_full`, `timeout`, `cancelled` or `out_of_memory`; an ask of an empty ref ends in
// `invalid_argument`. If the asker gives up before the handler begins, the handler never begins. If the asker is gone
// later, the reply is dropped.
#pragma once

#include <atomic>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "troupe/actor/cell.hpp"
#include "troupe/actor/mailbox.hpp"
#include "troupe/actor/task.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/core/intrusive.hpp"
#include "troupe/core/result.hpp"

// Something that one side waits for and the other side ends: an ask, a sleep, a stop request. It ends exactly once: the
// thread that wins `claim` stores the outcome and settles it; all others have lost and do nothing.
//
// The waiting side is a coroutine of an actor (its home) or a plain thread. Both sides share the ownership. The ending
// side never touches a coroutine frame: it posts to the home's control lane, and the home's turn resumes the frame if
// the frame still exists. So a frame may be destroyed at any moment of its home's turn.

#pragma GCC visibility push(default)
namespace troupe::inline v0::detail {

class SystemCore;

class Pending : public RefCounted {
 public:
  bool ended() const noexcept { return state_.load(std::memory_order_acquire) >= kClaimed; }
  /// True when it has ended and the outcome is stored.
  bool settled() const noexcept { return state_.load(std::memory_order_acquire) == kDone; }

  // ---- the ending side: any thread that owns a share ----

  /// True for exactly one caller, which must then store the outcome and settle it.
  bool claim() noexcept;
  /// Publishes the outcome, wakes the waiting side and gives up the caller's share.
  void settle_and_release() noexcept;
  /// Ends it with an error, unless it has ended already. Gives up the caller's share.
  void fail_and_release(const Error& error) noexcept {
    if (!claim()) return release();
    store_error(error);
    settle_and_release();
  }
  /// The same, but the caller keeps its share.
  void fail_with(const Error& error) noexcept {
    retain();
    fail_and_release(error);
  }

  // ---- the waiting side ----

  /// From now on a coroutine of `home` waits. Call it on the home's turn, before anybody can end the wait.
  void wait_in(Cell& home, std::coroutine_handle<> waiter) noexcept;
  /// The coroutine is about to be destroyed and must not be resumed. Call it on the home's turn. If it has not ended,
  /// this claims it, and nobody will post to the home. If it has ended, a post to the home is on its way: this tells
  /// the home to expect it, and the home does not stop before it has come.
  void abandon() noexcept;
  /// A plain thread waits here until it has ended. When time is virtual, the thread runs the steps of `core` itself;
  /// false when nothing is left to run that could end it.
  bool wait_in_thread(SystemCore& core) noexcept;

 protected:
  explicit Pending(std::uint32_t owners = 1) noexcept : RefCounted(owners), arrival_(*this) {}
  ~Pending() override = default;

 private:
  /// The node that is posted to the home when the wait has ended.
  class Arrival final : public Node {
   public:
    explicit Arrival(Pending& pending) noexcept : pending_(pending) {}
    void run(Cell& cell) noexcept override;
    void drop(Cell& cell, const Error& why) noexcept override;

   private:
    Pending& pending_;
  };

  virtual void store_error(const Error& error) noexcept = 0;

  static constexpr std::uint32_t kOpen = 0, kOpenAndAsleep = 1, kClaimed = 2, kDone = 3;

  std::atomic<std::uint32_t> state_{kOpen};
  bool wake_thread_ = false;        // written only by the thread that has won `claim`
  Cell* home_ = nullptr;            // null when a thread waits; `abandon` says why the home still exists
  std::coroutine_handle<> waiter_;  // touched on the home's turn only; null after `abandon`
  Arrival arrival_;
};

/// A `Pending` that ends in a `Result<R>`.
template <class R>
class Outcome : public Pending {
 public:
  using Pending::Pending;

  /// Ends it with `result`: true. If it has ended already, drops `result`: false. Gives up the caller's share.
  bool complete_and_release(Result<R>&& result) noexcept {
    if (!claim()) {
      release();
      return false;
    }
    result_ = std::move(result);
    settle_and_release();
    return true;
  }
  /// Gives the result to the waiting side. Call it once, after the end.
  Result<R> take() { return std::move(result_); }

 protected:
  void store_error(const Error& error) noexcept override { result_ = Unexpected(error); }

 private:
  Result<R> result_{std::unexpect, ErrorKind::internal};
};

}  // namespace troupe::inline v0::detail
#pragma GCC visibility pop

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {

class Timeout;

/// The part of an ask that does not depend on the reply's type: sending, giving up, and being woken.
class AskBase {
 public:
  AskBase(AskBase&& other) noexcept;
  AskBase& operator=(AskBase&&) = delete;
  ~AskBase();

 protected:
  AskBase(IntrusivePtr<Cell> target, IntrusivePtr<Pending> pending, EnvelopeBase* envelope, bool is_tell) noexcept;

  /// True when the ask cannot start: its outcome is an error already, and nothing was sent.
  bool refuses_to_start() noexcept;
  void start_in(Cell& home, std::coroutine_handle<> waiter) noexcept;
  void start_and_wait_in_thread() noexcept;
  void resumed() noexcept;

  std::optional<Duration> timeout_;
  std::stop_token stop_token_;

 private:
  struct OnStop {
    Pending* pending;
    void operator()() const noexcept { pending->fail_with(Error(ErrorKind::cancelled)); }
  };

  void send() noexcept;
  void send_ask();
  void send_tell();
  void watch_for_its_end();
  void give_up_watching() noexcept;

  IntrusivePtr<Cell> target_;
  IntrusivePtr<Pending> pending_;
  EnvelopeBase* envelope_;  // owned by this object until it is sent
  IntrusivePtr<Timeout> timer_;
  std::unique_ptr<std::stop_callback<OnStop>> on_stop_;
  const bool is_tell_;  // the ask ends as soon as the message is in the mailbox
  bool waits_ = false;  // it was sent, and this side has not taken note of its end
};

}  // namespace detail

/// A question on its way to its answer, which is a `Result<R>`: await it, or call `get`.
template <class R>
class [[nodiscard("an ask is sent when it is awaited or when get() is called")]] Ask : public detail::AskBase {
 public:
  using troupe_awaitable = void;

  /// `E` is an envelope: it holds the message and the place for the reply. A new envelope has two owners, the asker and
  /// the mailbox. This constructor takes over the asker's share.
  template <class E>
  Ask(detail::IntrusivePtr<detail::Cell> target, E* envelope, bool is_tell = false) noexcept
      : detail::AskBase(std::move(target), detail::IntrusivePtr<detail::Pending>::adopt(envelope), envelope, is_tell),
        outcome_(envelope) {}
  Ask(Ask&&) noexcept = default;

  /// The ask ends in `timeout` if no answer comes within `limit`. If `limit` is zero or less, it ends at once, and
  /// nothing is sent.
  Ask&& wait_at_most(Duration limit) && noexcept {
    timeout_ = limit;
    return std::move(*this);
  }
  /// The ask ends in `cancelled` when a stop is requested.
  Ask&& cancel_on(std::stop_token token) && noexcept {
    stop_token_ = std::move(token);
    return std::move(*this);
  }

  /// Sends the message, and blocks this thread until the answer comes. Inside a handler that would hold up the
  /// dispatcher, so there it ends in `invalid_argument` at once.
  Result<R> get() && {
    if (!refuses_to_start()) start_and_wait_in_thread();
    return outcome_->take();
  }

  bool await_ready() noexcept { return refuses_to_start(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    start_in(waiter.promise().home(), waiter);
  }
  Result<R> await_resume() {
    resumed();
    return outcome_->take();
  }

  /// Turns the ask into a task, for `when_all` and `when_any`.
  // NOLINTNEXTLINE(google-explicit-constructor): so that asks can be put into a vector of tasks
  operator Task<Result<R>>() && { return as_task(std::move(*this)); }

 private:
  static Task<Result<R>> as_task(Ask ask) { co_return co_await std::move(ask); }

  detail::Outcome<R>* outcome_;  // owned by `pending_`
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
