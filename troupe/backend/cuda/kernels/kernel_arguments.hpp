// What our own kernels are called with: known to the worker and to the code on the GPU, which is compiled apart. Plain
// types only, of the same size on both sides.
#pragma once

namespace troupe::cuda {

inline constexpr int kMaxKernelRank = 8;

/// One or two arrays of one shape, in elements. A rank of 0 says that the elements of both lie side by side.
struct Layout {
  long long count;
  long long shape[kMaxKernelRank];
  long long strides_a[kMaxKernelRank];
  long long strides_b[kMaxKernelRank];
  int rank;
};

struct alignas(16) Bytes16 {
  unsigned long long words[2];
};

/// A matrix of any strides, in elements.
struct StridedMatrix {
  void* data;
  long long row_stride;
  long long column_stride;
};

/// c = alpha a b + beta c; the factors are of the type that is computed with.
struct GemmArguments {
  StridedMatrix a;
  StridedMatrix b;
  StridedMatrix c;
  long long rows;
  long long columns;
  long long depth;
  Bytes16 alpha;
  Bytes16 beta;
  bool reads_c;
};

}  // namespace troupe::cuda
