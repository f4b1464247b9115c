#include "troupe/library/primitives/primitives.hpp"

#include "troupe/device/make_call.hpp"
#include "troupe/op/primitives.hpp"

namespace troupe::inline v0 {

Primitives Device::primitives() const { return Primitives(*this); }

Call<void> Primitives::scale(double alpha, const AnyArray& x, double beta, const AnyArray& y) const {
  return make_call(device_, op::PrimitivesScale{.alpha = alpha, .beta = beta, .x = x.view(), .y = y.view()}, {&x, &y});
}

}  // namespace troupe::inline v0
