// What the kernel of a compiled expression is called with: known to the worker and to the code that NVRTC compiles.
// Plain types only.
#pragma once

#include "troupe/backend/cuda/kernels/group_axes.hpp"

namespace troupe::cuda {

/// out = the last of the steps, which the kernel has itself, as it has the types. A thread takes a group of `axes`;
/// those of the inputs come first, and the last ones are the output's.
struct CompiledArguments {
  static constexpr int kMaxInputs = 8;
  static constexpr int kMaxNumbers = 32;
  void* out;
  const void* in[kMaxInputs];
  unsigned zero;  // always; see `rounded`
  GroupAxes<kMaxInputs + 1> axes;
  Bytes16 numbers[kMaxNumbers];  // of the type that is computed with
};

}  // namespace troupe::cuda
