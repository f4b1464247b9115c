// What can be done with the elements of tensors, by name. Numbers travel and are known to the GPU's code, too: append,
// never reorder. Whether complex numbers have an operation is asked here, before an op is made and again when it runs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace troupe::inline v0 {

/// Of one operand.
enum class Unary : std::uint8_t {
  identity,
  neg,
  conj,
  square,
  sqrt,
  rsqrt,       // 1 / sqrt(x)
  reciprocal,  // 1 / x
  exp,
  log,
  sin,
  cos,
  tanh,
  abs,  // from here on for real numbers only
  sign,
  expm1,
  log1p,
  tan,
  erf,
  relu,      // max(x, 0); NaN stays NaN
  sigmoid,   // 1 / (1 + exp(-x))
  silu,      // x sigmoid(x)
  gelu,      // x times the normal distribution's share below x, not its approximation by tanh
  softplus,  // log(1 + exp(x))
  floor,
  ceil,
  round,  // to nearest, ties to even
  kLast = round,
};
/// Of two. NaN in either operand of `min` and `max` is the result.
enum class Binary : std::uint8_t { add, sub, mul, div, min, max, pow, kLast = pow };  // min, max, pow: real only
/// Of three: a b + c (rounded once or twice), a within [b, c], and a ? b : c where a is an array of bool.
enum class Ternary : std::uint8_t { fma, clamp, select, kLast = select };  // clamp: real only
/// Over axes. `norm` is the square root of the sum of squares. NaN anywhere is what `min` and `max` give.
enum class Reduction : std::uint8_t { sum, product, mean, norm, min, max, kLast = max };  // min and max: real only
/// How a contraction is done: as (batched) products of matrices, permuted before and after where that is needed; by
/// loops of our own; by cuTENSOR. `automatic` takes what is estimated to be fastest.
enum class TensorEngine : std::uint8_t { automatic, gemm, loops, cutensor, kLast = cutensor };

constexpr bool takes_complex(Unary kind) noexcept { return kind <= Unary::tanh; }
constexpr bool takes_complex(Binary kind) noexcept { return kind <= Binary::div; }
constexpr bool takes_complex(Ternary kind) noexcept { return kind != Ternary::clamp; }
constexpr bool takes_complex(Reduction kind) noexcept { return kind <= Reduction::norm; }

/// As spelled above.
constexpr std::string_view name(Unary kind) noexcept {
  constexpr std::array<std::string_view, 26> kNames{
      "identity", "neg",     "conj", "square", "sqrt",     "rsqrt", "reciprocal", "exp",  "log",
      "sin",      "cos",     "tanh", "abs",    "sign",     "expm1", "log1p",      "tan",  "erf",
      "relu",     "sigmoid", "silu", "gelu",   "softplus", "floor", "ceil",       "round"};
  return kNames[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name(Binary kind) noexcept {
  constexpr std::array<std::string_view, 7> kNames{"add", "sub", "mul", "div", "min", "max", "pow"};
  return kNames[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name(Ternary kind) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"fma", "clamp", "select"};
  return kNames[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name(Reduction kind) noexcept {
  constexpr std::array<std::string_view, 6> kNames{"sum", "product", "mean", "norm", "min", "max"};
  return kNames[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name(TensorEngine engine) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"automatic", "gemm", "loops", "cutensor"};
  return kNames[static_cast<std::size_t>(engine)];
}

}  // namespace troupe::inline v0
