#include "troupe/op/dnn_interpolate.hpp"

#include <string>

#include "troupe/op/dnn_check.hpp"

namespace troupe::inline v0::op {
namespace {

Result<void> check_interpolation(std::string_view call, DnnInterpolation way, bool aligns_corners, const NamedView& x,
                                 const NamedView& y) {
  TROUPE_TRY(check_type_is_one_of(call, x, kDnnTypes));
  TROUPE_TRY(check_type(call, y, x.view.dtype));
  TROUPE_TRY(check_layers(call, x.name, x.view));
  TROUPE_TRY(check_like(call, y.name, y.view, x.name, x.view));
  if (aligns_corners && way == DnnInterpolation::nearest)
    return refuse(call, "aligns_corners is for linear and cubic; nearest has no corners");
  const auto is_good = [](std::int64_t extent) { return extent >= 1 && extent <= kMostDnnStep; };
  for (int i = 2; i < x.view.shape.rank(); ++i)
    if (!is_good(x.view.shape[i]) || !is_good(y.view.shape[i]))
      return refuse(call, std::string(x.name) + " is " + x.view.shape.to_string() + " and " + std::string(y.name) +
                              " is " + y.view.shape.to_string() + "; axes behind the channels must have from 1 to " +
                              std::to_string(kMostDnnStep) + " elements");
  return {};
}

}  // namespace

Result<void> check(const DnnInterpolate& op) {
  return check_interpolation("interpolate", op.way, op.aligns_corners, {"x", op.x}, {"y", op.y});
}

Result<void> check(const DnnInterpolateGradient& op) {
  return check_interpolation("interpolate_gradient", op.way, op.aligns_corners, {"dx", op.dx}, {"dy", op.dy});
}

}  // namespace troupe::inline v0::op
