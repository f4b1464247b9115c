// The kernels of one .cu file in a context. Each is looked up by its name when it is first asked for; from then on it
// is in a slot of its own, and to find it is to read that: no lock, no text.
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "troupe/backend/cuda/driver/cuda_context.hpp"
#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

/// An image in a context, loaded when it is first needed. When that fails, for want of memory perhaps, the next call
/// tries again.
class LoadedImage {
 public:
  /// By the whole name, without "troupe_". From any thread. The driver's error when the image has no such kernel.
  Result<CUfunction> find(const CudaContext& context, std::string_view image, const std::string& kernel);

 private:
  std::mutex mutex_;
  CUmodule module_ = nullptr;  // for as long as the context lives
};

template <KernelNames Names>
class KernelTable {
 public:
  /// From any thread; for one context only. The driver's error when there is no such kernel for these types.
  Result<CUfunction> find(const CudaContext& context, Names kernel, KernelTypes types) {
    std::atomic<CUfunction>& slot = slots_[static_cast<std::size_t>(kernel) * KernelTypes::kCount + types.index()];
    // Whoever sees a function here sees what the driver did to load it (acquire). Threads that look for the same one at
    // the same time store the same.
    if (CUfunction found = slot.load(std::memory_order_acquire)) [[likely]]
      return found;
    CUfunction found =
        TROUPE_TRY(image_.find(context, file_of(Names{}).image, std::string(spelling(kernel)) + types.text()));
    slot.store(found, std::memory_order_release);
    return found;
  }

 private:
  LoadedImage image_;
  std::array<std::atomic<CUfunction>, kKernelsIn<Names> * KernelTypes::kCount> slots_{};
};

}  // namespace troupe::cuda
