// The activations of neural networks and their derivatives: the same formulas on the host and in our kernels. The last
// bit of a result may differ, because a GPU has its own hyperbolic tangent.
#pragma once

#include <cmath>

namespace troupe::inline v0 {

template <class T>
constexpr T relu(T x) noexcept {
  return x > T(0) ? x : T(0);
}
template <class T>
constexpr T relu_slope(T x) noexcept {
  return x > T(0) ? T(1) : T(0);
}

/// The approximation by the hyperbolic tangent, as libraries compute it.
template <class T>
constexpr T gelu(T x) noexcept {
  constexpr T kRoot = T(0.79788456080286535588);  // sqrt(2 / pi)
  return T(0.5) * x * (T(1) + std::tanh(kRoot * (x + T(0.044715) * x * x * x)));
}
template <class T>
constexpr T gelu_slope(T x) noexcept {
  constexpr T kRoot = T(0.79788456080286535588);
  const T tangent = std::tanh(kRoot * (x + T(0.044715) * x * x * x));
  const T inner = kRoot * (T(1) + T(3 * 0.044715) * x * x);
  return T(0.5) * (T(1) + tangent) + T(0.5) * x * (T(1) - tangent * tangent) * inner;
}

}  // namespace troupe::inline v0
