// What the kernels of matmul_kernels.cu are called with: known to the worker and to the code on the GPU, which is
// compiled apart. Plain types only, of the same size on both sides.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_arguments.hpp"

namespace troupe::cuda {

/// A matrix of any floating-point type; null when there is none. A vector is a matrix whose rows are all the same.
struct TypedMatrix {
  StridedMatrix matrix;
  int dtype;
};

/// The pass over the sums of a product, row-major, of f32 or f64.
struct EpilogueArguments {
  const void* sums;
  long long rows;
  long long columns;
  TypedMatrix c;
  TypedMatrix bias;
  TypedMatrix pre;  // written on the way forward, read on the way back
  TypedMatrix d;
  double beta;
  double scale_d;
  int activation;  // as in Activation
  bool is_gradient;
};

/// A matrix whose negative elements become 0, where it lies.
struct ReluArguments {
  TypedMatrix d;
  long long rows;
  long long columns;
};

struct ColumnSums {
  TypedMatrix in;
  long long rows;
  long long columns;
  TypedMatrix out;
};

}  // namespace troupe::cuda
