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

#include <concepts>
#include <memory>
#include <optional>
#include <stop_token>

#include "troupe/actor/cell.hpp"
#include "troupe/actor/pending.hpp"
#include "troupe/actor/task.hpp"

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
