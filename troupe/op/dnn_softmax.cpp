#include "troupe/op/dnn_softmax.hpp"

#include "troupe/op/dnn_rows_check.hpp"

namespace troupe::inline v0::op {

Result<void> check(const DnnSoftmax& op) {
  const std::string_view call = op.call();
  const NamedView x{"x", op.x}, y{"y", op.y};
  TROUPE_TRY(check_float(call, x));
  TROUPE_TRY(check_has_rows(call, x));
  TROUPE_TRY(check_type(call, y, op.x.dtype));
  return check_shape(call, y, op.x.shape);
}

Result<void> check(const DnnSoftmaxGradient& op) {
  const std::string_view call = op.call();
  const NamedView y{"y", op.y}, dy{"dy", op.dy}, dx{"dx", op.dx};
  TROUPE_TRY(check_float(call, y));
  TROUPE_TRY(check_has_rows(call, y));
  for (const NamedView& other : {dy, dx}) {
    TROUPE_TRY(check_type(call, other, op.y.dtype));
    TROUPE_TRY(check_shape(call, other, op.y.shape));
  }
  return {};
}

}  // namespace troupe::inline v0::op
