// The memory that threads of a kernel need on a thread of the CPU: a stack for each that waits, and the block's dynamic
// shared memory. Made when it is first needed, and kept for the next launch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::host {

class KernelStacks {
 public:
  /// Of a thread of a kernel. Below it is memory that nobody may touch: a stack that overflows ends the worker.
  static constexpr std::size_t kStackBytes = std::size_t{256} << 10;

  /// Of the calling thread; they last as long as it does. Null when there is no address space for them.
  static KernelStacks* of_this_thread() noexcept;

  KernelStacks() noexcept;
  ~KernelStacks();
  KernelStacks(const KernelStacks&) = delete;
  KernelStacks& operator=(const KernelStacks&) = delete;

  /// The upper end of a stack, 0 to 1023. Null when there is no memory.
  void* stack(std::uint32_t number) noexcept;
  /// As large as the largest that a launch may ask for. Behind it is memory that nobody may touch.
  void* shared() noexcept;

 private:
  std::byte* all_ = nullptr;  // null: could not be made
  std::byte* shared_ = nullptr;
  std::uint32_t usable_ = 0;  // stacks, from the first
};

}  // namespace troupe::host
