#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/op_tools.hpp"

#include <algorithm>

#include "troupe/backend/cuda/kernel_image.hpp"

namespace troupe::cuda {
namespace {

constexpr unsigned kThreadsPerBlock = 256;
constexpr std::int64_t kMaxBlocks = 4096;

}  // namespace

Result<const OwnKernels*> OpTools::kernels() {
  const std::lock_guard lock(kernels_mutex_);
  if (!kernels_) kernels_ = TROUPE_TRY(OwnKernels::load(context_));
  return &*kernels_;
}

Result<CUfunction> OpTools::kernel(std::string_view image, std::string_view name) {
  const std::lock_guard lock(kernels_mutex_);
  auto loaded = images_.find(image);
  if (loaded == images_.end()) {
    Image made;
    TROUPE_TRY(TROUPE_CUDA(context_.driver(), cuModuleLoadData, &made.module, kernel_image(image).data()));
    loaded = images_.emplace(std::string(image), std::move(made)).first;
  }
  auto& kernels = loaded->second.kernels;
  if (const auto found = kernels.find(name); found != kernels.end()) return found->second;
  CUfunction function = nullptr;
  const std::string key(name);
  TROUPE_TRY(
      TROUPE_CUDA(context_.driver(), cuModuleGetFunction, &function, loaded->second.module, ("troupe_" + key).c_str()));
  kernels.emplace(key, function);
  return function;
}

Result<void> LaneTools::launch(CUfunction kernel, std::int64_t count, std::span<void*> arguments) const {
  if (count == 0) return {};
  const auto blocks = static_cast<unsigned>(std::min((count + kThreadsPerBlock - 1) / kThreadsPerBlock, kMaxBlocks));
  return TROUPE_CUDA(driver(), cuLaunchKernel, kernel, blocks, 1, 1, kThreadsPerBlock, 1, 1, 0, stream_,
                     arguments.data(), nullptr);
}

Result<StreamScratch> LaneTools::scratch(std::uint64_t size_bytes) const {
  CUdeviceptr memory = 0;
  TROUPE_TRY(TROUPE_CUDA(driver(), cuMemAllocAsync, &memory, std::max<std::uint64_t>(size_bytes, 1), stream_));
  return StreamScratch(driver(), memory, stream_);
}

}  // namespace troupe::cuda

#endif
