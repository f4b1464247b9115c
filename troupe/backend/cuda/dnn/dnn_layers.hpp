// From the arrays of layers to what kernels are called with: axes of space that are missing are in front, with an
// extent of 1.
#pragma once

#include <array>

#include "troupe/backend/cuda/dnn/dnn_arguments.hpp"
#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/dnn_window.hpp"

namespace troupe::cuda {

/// Needs a view with batch, channels and one to three axes of space.
inline DnnArray array_of(const op::View& view, const LaneTools& on) {
  DnnArray array{};
  array.data = on.data(view);
  const int missing = op::kMaxSpace - space_of(view);
  for (int i = 0; i < view.shape.rank(); ++i) array.strides[i < 2 ? i : i + missing] = view.strides[i];
  return array;
}

/// Extents along the axes of space.
inline op::SpaceNumbers space_extents(const op::View& view) {
  op::SpaceNumbers extents{};
  for (int i = 0; i < space_of(view); ++i) extents[static_cast<std::size_t>(i)] = view.shape[i + 2];
  return op::in_three(extents, space_of(view), 1);
}

inline Result<void> launch_one(const LaneTools& on, CUfunction kernel, std::int64_t count, void* arguments) {
  std::array<void*, 1> all{arguments};
  return on.launch(kernel, count, all);
}

}  // namespace troupe::cuda
