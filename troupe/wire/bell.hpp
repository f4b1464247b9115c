// How one side sleeps until the other has something for it, across processes. The sleeper says that it is about to
// sleep, looks once more, and sleeps; the other side publishes, and rings only if somebody said that it sleeps. When
// both are busy nobody makes a system call.
//
// Both sides' accesses are sequentially consistent: either the sleeper's last look sees what was published, or the
// publisher sees the sleeper. (What is looked at must be published and read the same way, as Ring and Timeline do.)
#pragma once

#include <atomic>
#include <cstdint>

#include "troupe/core/clock.hpp"
#include "troupe/wire/shared_futex.hpp"

namespace troupe::inline v0::wire {

class Bell {
 public:
  /// The sleeper: from now on a ring is heard. Look once more before `sleep`.
  void listen() noexcept { state_.store(kListening, std::memory_order_seq_cst); }
  /// The sleeper has seen something: nobody needs to ring.
  void ignore() noexcept { state_.store(kQuiet, std::memory_order_seq_cst); }
  /// Sleeps until somebody rings or `until` has come. May wake for no reason.
  void sleep(TimePoint until) noexcept {
    if (until == TimePoint::max())
      shared_futex_wait(state_, kListening);
    else
      shared_futex_wait(state_, kListening, until);
  }
  bool listening() const noexcept { return state_.load(std::memory_order_seq_cst) == kListening; }

  /// Another thread of the sleeper's side looks for a while in its place, and the sleeper may sleep on. Nobody rings
  /// until `listen`.
  void look() noexcept { state_.store(kLookedFor, std::memory_order_seq_cst); }
  /// The sleeper sleeps while another thread looks; a ring after that thread's `listen` wakes it. Returns at once when
  /// no thread looks any more.
  void sleep_while_looked_for(TimePoint until) noexcept { shared_futex_wait(state_, kLookedFor, until); }

  /// Wakes the sleeper whatever the word says: bad code may have written over it.
  void wake() noexcept {
    state_.store(kQuiet, std::memory_order_seq_cst);
    shared_futex_wake_all(state_);
  }

  /// The other side, after it has published: wakes the sleeper if there is one.
  void ring() noexcept {
    std::uint32_t expected = kListening;
    if (listening() && state_.compare_exchange_strong(expected, kQuiet, std::memory_order_seq_cst))
      shared_futex_wake_all(state_);
  }

 private:
  static constexpr std::uint32_t kQuiet = 0, kListening = 1, kLookedFor = 2;
  std::atomic<std::uint32_t> state_{kQuiet};
};

}  // namespace troupe::inline v0::wire
