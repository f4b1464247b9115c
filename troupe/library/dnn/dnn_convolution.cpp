#include "troupe/op/dnn_convolution.hpp"

#include "troupe/device/make_call.hpp"
#include "troupe/library/dnn/dnn.hpp"
#include "troupe/library/dnn/dnn_alpha.hpp"
#include "troupe/library/dnn/dnn_steps.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/dnn.hpp"

namespace troupe::inline v0 {
namespace {

Result<op::DnnWindow> steps_of(std::string_view call, const ConvolutionOptions& options, const AnyArray& x) {
  return detail::window_of(call, {options.stride, options.padding, options.padding_after, options.dilation},
                           detail::space_of(x));
}

/// What a gradient cannot be told: the result's activation, bias and addend.
Result<void> check_plain(std::string_view call, const ConvolutionOptions& options) {
  if (options.activation == DnnActivation::none && !options.bias && !options.addend) return {};
  return op::refuse(call,
                    "activation, bias and addend are no options of a gradient; take activation_gradient first, and "
                    "reduce for the gradient of the bias");
}

Call<void> forward(const Device& device, bool transposed, const AnyArray& x, const AnyArray& w, const AnyArray& y,
                   const ConvolutionOptions& options) {
  const std::string_view call = transposed ? "transposed_convolution_input_gradient" : "convolution";
  if (transposed)
    if (Result<void> plain = check_plain(call, options); !plain) return fail(std::move(plain).error());
  Result<op::DnnWindow> window = steps_of(call, options, x);
  if (!window) return fail(std::move(window).error());
  op::DnnConvolve op{.window = *window,
                     .groups = options.groups,
                     .transposed = transposed,
                     .activation = options.activation,
                     .alpha = detail::alpha_of(options.activation, options.alpha),
                     .has_bias = options.bias != nullptr,
                     .has_addend = options.addend != nullptr,
                     .x = x.view(),
                     .w = w.view(),
                     .bias = {},
                     .addend = {},
                     .y = y.view()};
  std::array<const AnyArray*, 5> arrays{&x, &w};
  std::size_t count = 2;
  if (options.bias) op.bias = (arrays[count++] = options.bias)->view();
  if (options.addend) op.addend = (arrays[count++] = options.addend)->view();
  arrays[count++] = &y;
  return make_call(device, op, std::span<const AnyArray* const>(arrays).first(count));
}

Call<void> backward(const Device& device, bool transposed, const AnyArray& y, const AnyArray& w, const AnyArray& x,
                    const ConvolutionOptions& options) {
  const std::string_view call = transposed ? "transposed_convolution" : "convolution_input_gradient";
  if (!transposed)
    if (Result<void> plain = check_plain(call, options); !plain) return fail(std::move(plain).error());
  if (options.addend) return op::refuse(call, "addend is no option of it; add it by binary");
  Result<op::DnnWindow> window = steps_of(call, options, x);
  if (!window) return fail(std::move(window).error());
  op::DnnConvolveInput op{.window = *window,
                          .groups = options.groups,
                          .transposed = transposed,
                          .activation = options.activation,
                          .alpha = detail::alpha_of(options.activation, options.alpha),
                          .has_bias = options.bias != nullptr,
                          .y = y.view(),
                          .w = w.view(),
                          .bias = {},
                          .x = x.view()};
  std::array<const AnyArray*, 4> arrays{&y, &w};
  std::size_t count = 2;
  if (options.bias) op.bias = (arrays[count++] = options.bias)->view();
  arrays[count++] = &x;
  return make_call(device, op, std::span<const AnyArray* const>(arrays).first(count));
}

Call<void> filter(const Device& device, bool transposed, const AnyArray& x, const AnyArray& y, const AnyArray& w,
                  const ConvolutionOptions& options) {
  const std::string_view call = transposed ? "transposed_convolution_filter_gradient" : "convolution_filter_gradient";
  if (Result<void> plain = check_plain(call, options); !plain) return fail(std::move(plain).error());
  Result<op::DnnWindow> window = steps_of(call, options, x);
  if (!window) return fail(std::move(window).error());
  const op::DnnConvolveFilter op{.window = *window,
                                 .groups = options.groups,
                                 .transposed = transposed,
                                 .x = x.view(),
                                 .y = y.view(),
                                 .w = w.view()};
  return make_call(device, op, {&x, &y, &w});
}

}  // namespace

Call<void> Dnn::convolution(const AnyArray& x, const AnyArray& w, const AnyArray& y, ConvolutionOptions options) const {
  return forward(device_, false, x, w, y, options);
}
Call<void> Dnn::convolution_input_gradient(const AnyArray& dy, const AnyArray& w, const AnyArray& dx,
                                           ConvolutionOptions options) const {
  return backward(device_, false, dy, w, dx, options);
}
Call<void> Dnn::convolution_filter_gradient(const AnyArray& x, const AnyArray& dy, const AnyArray& dw,
                                            ConvolutionOptions options) const {
  return filter(device_, false, x, dy, dw, options);
}
Call<void> Dnn::transposed_convolution(const AnyArray& x, const AnyArray& w, const AnyArray& y,
                                       ConvolutionOptions options) const {
  return backward(device_, true, x, w, y, options);
}
Call<void> Dnn::transposed_convolution_input_gradient(const AnyArray& dy, const AnyArray& w, const AnyArray& dx,
                                                      ConvolutionOptions options) const {
  return forward(device_, true, dy, w, dx, options);
}
Call<void> Dnn::transposed_convolution_filter_gradient(const AnyArray& x, const AnyArray& dy, const AnyArray& dw,
                                                       ConvolutionOptions options) const {
  return filter(device_, true, dy, x, dw, options);
}

}  // namespace troupe::inline v0
