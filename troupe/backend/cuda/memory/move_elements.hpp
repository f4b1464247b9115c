// Copies and conversions of elements with any strides, by our own kernels: for the ops themselves and for what others
// pack and unpack. Pointers are the GPU's; everything is put on the lane's stream.
#pragma once

#include "troupe/backend/cuda/kernels/axes_builder.hpp"
#include "troupe/backend/cuda/lanes/op_tools.hpp"

namespace troupe::cuda {

/// The axes of two views of one shape.
inline AxesBuilder<2> axes_of(const op::View& in, const op::View& out) noexcept {
  AxesBuilder<2> axes;
  for (int i = 0; i < in.shape.rank(); ++i) axes.add(in.shape[i], {in.strides[i], out.strides[i]});
  return axes;
}
/// The axes of two matrices of one shape.
inline AxesBuilder<2> axes_of(const Matrix& in, const Matrix& out) noexcept {
  AxesBuilder<2> axes;
  axes.add(in.rows, {in.row_stride, out.row_stride});
  axes.add(in.columns, {in.column_stride, out.column_stride});
  return axes;
}

/// out becomes in: elements of one type, of which neither array need be aligned to more than one.
Result<void> move_elements(const LaneTools& on, DType dtype, CUdeviceptr in, CUdeviceptr out, AxesBuilder<2> axes);

/// out becomes in, converted as `convert` does.
Result<void> cast_elements(const LaneTools& on, DType from, CUdeviceptr in, DType to, CUdeviceptr out,
                           AxesBuilder<2> axes);

}  // namespace troupe::cuda
