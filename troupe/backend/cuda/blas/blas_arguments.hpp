// What the kernels of blas_kernels.cu are called with: known to the worker and to the code on the GPU, which is
// compiled apart. Plain types only, of the same size on both sides.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_arguments.hpp"

namespace troupe::cuda {

/// What the half of a square matrix that is there says of the other one.
enum class HalfMeaning : int { symmetric, hermitian, triangular, unit_triangular };

struct HalfMatrix {
  StridedMatrix matrix;
  long long size;
  HalfMeaning meaning;
  bool is_lower;
  bool conjugates;
};

struct PointerList {
  static constexpr int kMost = 192;
  int count;
  void* pointers[kMost];
};

}  // namespace troupe::cuda
