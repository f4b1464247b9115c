// Launches of the tensor family's kernels that combine terms, for the ops themselves and for the steps of a
// contraction. Pointers are the GPU's; everything is put on the lane's stream.
#pragma once

#include <cstring>

#include "troupe/backend/cuda/kernels/axes_builder.hpp"
#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::cuda {

template <class T>
Bytes16 bytes_of(const T& value) {
  Bytes16 bytes{};
  std::memcpy(&bytes, &value, sizeof value);
  return bytes;
}

/// A reduction of a, or of the products of a and b. Strides of what is kept are those of a, b and out; of what is
/// reduced, those of a and b.
struct ReduceLaunch {
  Reduction function{};
  DType in{};
  DType out{};
  CUdeviceptr a = 0;
  CUdeviceptr b = 0;  // 0 where nothing is multiplied
  CUdeviceptr to = 0;
  op::Scalar alpha;
  op::Scalar beta;
  AxesBuilder<3> kept;
  AxesBuilder<2> reduced;
};
Result<void> reduce_elements(const LaneTools& on, ReduceLaunch& launch);

}  // namespace troupe::cuda
