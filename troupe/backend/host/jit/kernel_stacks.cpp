#include "troupe/backend/host/jit/kernel_stacks.hpp"

#include <sys/mman.h>

#include "troupe/backend/host/jit/include/kernel_abi.h"

namespace troupe::host {
namespace {

constexpr std::size_t kGuardBytes = std::size_t{64} << 10;  // a page, on every machine
constexpr std::size_t kStride = kGuardBytes + KernelStacks::kStackBytes;
constexpr std::size_t kSharedBytes = (TROUPE_KERNEL_MAX_SHARED_BYTES + kGuardBytes - 1) / kGuardBytes * kGuardBytes;
constexpr std::size_t kAllBytes = TROUPE_KERNEL_MAX_THREADS * kStride + kGuardBytes + kSharedBytes + kGuardBytes;

}  // namespace

KernelStacks* KernelStacks::of_this_thread() noexcept {
  thread_local KernelStacks stacks;
  return stacks.all_ ? &stacks : nullptr;
}

KernelStacks::KernelStacks() noexcept {
  void* const all = ::mmap(nullptr, kAllBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return;
  all_ = static_cast<std::byte*>(all);
  shared_ = all_ + TROUPE_KERNEL_MAX_THREADS * kStride + kGuardBytes;
  if (::mprotect(shared_, kSharedBytes, PROT_READ | PROT_WRITE) == 0) return;
  ::munmap(all_, kAllBytes);
  all_ = nullptr;
}

KernelStacks::~KernelStacks() {
  if (all_) ::munmap(all_, kAllBytes);
}

void* KernelStacks::stack(std::uint32_t number) noexcept {
  while (usable_ <= number) {
    if (::mprotect(all_ + usable_ * kStride + kGuardBytes, kStackBytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
    ++usable_;
  }
  return all_ + (number + 1) * kStride;
}

void* KernelStacks::shared() noexcept { return shared_; }

}  // namespace troupe::host
