// Something that one side waits for and the other side ends: an ask, a sleep, a stop request. It ends exactly once: the
// thread that wins `claim` stores the outcome and settles it; all others have lost and do nothing.
//
// The waiting side is a coroutine of an actor (its home) or a plain thread. Both sides share the ownership. The ending
// side never touches a coroutine frame: it posts to the home's control lane, and the home's turn resumes the frame if
// the frame still exists. So a frame may be destroyed at any moment of its home's turn.
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
