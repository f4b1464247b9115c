// The fences of guard mode on a GPU: filled on the op's stream before the op, and copied to the worker after it. The
// worker waits for the copy, so that the next op begins when this one is known to have stayed inside its arrays.
#pragma once

#include <vector>

#include "troupe/backend/cuda/memory/cuda_memory.hpp"
#include "troupe/op/fences.hpp"
#include "troupe/op/table.hpp"

namespace troupe::cuda {

/// The fences of one op. All that it is given must outlive it. From the thread that drains the ring.
class CudaFences {
 public:
  CudaFences(const CudaContext& context, const CudaMemory& memory, const op::FencedArrays& arrays, CUstream stream);

  Result<void> fill() const;
  /// Waits until the op is done. Gives its end: that which it has, unless it has written outside its arrays. The
  /// driver's error when the op has poisoned the context.
  Result<void> compare(const op::AnyOp& op, const Result<void>& end);

 private:
  struct Copied {
    op::Range fence;
    std::vector<std::byte> bytes;
  };

  const CudaContext& context_;
  const CudaMemory& memory_;
  const op::FencedArrays& arrays_;
  const CUstream stream_;
  std::vector<Copied> fences_;
};

}  // namespace troupe::cuda
