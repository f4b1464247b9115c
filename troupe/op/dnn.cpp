#include "troupe/op/dnn.hpp"

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {

Result<void> check(const DnnScale& op) {
  constexpr std::string_view kCall = "scale";
  TROUPE_TRY(check_type_is_one_of(kCall, {"y", op.y}, {DType::f32, DType::f64}));
  TROUPE_TRY(check_type(kCall, {"x", op.x}, op.y.dtype));
  TROUPE_TRY(check_shape(kCall, {"x", op.x}, op.y.shape));
  TROUPE_TRY(check_finite(kCall, "alpha", op.alpha));
  return check_finite(kCall, "beta", op.beta);
}

extern const FamilyOps dnn_ops = register_ops("dnn", DnnOps{});

}  // namespace troupe::inline v0::op
