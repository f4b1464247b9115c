#include "troupe/wire/shared_futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace troupe::inline v0::wire {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4, "the kernel waits on exactly these four bytes");
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "a lock would not be shared between processes");

void wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, const timespec* until) noexcept {
  // FUTEX_WAIT_BITSET takes an absolute time of the monotonic clock, which is what steady_clock is on Linux.
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, expected, until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

void shared_futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimePoint until) noexcept {
  const std::int64_t ns = until.time_since_epoch().count();
  if (ns < 0) return;  // long past; the kernel takes no negative time
  const timespec at{.tv_sec = static_cast<time_t>(ns / 1'000'000'000),
                    .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
  wait(word, expected, &at);
}

void shared_futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  wait(word, expected, nullptr);
}

void shared_futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace troupe::inline v0::wire
