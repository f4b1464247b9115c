// Waiting for another thread: spin a little, then sleep in the kernel. Parking policy, not cleverness, decides
// latency between threads: a hand-over that is answered within the spin costs no system call on either side.
#pragma once

#include <atomic>
#include <cstdint>

#include "troupe/core/clock.hpp"

namespace troupe::inline v0 {

/// How long a thread looks for work or for its reply before it sleeps. Long enough to cover a hand-over between
/// running threads, short enough that an idle system costs nothing.
inline constexpr Duration kSpinTime = std::chrono::microseconds(20);

/// Tells the core that this is a busy wait.
inline void relax_core() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` is a no-op on server cores; `isb` waits about as long as x86's pause
#endif
}

/// The pace of a busy wait: the caller looks `kLooksInARow` times in a row, then asks `goes_on`, then looks again.
class Spin {
 public:
  static constexpr int kLooksInARow = 64;

  explicit Spin(Duration limit) noexcept;
  /// Whether the core may pause between two looks. A pause takes up to 50 ns, in which nothing is seen; so a spin with
  /// a limit above `kSpinTime` does not pause until that time has passed.
  bool rests() const noexcept { return rests_; }
  /// After each row of looks: lets other threads of an overcommitted core run (once it rests), and says whether to go
  /// on. A thread that did not get its core back soon keeps it for a while.
  bool goes_on() noexcept;

 private:
  const TimePoint start_;
  const Duration limit_;
  bool rests_;
};

/// Spins until `done()` or `limit` has passed. Returns the last answer of `done()`.
template <class Done>
bool spin_until(const Done& done, Duration limit = kSpinTime) noexcept {
  if (done()) return true;
  Spin spin(limit);
  do {
    for (int i = 0; i < Spin::kLooksInARow; ++i) {
      if (done()) return true;
      if (spin.rests()) relax_core();
    }
  } while (spin.goes_on());
  return done();
}

/// Sleeps while `word == expected`, until it is woken or `until` has come. May wake for no reason: call it in a loop.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimePoint until) noexcept;
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept;

/// One thread's place to sleep. A token given while nobody sleeps is kept, so a wake-up is never lost.
class Parker {
 public:
  /// Sleeps until a token is there, and takes it. Only the owning thread calls it.
  void park() noexcept;
  /// The same, but no longer than until `until`; true when it took a token.
  bool park_until(TimePoint until) noexcept;
  /// Gives the token. Any thread; what it wrote before is visible to the thread that wakes (release).
  void unpark() noexcept;

 private:
  static constexpr std::uint32_t kEmpty = 0, kToken = 1, kSleeping = 2;
  std::atomic<std::uint32_t> state_{kEmpty};
};

}  // namespace troupe::inline v0
