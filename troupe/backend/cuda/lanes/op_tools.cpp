#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/lanes/op_tools.hpp"

#include <algorithm>
#include <limits>

namespace troupe::cuda {
namespace {

constexpr unsigned kThreadsPerBlock = 256;
constexpr std::int64_t kMaxBlocks = 4096;

}  // namespace

Result<void> LaneTools::launch(CUfunction kernel, std::int64_t count, std::span<void*> arguments) const {
  if (count == 0) return {};
  const auto blocks = static_cast<unsigned>(std::min((count + kThreadsPerBlock - 1) / kThreadsPerBlock, kMaxBlocks));
  return TROUPE_CUDA(driver(), cuLaunchKernel, kernel, blocks, 1, 1, kThreadsPerBlock, 1, 1, 0, stream_,
                     arguments.data(), nullptr);
}

Result<void> LaneTools::launch_blocks(CUfunction kernel, std::int64_t blocks, unsigned threads, void* argument,
                                      std::int64_t layers) const {
  if (blocks == 0) return {};
  if (blocks > std::numeric_limits<std::int32_t>::max())
    return fail(ErrorKind::unsupported, "an op takes no more than 2^31 - 1 blocks of threads; use smaller arrays");
  return TROUPE_CUDA(driver(), cuLaunchKernel, kernel, static_cast<unsigned>(blocks), static_cast<unsigned>(layers), 1,
                     threads, 1, 1, 0, stream_, &argument, nullptr);
}

Result<StreamScratch> LaneTools::scratch(std::uint64_t size_bytes) const {
  CUdeviceptr memory = 0;
  TROUPE_TRY(TROUPE_CUDA(driver(), cuMemAllocAsync, &memory, std::max<std::uint64_t>(size_bytes, 1), stream_));
  return StreamScratch(driver(), memory, stream_);
}

}  // namespace troupe::cuda

#endif
