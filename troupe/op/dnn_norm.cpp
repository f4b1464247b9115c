#include "troupe/op/dnn_norm.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "troupe/op/dnn_check.hpp"

namespace troupe::inline v0::op {
namespace {

/// An array of parameters, and whether the op has it.
struct NormParameter {
  bool is_there;
  std::string_view name;
  const View& view;
};

/// All of one type: x's, or what that is computed in; and of that shape.
Result<void> check_norm_parameters(std::string_view call, const View& x, const Shape& shape,
                                   std::initializer_list<NormParameter> parameters) {
  const NormParameter* first = nullptr;
  for (const NormParameter& parameter : parameters) {
    if (!parameter.is_there) continue;
    const NamedView named{parameter.name, parameter.view};
    if (parameter.view.dtype != x.dtype && parameter.view.dtype != dnn_wide_type(x.dtype)) {
      const DType wide = dnn_wide_type(x.dtype);
      return refuse(call, std::string(parameter.name) + " is " + std::string(name(parameter.view.dtype)) +
                              "; it must be " + std::string(name(x.dtype)) +
                              (wide == x.dtype ? "" : " or " + std::string(name(wide))));
    }
    if (!first) first = &parameter;
    TROUPE_TRY(check_same_types(call, {{first->name, first->view}, named}));
    TROUPE_TRY(check_shape(call, named, shape));
  }
  return {};
}

Result<void> check_epsilon(std::string_view call, double epsilon) {
  TROUPE_TRY(check_finite(call, "epsilon", epsilon));
  if (epsilon >= 0) return {};
  return refuse(call, "epsilon is " + number_of(Scalar(epsilon)) + "; it must be 0 or more");
}

Result<void> check_arrays(std::string_view call, const NamedView& x, std::initializer_list<NamedView> others) {
  TROUPE_TRY(check_type_is_one_of(call, x, kDnnTypes));
  for (const NamedView& other : others) {
    TROUPE_TRY(check_type(call, other, x.view.dtype));
    TROUPE_TRY(check_shape(call, other, x.view.shape));
  }
  return {};
}

Result<void> check_has_channels(std::string_view call, const View& x) {
  if (x.shape.rank() >= 2 && x.shape[1] >= 1) return {};
  return refuse(call, "x is " + x.shape.to_string() + "; it must be [batch, channels, ...]");
}

Result<void> check_groups(std::string_view call, const View& x, std::int64_t groups) {
  TROUPE_TRY(check_has_channels(call, x));
  if (groups < 0) return refuse(call, "groups is " + std::to_string(groups) + "; it must be 1 or more");
  if (groups == 0 || x.shape[1] % groups == 0) return {};
  return refuse(call, "x is " + x.shape.to_string() + " and has " + std::to_string(x.shape[1]) + " channels; " +
                          std::to_string(groups) + " groups do not divide them");
}

/// The last axes.
Result<Shape> shape_of_layer(std::string_view call, const View& x, int axes) {
  if (axes < 1 || axes > x.shape.rank())
    return refuse(call, "x is " + x.shape.to_string() + "; its last " + std::to_string(axes) +
                            " axes cannot be normalized: there must be one at least, and as many in x");
  std::vector<std::int64_t> extents(x.shape.end() - axes, x.shape.end());
  return Shape(extents);
}

template <class Op>
Result<void> check_norm(std::string_view call, const Op& op, const Shape& shape) {
  TROUPE_TRY(check_arrays(call, {"x", op.x}, {{"y", op.y}}));
  TROUPE_TRY(check_epsilon(call, op.epsilon));
  return check_norm_parameters(call, op.x, shape,
                               {{op.has_scale, "scale", op.scale}, {op.has_shift, "shift", op.shift}});
}

template <class Op>
Result<void> check_norm_gradient(std::string_view call, const Op& op, const Shape& shape) {
  TROUPE_TRY(check_arrays(call, {"x", op.x}, {{"dy", op.dy}, {"dx", op.dx}}));
  TROUPE_TRY(check_epsilon(call, op.epsilon));
  return check_norm_parameters(call, op.x, shape,
                               {{op.has_scale, "scale", op.scale},
                                {op.gives_scale, "dscale", op.dscale},
                                {op.gives_shift, "dshift", op.dshift}});
}

Shape shape_of_channels(const View& x) { return Shape{x.shape[1]}; }

}  // namespace

Result<void> check(const DnnBatchNorm& op) {
  constexpr std::string_view kCall = "batch_norm";
  TROUPE_TRY(check_has_channels(kCall, op.x));
  TROUPE_TRY(check_arrays(kCall, {"x", op.x}, {{"y", op.y}}));
  TROUPE_TRY(check_epsilon(kCall, op.epsilon));
  return check_norm_parameters(kCall, op.x, shape_of_channels(op.x),
                               {{true, "mean", op.mean},
                                {true, "variance", op.variance},
                                {op.has_scale, "scale", op.scale},
                                {op.has_shift, "shift", op.shift}});
}

Result<void> check(const DnnBatchNormTraining& op) {
  constexpr std::string_view kCall = "batch_norm_training";
  TROUPE_TRY(check_has_channels(kCall, op.x));
  TROUPE_TRY(check_arrays(kCall, {"x", op.x}, {{"y", op.y}}));
  TROUPE_TRY(check_epsilon(kCall, op.epsilon));
  TROUPE_TRY(check_finite(kCall, "momentum", op.momentum));
  if (op.momentum < 0 || op.momentum > 1)
    return refuse(kCall, "momentum is " + number_of(Scalar(op.momentum)) + "; it must be from 0 to 1");
  return check_norm_parameters(kCall, op.x, shape_of_channels(op.x),
                               {{op.has_scale, "scale", op.scale},
                                {op.has_shift, "shift", op.shift},
                                {op.has_running, "running_mean", op.running_mean},
                                {op.has_running, "running_variance", op.running_variance}});
}

Result<void> check(const DnnBatchNormGradient& op) {
  constexpr std::string_view kCall = "batch_norm_gradient";
  TROUPE_TRY(check_has_channels(kCall, op.x));
  return check_norm_gradient(kCall, op, shape_of_channels(op.x));
}

Result<void> check(const DnnGroupNorm& op) {
  const std::string_view call = op.groups == 0 ? "instance_norm" : "group_norm";
  TROUPE_TRY(check_groups(call, op.x, op.groups));
  return check_norm(call, op, shape_of_channels(op.x));
}

Result<void> check(const DnnGroupNormGradient& op) {
  const std::string_view call = op.groups == 0 ? "instance_norm_gradient" : "group_norm_gradient";
  TROUPE_TRY(check_groups(call, op.x, op.groups));
  return check_norm_gradient(call, op, shape_of_channels(op.x));
}

Result<void> check(const DnnLayerNorm& op) {
  const std::string_view call = op.centred ? "layer_norm" : "rms_norm";
  return check_norm(call, op, TROUPE_TRY(shape_of_layer(call, op.x, op.axes)));
}

Result<void> check(const DnnLayerNormGradient& op) {
  const std::string_view call = op.centred ? "layer_norm_gradient" : "rms_norm_gradient";
  return check_norm_gradient(call, op, TROUPE_TRY(shape_of_layer(call, op.x, op.axes)));
}

}  // namespace troupe::inline v0::op
