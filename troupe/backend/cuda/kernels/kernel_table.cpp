#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/kernels/kernel_table.hpp"

#include "troupe/backend/cuda/kernels/kernel_image.hpp"

namespace troupe::cuda {

Result<CUfunction> LoadedImage::find(const CudaContext& context, std::string_view image, const std::string& kernel) {
  const Driver& driver = context.driver();
  const std::lock_guard lock(mutex_);
  if (!module_) {
    CUmodule loaded = nullptr;
    TROUPE_TRY(TROUPE_CUDA(driver, cuModuleLoadData, &loaded, kernel_image(image).data()));
    module_ = loaded;
  }
  CUfunction function = nullptr;
  TROUPE_TRY(TROUPE_CUDA(driver, cuModuleGetFunction, &function, module_, ("troupe_" + kernel).c_str()));
  return function;
}

AnyKernelTable& KernelTables::add(std::unique_ptr<AnyKernelTable> table) {
  const std::lock_guard lock(mutex_);
  std::atomic<AnyKernelTable*>& place = place_of(table->key());
  if (AnyKernelTable* const made = place.load(std::memory_order_relaxed)) return *made;  // by another thread
  owners_.push_back(std::move(table));
  place.store(owners_.back().get(), std::memory_order_release);
  return *owners_.back();
}

}  // namespace troupe::cuda

#endif
