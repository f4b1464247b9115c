#include "troupe/op/dnn_convolution.hpp"

#include <string>

#include "troupe/op/dnn_check.hpp"

namespace troupe::inline v0::op {
namespace {

/// The arrays of a call under its own names: x and y are those of the convolution itself.
struct Convolution {
  std::string_view call;
  NamedView x;
  NamedView w;
  NamedView y;
  const DnnWindow& window;
  std::int64_t groups;
};

std::string dnn_text(std::string_view view) { return std::string(view); }

Result<void> check_channels(const Convolution& of) {
  const std::int64_t channels = of.x.view.shape[1];
  const std::int64_t filters = of.w.view.shape[0];
  if (of.groups < 1) return refuse(of.call, "groups is " + std::to_string(of.groups) + "; it must be 1 or more");
  const auto does_not_divide = [&](const NamedView& of_view, std::string_view what, std::int64_t count) {
    return refuse(of.call, dnn_text(of_view.name) + " is " + of_view.view.shape.to_string() + " and has " +
                               std::to_string(count) + " " + dnn_text(what) + "; " + std::to_string(of.groups) +
                               " groups do not divide them");
  };
  if (channels % of.groups != 0) return does_not_divide(of.x, "channels", channels);
  if (filters % of.groups != 0 || filters == 0) return does_not_divide(of.w, "filters", filters);
  if (of.w.view.shape[1] == channels / of.groups) return {};
  return refuse(of.call, dnn_text(of.w.name) + " is " + of.w.view.shape.to_string() + "; with " +
                             std::to_string(channels) + " channels of " + dnn_text(of.x.name) + " in groups of " +
                             std::to_string(channels / of.groups) + " its second extent must be " +
                             std::to_string(channels / of.groups));
}

Result<void> check_filter(const Convolution& of) {
  const Shape& w = of.w.view.shape;
  bool is_filter = w.rank() == of.x.view.shape.rank();
  for (int i = 2; i < w.rank(); ++i) is_filter &= w[i] >= 1;
  if (is_filter) return {};
  return refuse(of.call, dnn_text(of.w.name) + " is " + w.to_string() +
                             "; it must be [filters, channels / groups, ...] " + "with as many axes as " +
                             dnn_text(of.x.name) + ", which is " + of.x.view.shape.to_string());
}

/// What y must be, and whether the filters fit into x.
Result<Shape> shape_of_y(const Convolution& of) {
  Shape y = of.x.view.shape;
  y[1] = of.w.view.shape[0];
  for (int i = 0; i < space_of(of.x.view); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    const std::int64_t in = of.x.view.shape[i + 2], extent = of.w.view.shape[i + 2];
    y[i + 2] = places_of(in, extent, of.window, axis);
    if (y[i + 2] >= 1) continue;
    return refuse(of.call,
                  "the filters reach over " + std::to_string(reach_of(extent, of.window.dilation[axis])) +
                      " elements along " + axis_name(i) + "; " + dnn_text(of.x.name) + " has " + std::to_string(in) +
                      " there, with padding " +
                      std::to_string(static_cast<std::uint64_t>(in) +
                                     static_cast<std::uint64_t>(of.window.before[axis] + of.window.after[axis])));
  }
  return y;
}

Result<void> check_types(const Convolution& of) {
  TROUPE_TRY(check_type_is_one_of(of.call, of.x, kDnnTypes));
  TROUPE_TRY(check_type(of.call, of.w, of.x.view.dtype));
  return check_type(of.call, of.y, of.x.view.dtype);
}

/// Of an op that makes y, or w.
Result<void> check_convolution(const Convolution& of) {
  TROUPE_TRY(check_types(of));
  TROUPE_TRY(check_layers(of.call, of.x.name, of.x.view));
  TROUPE_TRY(check_window(of.call, of.window, space_of(of.x.view)));
  TROUPE_TRY(check_filter(of));
  TROUPE_TRY(check_channels(of));
  return check_shape(of.call, of.y, TROUPE_TRY(shape_of_y(of)));
}

/// Of an op that makes x: several extents may have made one y, so those that have not are refused with the least.
Result<void> check_backwards(const Convolution& of) {
  TROUPE_TRY(check_types(of));
  TROUPE_TRY(check_layers(of.call, of.y.name, of.y.view));
  TROUPE_TRY(check_layers(of.call, of.x.name, of.x.view));
  TROUPE_TRY(check_window(of.call, of.window, space_of(of.x.view)));
  TROUPE_TRY(check_filter(of));
  TROUPE_TRY(check_channels(of));
  const Shape& x = of.x.view.shape;
  const Shape& y = of.y.view.shape;
  if (y.rank() == x.rank() && y[0] == x[0] && y[1] == of.w.view.shape[0]) {
    const Result<Shape> made = shape_of_y(of);
    if (made && *made == y) return {};
  }
  Shape least = y;
  if (y.rank() != x.rank() || y[1] != of.w.view.shape[0]) {
    least = x;
    least[1] = of.w.view.shape[0];
    return refuse(of.call, dnn_text(of.y.name) + " is " + y.to_string() + "; it must have " +
                               std::to_string(of.w.view.shape[0]) + " channels, as " + dnn_text(of.w.name) +
                               " has filters, and as many axes as " + dnn_text(of.x.name) + ", which is " +
                               x.to_string());
  }
  least[1] = of.w.view.shape[1] * of.groups;
  bool is_wide = false;
  for (int i = 0; i < space_of(of.y.view); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    const std::int64_t reach = reach_of(of.w.view.shape[i + 2], of.window.dilation[axis]);
    std::int64_t extent = 0;
    if (y[i + 2] < 1 || __builtin_mul_overflow(y[i + 2] - 1, of.window.stride[axis], &extent) ||
        __builtin_add_overflow(extent, reach - of.window.before[axis] - of.window.after[axis], &extent))
      extent = 0;
    least[i + 2] = extent;
    is_wide |= of.window.stride[axis] > 1;
  }
  return refuse(of.call, dnn_text(of.x.name) + " is " + x.to_string() + "; it must be " + least.to_string() +
                             (is_wide ? ", or larger by less than the stride" : ""));
}

Result<void> check_vector(std::string_view call, const NamedView& vector, std::int64_t length, DType dtype) {
  TROUPE_TRY(check_type(call, vector, dtype));
  return check_shape(call, vector, Shape{length});
}

std::uint64_t work_of(const View& y, const View& w) noexcept {
  return product_of({product_of(y.shape), product_of(w.shape, 1)});
}

}  // namespace

std::uint64_t DnnConvolve::work() const noexcept { return work_of(y, w); }
std::uint64_t DnnConvolveInput::work() const noexcept { return work_of(y, w); }
std::uint64_t DnnConvolveFilter::work() const noexcept { return work_of(y, w); }

Result<void> check(const DnnConvolve& op) {
  const Convolution of = op.transposed
                             ? Convolution{"transposed_convolution_input_gradient",
                                           {"dy", op.x},
                                           {"w", op.w},
                                           {"dx", op.y},
                                           op.window,
                                           op.groups}
                             : Convolution{"convolution", {"x", op.x}, {"w", op.w}, {"y", op.y}, op.window, op.groups};
  TROUPE_TRY(check_convolution(of));
  TROUPE_TRY(check_finite(of.call, "alpha", op.alpha));
  if (op.has_bias) TROUPE_TRY(check_vector(of.call, {"bias", op.bias}, op.y.shape[1], op.y.dtype));
  if (!op.has_addend) return {};
  TROUPE_TRY(check_type(of.call, {"addend", op.addend}, op.y.dtype));
  return check_shape(of.call, {"addend", op.addend}, op.y.shape);
}

Result<void> check(const DnnConvolveInput& op) {
  const Convolution of =
      op.transposed
          ? Convolution{"transposed_convolution", {"y", op.x}, {"w", op.w}, {"x", op.y}, op.window, op.groups}
          : Convolution{"convolution_input_gradient", {"dx", op.x}, {"w", op.w}, {"dy", op.y}, op.window, op.groups};
  TROUPE_TRY(check_backwards(of));
  TROUPE_TRY(check_finite(of.call, "alpha", op.alpha));
  if (op.has_bias) TROUPE_TRY(check_vector(of.call, {"bias", op.bias}, op.x.shape[1], op.x.dtype));
  return {};
}

Result<void> check(const DnnConvolveFilter& op) {
  return check_convolution(
      op.transposed
          ? Convolution{"transposed_convolution_filter_gradient",
                        {"dy", op.x},
                        {"dw", op.w},
                        {"x", op.y},
                        op.window,
                        op.groups}
          : Convolution{"convolution_filter_gradient", {"x", op.x}, {"dw", op.w}, {"dy", op.y}, op.window, op.groups});
}

}  // namespace troupe::inline v0::op
