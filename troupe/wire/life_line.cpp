#include "troupe/wire/life_line.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "troupe/wire/shared_futex.hpp"

namespace troupe::inline v0::wire {

void LifeLine::hold() noexcept {
  // The kernel reads this list when the thread ends, so it lives as long as the thread. It takes the place of the one
  // that glibc keeps for robust mutexes.
  thread_local robust_list entry{};
  thread_local robust_list_head held{};
  entry.next = &held.list;
  held.list.next = &entry;
  held.futex_offset = reinterpret_cast<char*>(&word_) - reinterpret_cast<char*>(&entry);
  // The kernel wakes a sleeper only if this bit says that there is one.
  word_.store(static_cast<std::uint32_t>(syscall(SYS_gettid)) | FUTEX_WAITERS, std::memory_order_seq_cst);
  syscall(SYS_set_robust_list, &held, sizeof held);
}

bool LifeLine::wait_until_cut() const noexcept {
  const std::uint32_t held = word_.load(std::memory_order_seq_cst);
  std::uint32_t now = held;
  while ((now & FUTEX_TID_MASK) != 0 && now == held) {
    shared_futex_wait(word_, held);
    now = word_.load(std::memory_order_seq_cst);
  }
  return (now & FUTEX_OWNER_DIED) != 0;
}

void LifeLine::let_go() noexcept {
  word_.store(0, std::memory_order_seq_cst);
  shared_futex_wake_all(word_);
}

}  // namespace troupe::inline v0::wire
