// NumPy's rules for operands of different shapes: axes are matched from the last one backwards, and an extent of 1 is
// repeated.
#pragma once

#include "troupe/op/view.hpp"

namespace troupe::inline v0 {

/// Grows `shape` to the shape that both broadcast to; false when there is none.
inline bool broadcast_shapes(Shape& shape, const Shape& other) {
  const Shape& longer = shape.rank() >= other.rank() ? shape : other;
  const Shape& shorter = shape.rank() >= other.rank() ? other : shape;
  Shape result = longer;
  const int shift = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    const std::int64_t x = longer[shift + i];
    const std::int64_t y = shorter[i];
    if (x != y && x != 1 && y != 1) return false;
    result[shift + i] = x == 1 ? y : x;
  }
  shape = result;
  return true;
}

/// The view repeated along its extents of 1 and along the axes that it lacks. Needs a shape that it broadcasts to.
inline op::View repeated(const op::View& view, const Shape& shape) {
  op::View out{view.address, view.dtype, shape, Strides(std::span(shape.begin(), shape.end()))};
  const int shift = shape.rank() - view.shape.rank();
  for (int i = 0; i < shape.rank(); ++i)
    out.strides[i] = i < shift || view.shape[i - shift] != shape[i] ? 0 : view.strides[i - shift];
  return out;
}

}  // namespace troupe::inline v0
