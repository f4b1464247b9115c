// What the kernels of the dnn family are called with: known to the worker and to the code on the GPU. Arrays by where
// they begin and their axes; offsets are in elements.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_axes.hpp"

namespace troupe::cuda {

/// y = f(x), or dx = dy f'(x): then the arrays are x, dy and dx.
struct DnnActivateArguments {
  const void* x;
  const void* dy;
  void* out;
  double alpha;
  int function;
  KernelAxes<3> axes;  // of x, dy and out
};

}  // namespace troupe::cuda
