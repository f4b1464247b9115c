#include "troupe/core/park.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace troupe::inline v0 {
namespace {

// A core that is given up to a thread that computes comes back when its slice is over, milliseconds later. Threads that
// share a core with such a one do better to spin and sleep: a thread that is woken runs at once.
constexpr Duration kCoreIsLost = std::chrono::microseconds(200);
constexpr Duration kKeepsCoreFor = std::chrono::seconds(1);
constinit thread_local TimePoint keeps_core_until{};

static_assert(sizeof(std::atomic<std::uint32_t>) == 4, "the kernel waits on exactly these four bytes");

void wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, const timespec* until) noexcept {
  // FUTEX_WAIT_BITSET takes an absolute time of the monotonic clock, which is what steady_clock is on Linux.
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

Spin::Spin(Duration limit) noexcept
    : start_(std::chrono::steady_clock::now()), limit_(limit), rests_(limit <= kSpinTime) {}

bool Spin::goes_on() noexcept {
  TimePoint now = std::chrono::steady_clock::now();
  if (rests_ && now >= keeps_core_until) {
    const TimePoint before = now;
    sched_yield();  // takes a third of a microsecond, in which nothing is seen either
    now = std::chrono::steady_clock::now();
    if (now - before > kCoreIsLost) keeps_core_until = now + kKeepsCoreFor;
  }
  const Duration passed = now - start_;
  rests_ = rests_ || passed > kSpinTime;
  return passed < limit_;
}

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimePoint until) noexcept {
  const std::int64_t ns = until.time_since_epoch().count();
  const timespec at{.tv_sec = static_cast<time_t>(ns / 1'000'000'000),
                    .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
  wait(word, expected, &at);
}

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  wait(word, expected, nullptr);
}

void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

void Parker::park() noexcept { park_until(TimePoint::max()); }

bool Parker::park_until(TimePoint until) noexcept {
  std::uint32_t expected = kEmpty;
  if (state_.compare_exchange_strong(expected, kSleeping, std::memory_order_acquire)) {
    while (state_.load(std::memory_order_acquire) == kSleeping) {
      if (until == TimePoint::max()) {
        futex_wait(state_, kSleeping);
      } else {
        futex_wait(state_, kSleeping, until);
        if (std::chrono::steady_clock::now() >= until) break;
      }
    }
  }
  return state_.exchange(kEmpty, std::memory_order_acquire) == kToken;
}

void Parker::unpark() noexcept {
  if (state_.exchange(kToken, std::memory_order_release) == kSleeping) futex_wake_all(state_);
}

}  // namespace troupe::inline v0
