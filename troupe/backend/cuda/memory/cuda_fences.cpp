#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/memory/cuda_fences.hpp"

#include <algorithm>

namespace troupe::cuda {

CudaFences::CudaFences(const CudaContext& context, const CudaMemory& memory, const op::FencedArrays& arrays,
                       CUstream stream)
    : context_(context), memory_(memory), arrays_(arrays), stream_(stream) {
  arrays_.for_each_fence([&](const op::Range& fence) {
    const auto is_known = [&](const Copied& copied) { return copied.fence == fence; };
    if (!std::ranges::any_of(fences_, is_known))
      fences_.push_back({fence, std::vector<std::byte>(static_cast<std::size_t>(fence.end - fence.begin))});
  });
}

Result<void> CudaFences::fill() const {
  for (const Copied& copied : fences_)
    TROUPE_TRY(TROUPE_CUDA(context_.driver(), cuMemsetD8Async, memory_.at(copied.fence.begin),
                           static_cast<unsigned char>(op::kFencePattern), copied.bytes.size(), stream_));
  return {};
}

Result<void> CudaFences::compare(const op::AnyOp& op, const Result<void>& end) {
  Result<void> copied;
  for (Copied& to : fences_)
    if (copied)
      copied = TROUPE_CUDA(context_.driver(), cuMemcpyAsync, reinterpret_cast<CUdeviceptr>(to.bytes.data()),
                           memory_.at(to.fence.begin), to.bytes.size(), stream_);
  // Copies that are under way write into our memory, so they are awaited in any case.
  TROUPE_TRY(TROUPE_CUDA(context_.driver(), cuCtxSynchronize));
  TROUPE_TRY(std::move(copied));
  op::Views views;
  op.info().views(op.get(), views);
  const auto read = [&](const op::Range& fence) -> std::span<const std::byte> {
    return std::ranges::find(fences_, fence, &Copied::fence)->bytes;
  };
  if (std::optional<Error> overrun = op::find_overrun(arrays_, views, end, read)) return fail(*std::move(overrun));
  return end;
}

}  // namespace troupe::cuda

#endif
