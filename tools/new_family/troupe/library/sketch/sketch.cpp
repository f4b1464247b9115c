#include "troupe/library/sketch/sketch.hpp"

#include "troupe/device/make_call.hpp"
#include "troupe/op/sketch.hpp"

namespace troupe::inline v0 {

Sketch Device::sketch() const { return Sketch(*this); }

Call<void> Sketch::scale(double alpha, const AnyArray& x, double beta, const AnyArray& y) const {
  return make_call(device_, op::SketchScale{.alpha = alpha, .beta = beta, .x = x.view(), .y = y.view()}, {&x, &y});
}

}  // namespace troupe::inline v0
