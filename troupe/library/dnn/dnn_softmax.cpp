#include "troupe/op/dnn_softmax.hpp"

#include "troupe/library/dnn/dnn.hpp"
#include "troupe/library/rows_along.hpp"

namespace troupe::inline v0 {
namespace {

Call<void> softmax_call(const Device& device, bool logarithm, const AnyArray& x, const AnyArray& y, int axis) {
  op::DnnSoftmax op{.logarithm = logarithm, .x = {}, .y = {}};
  const Result<AnyArray> in = rows_along(device, op.call(), {"x", x}, axis);
  if (!in) return fail(in.error());
  const Result<AnyArray> out = rows_along(device, op.call(), {"y", y}, axis);
  if (!out) return fail(out.error());
  op.x = in->view();
  op.y = out->view();
  return make_call(device, op, {&*in, &*out});
}

Call<void> softmax_gradient_call(const Device& device, bool logarithm, const AnyArray& dy, const AnyArray& y,
                                 const AnyArray& dx, int axis) {
  op::DnnSoftmaxGradient op{.logarithm = logarithm, .y = {}, .dy = {}, .dx = {}};
  const Result<AnyArray> given = rows_along(device, op.call(), {"y", y}, axis);
  if (!given) return fail(given.error());
  const Result<AnyArray> slopes = rows_along(device, op.call(), {"dy", dy}, axis);
  if (!slopes) return fail(slopes.error());
  const Result<AnyArray> out = rows_along(device, op.call(), {"dx", dx}, axis);
  if (!out) return fail(out.error());
  op.y = given->view();
  op.dy = slopes->view();
  op.dx = out->view();
  return make_call(device, op, {&*given, &*slopes, &*out});
}

}  // namespace

Call<void> Dnn::softmax(const AnyArray& x, const AnyArray& y, SoftmaxOptions options) const {
  return softmax_call(device_, false, x, y, options.axis);
}
Call<void> Dnn::log_softmax(const AnyArray& x, const AnyArray& y, SoftmaxOptions options) const {
  return softmax_call(device_, true, x, y, options.axis);
}
Call<void> Dnn::softmax_gradient(const AnyArray& dy, const AnyArray& y, const AnyArray& dx,
                                 SoftmaxOptions options) const {
  return softmax_gradient_call(device_, false, dy, y, dx, options.axis);
}
Call<void> Dnn::log_softmax_gradient(const AnyArray& dy, const AnyArray& y, const AnyArray& dx,
                                     SoftmaxOptions options) const {
  return softmax_gradient_call(device_, true, dy, y, dx, options.axis);
}

}  // namespace troupe::inline v0
