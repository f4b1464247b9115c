#include "troupe/library/scope/inferred_dnn.hpp"

#include <algorithm>

#include "troupe/op/dnn_window.hpp"

namespace troupe::inline v0::detail {
namespace {

int axes_of_space(const Shape& x) { return std::clamp(x.rank() - 2, 0, op::kMaxSpace); }
bool goes_along(const AlongSpace& numbers, int space) { return numbers.count() == 1 || numbers.count() == space; }

/// False when they cannot be those of a window, which the op then says.
bool find_window(const ConvolutionOptions& of, int space, op::DnnWindow& window) {
  const AlongSpace after = of.padding_after.value_or(of.padding);
  if (!goes_along(of.stride, space) || !goes_along(of.padding, space) || !goes_along(after, space) ||
      !goes_along(of.dilation, space))
    return false;
  for (int i = 0; i < space; ++i) {
    const auto axis = static_cast<std::size_t>(i);
    window.stride[axis] = of.stride[i];
    window.before[axis] = of.padding[i];
    window.after[axis] = after[i];
    window.dilation[axis] = of.dilation[i];
  }
  return bool(op::check_window("", window, space));
}

/// Extents of x after a window of these extents went over it.
Shape after_window(const Shape& x, const Shape& extents, const ConvolutionOptions& steps) {
  const int space = axes_of_space(x);
  op::DnnWindow window;
  Shape y = x;
  if (extents.rank() != x.rank() || !find_window(steps, space, window)) return y;
  for (int i = 0; i < space; ++i)
    y[i + 2] = op::places_of(x[i + 2], extents[i + 2], window, static_cast<std::size_t>(i));
  return y;
}

}  // namespace

Shape shape_of_convolution(const Shape& x, const Shape& w, const ConvolutionOptions& options) {
  Shape y = after_window(x, w, options);
  if (y.rank() > 1 && w.rank() > 0) y[1] = w[0];
  return y;
}

Shape shape_of_transposed_convolution(const Shape& x, const Shape& w, const ConvolutionOptions& options,
                                      const AlongSpace& more) {
  const int space = axes_of_space(x);
  op::DnnWindow window;
  Shape y = x;
  if (w.rank() != x.rank() || x.rank() < 3 || !goes_along(more, space) || !find_window(options, space, window))
    return y;
  y[1] = 0;
  if (options.groups > 0 && !__builtin_mul_overflow(w[1], options.groups, &y[1])) {
    for (int i = 0; i < space; ++i) {
      const auto axis = static_cast<std::size_t>(i);
      std::int64_t extent = 0;
      if (x[i + 2] < 1 || __builtin_mul_overflow(x[i + 2] - 1, window.stride[axis], &extent) ||
          __builtin_add_overflow(extent, op::reach_of(w[i + 2], window.dilation[axis]), &extent) ||
          __builtin_add_overflow(extent, more[i], &extent))
        return x;
      y[i + 2] = std::max<std::int64_t>(extent - window.before[axis] - window.after[axis], 0);
    }
    return y;
  }
  return x;
}

Shape shape_of_pool(const Shape& x, const AlongSpace& window, const PoolOptions& options) {
  const int space = axes_of_space(x);
  if (!goes_along(window, space)) return x;
  Shape extents = x;
  for (int i = 0; i < space; ++i) extents[i + 2] = window[i];
  return after_window(x, extents,
                      {.stride = options.stride.value_or(window),
                       .padding = options.padding,
                       .padding_after = options.padding_after,
                       .dilation = options.dilation});
}

Shape with_space(const Shape& x, const AlongSpace& extents) {
  const int space = axes_of_space(x);
  Shape y = x;
  if (goes_along(extents, space))
    for (int i = 0; i < space; ++i) y[i + 2] = extents[i];
  return y;
}

}  // namespace troupe::inline v0::detail
