#include "troupe/op/dnn_pointwise.hpp"

#include "troupe/op/dnn_check.hpp"

namespace troupe::inline v0::op {

Result<void> check(const DnnActivate& op) {
  const std::string_view call = name(op.function);
  TROUPE_TRY(check_type_is_one_of(call, {"x", op.x}, kDnnTypes));
  TROUPE_TRY(check_type(call, {"y", op.y}, op.x.dtype));
  TROUPE_TRY(check_shape(call, {"y", op.y}, op.x.shape));
  return check_finite(call, "alpha", op.alpha);
}

Result<void> check(const DnnActivateGradient& op) {
  const std::string call = std::string(name(op.function)) + " gradient";
  TROUPE_TRY(check_type_is_one_of(call, {"x", op.x}, kDnnTypes));
  TROUPE_TRY(check_type(call, {"dy", op.dy}, op.x.dtype));
  TROUPE_TRY(check_type(call, {"dx", op.dx}, op.x.dtype));
  TROUPE_TRY(check_shape(call, {"dy", op.dy}, op.x.shape));
  TROUPE_TRY(check_shape(call, {"dx", op.dx}, op.x.shape));
  return check_finite(call, "alpha", op.alpha);
}

}  // namespace troupe::inline v0::op
