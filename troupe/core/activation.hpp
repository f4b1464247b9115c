// The activations of neural networks and their derivatives: the same formulas on the host and in our kernels. The last
// bit of a result may differ, because a GPU has its own exponential function.
#pragma once

#include <cmath>

namespace troupe::inline v0 {

/// A NaN stays one.
template <class T>
constexpr T relu(T x) noexcept {
  return x < T(0) ? T(0) : x;
}
/// At a NaN it is the NaN: what is multiplied by it must not pass for a gradient.
template <class T>
constexpr T relu_slope(T x) noexcept {
  return x > T(0) ? T(1) : x <= T(0) ? T(0) : x;
}

/// The approximation of gelu by the hyperbolic tangent, x / 2 (1 + tanh(u)), written as x / (1 + exp(-2 u)): where
/// tanh(u) is nearly -1, the sum would lose all digits.
template <class T>
constexpr T gelu_tanh(T x) noexcept {
  constexpr T kTwoRoots = T(1.59576912160573071176);  // 2 sqrt(2 / pi)
  return x / (T(1) + std::exp(-kTwoRoots * (x + T(0.044715) * x * x * x)));
}
template <class T>
constexpr T gelu_tanh_slope(T x) noexcept {
  constexpr T kTwoRoots = T(1.59576912160573071176);
  const T power = std::exp(-kTwoRoots * (x + T(0.044715) * x * x * x));
  const T share = T(1) / (T(1) + power);
  const T bend = share * (power < T(1) ? power * share : T(1) - share);  // by what is left, without losing its digits
  // Far out it is flat, and the square of x need not fit the type.
  return bend == T(0) ? share : share + x * bend * kTwoRoots * (T(1) + T(3 * 0.044715) * x * x);
}

}  // namespace troupe::inline v0
