#include "troupe/library/dnn/dnn.hpp"

#include "troupe/device/make_call.hpp"
#include "troupe/op/dnn.hpp"

namespace troupe::inline v0 {

Dnn Device::dnn() const { return Dnn(*this); }

Call<void> Dnn::scale(double alpha, const AnyArray& x, double beta, const AnyArray& y) const {
  return make_call(device_, op::DnnScale{.alpha = alpha, .beta = beta, .x = x.view(), .y = y.view()}, {&x, &y});
}

}  // namespace troupe::inline v0
