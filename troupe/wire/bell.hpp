// How one side sleeps until the other has something for it, across processes. The sleeper says that it is about to
// sleep, looks once more, and sleeps; the other side publishes, and rings only if somebody said so. When both are busy
// nobody makes a system call.
//
// Both sides' accesses are sequentially consistent: either the sleeper's last look sees what was published, or the
// publisher sees the sleeper. (What is looked at must be published and read the same way, as Ring and Timeline do.)
#pragma once

#include <atomic>
#include <cstdint>

#include "troupe/core/clock.hpp"
#include "troupe/wire/shared_futex.hpp"

namespace troupe::wire {

class Bell {
 public:
  /// The sleeper: from now on a ring is heard. Look once more before `sleep`.
  void listen() noexcept { listening_.store(1, std::memory_order_seq_cst); }
  /// The sleeper has seen something: nobody needs to ring.
  void ignore() noexcept { listening_.store(0, std::memory_order_seq_cst); }
  /// Sleeps until rung, until `until`, or for no reason at all.
  void sleep(TimePoint until) noexcept {
    if (until == TimePoint::max())
      shared_futex_wait(listening_, 1);
    else
      shared_futex_wait(listening_, 1, until);
  }
  /// The same while another thread of the sleeper's side looks and has said `ignore`: a ring wakes this one once that
  /// one has said `listen` again. Does not sleep when it has.
  void sleep_while_ignored(TimePoint until) noexcept { shared_futex_wait(listening_, 0, until); }
  bool listening() const noexcept { return listening_.load(std::memory_order_seq_cst) != 0; }

  /// The other side, after it has published: wakes the sleeper if there is one.
  void ring() noexcept {
    if (listening() && listening_.exchange(0, std::memory_order_seq_cst) != 0) shared_futex_wake_all(listening_);
  }

 private:
  std::atomic<std::uint32_t> listening_{0};
};

}  // namespace troupe::wire
