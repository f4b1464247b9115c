// How kernels find what is wrong with a matrix: each thread that finds something notes its line, and the lowest line
// stays; then one thread looks at that line again and writes the verdict. Two kernels, and nobody waits in between.
#pragma once

#include "troupe/backend/cuda/sparse/sparse_scratch.hpp"

namespace troupe::cuda {

/// A place for the first line at which something is found: all ones, which is none.
inline Result<CUdeviceptr> no_finding(SparseScratch& scratch) {
  constexpr auto kSize = sizeof(unsigned long long);
  const CUdeviceptr first = TROUPE_TRY(scratch.memory(kSize));
  TROUPE_TRY(TROUPE_CUDA(scratch.on().driver(), cuMemsetD8Async, first, 0xff, kSize, scratch.on().stream()));
  return first;
}

/// A verdict of zeros.
inline Result<void> report_nothing(const op::View& verdict, SparseScratch& scratch) {
  return TROUPE_CUDA(scratch.on().driver(), cuMemsetD32Async, scratch.on().at(verdict), 0,
                     static_cast<std::size_t>(op::kSparseVerdictWords), scratch.on().stream());
}

}  // namespace troupe::cuda
