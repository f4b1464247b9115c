// What the kernels of blas_kernels.cu are called with: known to the worker and to the code on the GPU, which is
// compiled apart. Plain types only, of the same size on both sides.
#pragma once

#include "troupe/backend/cuda/kernels/group_axes.hpp"

namespace troupe::cuda {

/// How many elements of that size a thread of axpy takes at a time.
constexpr int axpy_items(int size_bytes) noexcept { return 16 / size_bytes; }

/// y += alpha x.
struct AxpyArguments {
  Bytes16 alpha;  // of the type that is computed with
  const void* x;
  void* y;
  GroupAxes<2> axes;  // of x and y
};

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
