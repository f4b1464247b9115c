#include "troupe/op/dnn_interpolate.hpp"

#include "troupe/device/make_call.hpp"
#include "troupe/library/dnn/dnn.hpp"
#include "troupe/op/dnn.hpp"

namespace troupe::inline v0 {

Call<void> Dnn::interpolate(const AnyArray& x, const AnyArray& y, InterpolateOptions options) const {
  const op::DnnInterpolate op{
      .way = options.way, .aligns_corners = options.aligns_corners, .x = x.view(), .y = y.view()};
  return make_call(device_, op, {&x, &y});
}

Call<void> Dnn::interpolate_gradient(const AnyArray& dy, const AnyArray& dx, InterpolateOptions options) const {
  const op::DnnInterpolateGradient op{
      .way = options.way, .aligns_corners = options.aligns_corners, .dy = dy.view(), .dx = dx.view()};
  return make_call(device_, op, {&dy, &dx});
}

}  // namespace troupe::inline v0
