#include "troupe/op/dnn_pointwise.hpp"

#include "troupe/device/make_call.hpp"
#include "troupe/library/dnn/dnn.hpp"
#include "troupe/library/dnn/dnn_alpha.hpp"
#include "troupe/op/dnn.hpp"

namespace troupe::inline v0 {

Call<void> Dnn::activation(DnnActivation function, const AnyArray& x, const AnyArray& y,
                           DnnActivationOptions options) const {
  const op::DnnActivate op{
      .function = function, .alpha = detail::alpha_of(function, options.alpha), .x = x.view(), .y = y.view()};
  return make_call(device_, op, {&x, &y});
}

Call<void> Dnn::activation_gradient(DnnActivation function, const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                                    DnnActivationOptions options) const {
  const op::DnnActivateGradient op{.function = function,
                                   .alpha = detail::alpha_of(function, options.alpha),
                                   .dy = dy.view(),
                                   .x = x.view(),
                                   .dx = dx.view()};
  return make_call(device_, op, {&dy, &x, &dx});
}

}  // namespace troupe::inline v0
