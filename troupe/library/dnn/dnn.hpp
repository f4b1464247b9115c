// Neural networks on a device: `gpu.dnn()`. Arrays of f32, f64, f16 or bf16 with any strides: [batch, channels, ...] is
// how axes are counted, and where the channels lie in memory the strides say, so NCHW and NHWC need no flag. f16 and
// bf16 are computed in f32 and rounded once. What does not fit is refused before anything is submitted.
//
//   CO_TRY(co_await gpu.dnn().activation(DnnActivation::silu, x, y));
#pragma once

#include <optional>
#include <utility>

#include "troupe/core/dnn_kinds.hpp"
#include "troupe/device/device.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What an activation can be told. Without alpha it is the usual one: 0.01 for `leaky_relu`, 1 for `elu`.
struct DnnActivationOptions {
  std::optional<double> alpha = std::nullopt;  // the number of a function that has one
};
static_assert(std::is_trivially_destructible_v<DnnActivationOptions>, "safe inside a co_await with g++ 12");

/// The layers of neural networks and their gradients: `gpu.dnn()`.
class Dnn {
 public:
  explicit Dnn(Device device) noexcept : device_(std::move(device)) {}

  // Calls stand by topic, each topic with a source file of its own beside this header.

  // ---- activations: dnn_pointwise.cpp ----

  /// y = f(x), element by element. y may be x.
  Call<void> activation(DnnActivation function, const AnyArray& x, const AnyArray& y,
                        DnnActivationOptions options = {}) const;
  /// dx = dy f'(x), where x is what the function was given. dx may be dy or x. At a corner the slope is the one to the
  /// left of it: 0 for `relu` at 0.
  Call<void> activation_gradient(DnnActivation function, const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                                 DnnActivationOptions options = {}) const;

 private:
  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
