// What users of neural networks choose by name and ops carry by number. Apart from kinds.hpp, from which everything is
// compiled.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// The functions of elements between the layers of a network. A NaN stays one in all of them. Where a function has a
/// number of its own, it is `alpha`.
enum class DnnActivation : std::uint8_t {
  none,
  relu,          // max(x, 0)
  leaky_relu,    // x, below 0 alpha x
  elu,           // x, below 0 alpha (exp(x) - 1)
  gelu,          // x times the normal distribution function of x
  gelu_tanh,     // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  silu,          // x sigmoid(x)
  sigmoid,       // 1 / (1 + exp(-x))
  tanh,          // the hyperbolic tangent
  softplus,      // log(1 + exp(x))
  mish,          // x tanh(softplus(x))
  relu6,         // x within [0, 6]
  hard_sigmoid,  // (x + 3) / 6 within [0, 1]
  hard_silu,     // x hard_sigmoid(x)
  hard_tanh,     // x within [-1, 1]
  kLast = hard_tanh,
};
constexpr std::string_view name(DnnActivation function) noexcept {
  constexpr std::array<std::string_view, 15> kNames{"none",      "relu",  "leaky_relu",   "elu",       "gelu",
                                                    "gelu_tanh", "silu",  "sigmoid",      "tanh",      "softplus",
                                                    "mish",      "relu6", "hard_sigmoid", "hard_silu", "hard_tanh"};
  return kNames[static_cast<std::size_t>(function)];
}

/// How elements between elements are made: the nearest one, the line between two (in each direction), or the cubic
/// curve through four, with the factor -0.75 that PyTorch has.
enum class DnnInterpolation : std::uint8_t { nearest, linear, cubic, kLast = cubic };
constexpr std::string_view name(DnnInterpolation way) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"nearest", "linear", "cubic"};
  return kNames[static_cast<std::size_t>(way)];
}

}  // namespace troupe::inline v0
#pragma GCC visibility pop
