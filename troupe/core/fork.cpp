#include "troupe/core/fork.hpp"

#include <pthread.h>

namespace troupe::inline v0::detail {

constinit std::atomic<std::uint32_t> forks_so_far{0};

namespace {

struct Left {
  const void* object;
  Left* next;
};
constinit std::atomic<Left*> left{nullptr};

void count_fork() noexcept { forks_so_far.fetch_add(1, std::memory_order_relaxed); }

std::uint32_t counted_forks() noexcept {
  static const int kRegistered = pthread_atfork(nullptr, nullptr, count_fork);
  (void)kRegistered;
  return forks_so_far.load(std::memory_order_relaxed);
}

}  // namespace

ForkMark::ForkMark() noexcept : at_birth_(counted_forks()) {}

Error fork_error() { return Error(ErrorKind::stopped, "this process is a fork; open a System of its own"); }

void leave_in_fork(const void* object) noexcept {
  auto* const one = new Left{object, left.load(std::memory_order_relaxed)};
  while (!left.compare_exchange_weak(one->next, one, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}  // namespace troupe::inline v0::detail
