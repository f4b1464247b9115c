// Something one side waits for and the other side ends: an ask, a sleep, a stop request. It ends exactly once: whoever
// wins `claim` stores the outcome and settles it; everybody else has lost and does nothing.
//
// The waiting side is a coroutine of an actor (its home) or a plain thread. Both sides share the ownership, and the
// ending side never touches a coroutine frame: it posts to the home's control lane, and the home's turn resumes the
// frame if it is still there. So a frame may be destroyed at any moment of its home's turn.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>

#include "troupe/actor/mailbox.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/core/intrusive.hpp"
#include "troupe/core/result.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0::detail {

class SystemCore;

class Pending : public RefCounted {
 public:
  bool ended() const noexcept { return state_.load(std::memory_order_acquire) >= kClaimed; }
  /// It has ended and the outcome is there.
  bool settled() const noexcept { return state_.load(std::memory_order_acquire) == kDone; }

  // ---- the ending side: any thread that owns a share ----

  /// True for exactly one caller ever, who must then store the outcome and settle.
  bool claim() noexcept;
  /// Publishes the outcome, wakes the waiting side and gives up the caller's share.
  void settle_and_release() noexcept;
  /// Ends it with an error, unless it has ended, and gives up the caller's share.
  void fail_and_release(const Error& error) noexcept {
    if (!claim()) return release();
    store_error(error);
    settle_and_release();
  }
  /// The same for a caller who keeps its share.
  void fail_with(const Error& error) noexcept {
    retain();
    fail_and_release(error);
  }

  // ---- the waiting side ----

  /// A coroutine of `home` waits; call before anybody can end it, on the home's turn.
  void wait_in(Cell& home, std::coroutine_handle<> waiter) noexcept;
  /// The coroutine is about to be destroyed: nobody will be resumed. On the home's turn. Either nobody will ever post
  /// to the home, or somebody is about to; then the home is told to expect it and does not go before it has come.
  void abandon() noexcept;
  /// A plain thread waits until it has ended. `core` supplies the steps when time is virtual; false when then nothing
  /// is left that could end it.
  bool wait_in_thread(SystemCore& core) noexcept;

 protected:
  explicit Pending(std::uint32_t owners = 1) noexcept : RefCounted(owners), arrival_(*this) {}
  ~Pending() override = default;

 private:
  /// What arrives at the home when it has ended.
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
  bool wake_thread_ = false;        // written by the claimant only
  Cell* home_ = nullptr;            // null when a thread waits; see `abandon` for why it is still there
  std::coroutine_handle<> waiter_;  // touched on the home's turn only; null when abandoned
  Arrival arrival_;
};

/// A `Pending` that ends in a `Result<R>`.
template <class R>
class Outcome : public Pending {
 public:
  using Pending::Pending;

  /// Ends it with `result`, unless it has ended; then `result` is dropped. Gives up the caller's share. True when this
  /// was its end.
  bool complete_and_release(Result<R>&& result) noexcept {
    if (!claim()) {
      release();
      return false;
    }
    result_ = std::move(result);
    settle_and_release();
    return true;
  }
  /// The waiting side takes the result, once, after the end.
  Result<R> take() { return std::move(result_); }

 protected:
  void store_error(const Error& error) noexcept override { result_ = Unexpected(error); }

 private:
  Result<R> result_{std::unexpect, ErrorKind::internal};
};

}  // namespace troupe::inline v0::detail
#pragma GCC visibility pop
