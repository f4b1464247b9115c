#include <sched.h>

#include "troupe/actor/ask.hpp"
#include "troupe/actor/cell.hpp"
#include "troupe/actor/pool.hpp"
#include "troupe/actor/system_core.hpp"
#include "troupe/actor/timeout.hpp"
#include "troupe/core/park.hpp"
#include "troupe/core/without_memory.hpp"

namespace troupe::inline v0::detail {
namespace {

/// A thread that sleeps while a pool keeps all cores busy gets one back when somebody's time slice ends: after 3 ms on
/// 16 cores, although the pool has answered after 0.2 ms. So long it keeps the one that it has.
constexpr Duration kKeepsCore = std::chrono::microseconds(500);

template <class Done>
bool spin_on_core(const Done& done, Duration limit) noexcept {
  const TimePoint until = std::chrono::steady_clock::now() + limit;
  do {
    for (int i = 0; i < Spin::kLooksInARow; ++i) {
      if (done()) return true;
      relax_core();
    }
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

/// A thread that yields its core forfeits its time slice (Linux 6.18), and the thread that answers it goes on with
/// other work there, for milliseconds. A thread that sleeps forfeits nothing: the answer wakes it at once. So it sleeps
/// when the pool that should answer waits for its core.
template <class Done>
bool spin_unless_in_the_way(const Done& done) noexcept {
  for (int i = 0; i < Spin::kLooksInARow; ++i) {
    if (done()) return true;
    relax_core();
  }
  return !Pool::Awaiting::is_in_the_way() && spin_until(done);
}

}  // namespace

bool Pending::claim() noexcept {
  std::uint32_t state = state_.load(std::memory_order_relaxed);
  while (state < kClaimed)
    if (state_.compare_exchange_weak(state, kClaimed, std::memory_order_acquire, std::memory_order_relaxed)) {
      wake_thread_ = state == kOpenAndAsleep;
      return true;
    }
  return false;
}

void Pending::settle_and_release() noexcept {
  // Release: a thread that sees `kDone` sees the outcome. A waiting thread may see it and let go at once; the word
  // still exists then, because the caller owns a share.
  state_.store(kDone, std::memory_order_release);
  if (home_) return home_->post(arrival_);  // the arrival takes over the caller's share
  if (wake_thread_) futex_wake_all(state_);
  release();
}

void Pending::wait_in(Cell& home, std::coroutine_handle<> waiter) noexcept {
  home_ = &home;
  waiter_ = waiter;
}

void Pending::abandon() noexcept {
  waiter_ = nullptr;
  if (!claim() && home_) home_->expect_arrival();  // once claimed, a handler that has not begun never begins
}

bool Pending::wait_in_thread(SystemCore& core) noexcept {
  const auto done = [this] { return state_.load(std::memory_order_acquire) == kDone; };
  if (core.is_virtual()) return core.drive_until(done);
  if (core.keep_core()) {
    const bool is_done = spin_on_core(done, kKeepsCore);
    core.core_was_kept();
    if (is_done) return true;
  } else if (spin_unless_in_the_way(done)) {
    return true;
  }
  std::uint32_t state = kOpen;
  state_.compare_exchange_strong(state, kOpenAndAsleep, std::memory_order_acq_rel);
  while (!done()) {
    if (state_.load(std::memory_order_acquire) == kOpenAndAsleep)
      futex_wait(state_, kOpenAndAsleep);
    else
      sched_yield();  // somebody has claimed it, and is storing the outcome right now
  }
  return true;
}

void Pending::Arrival::run(Cell& cell) noexcept {
  const std::coroutine_handle<> waiter = std::exchange(pending_.waiter_, nullptr);
  if (waiter)
    waiter.resume();
  else
    cell.arrived();
  pending_.release();
}

void Pending::Arrival::drop(Cell& cell, const Error&) noexcept {
  cell.arrived();  // a cell drops nodes only after it has destroyed its coroutines, so nobody waits
  pending_.release();
}

void Timeout::fire() noexcept {
  pending_->fail_with(describe(ErrorKind::timeout, [&] { return "no answer within " + to_string(after_); }));
}

}  // namespace troupe::inline v0::detail
