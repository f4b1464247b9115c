// Expressions of arrays, computed element by element in one pass over memory: written as on paper, and one op.
//
//   CO_TRY(co_await gpu.tensor().evaluate(tanh(a * x + b) * m, y));   // a number; x, b, m, y arrays
//
// Nothing is computed before `evaluate`. An expression keeps its arrays alive.
#pragma once

#include <complex>
#include <concepts>
#include <memory>
#include <string>

#include "troupe/core/kinds.hpp"
#include "troupe/device/array.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {
struct ExpressionBody;
}  // namespace detail

/// A function of up to 8 arrays and 32 numbers, in up to 64 steps; a step that occurs twice is computed once. When
/// it is more than that, `evaluate` says so. Any thread may use a copy; copies are cheap.
class Expression {
 public:
  Expression(const AnyArray& array);  // NOLINT(google-explicit-constructor): arrays are operands
  template <class T>
    requires std::is_arithmetic_v<T>
  Expression(T number)
      : Expression(std::complex<double>(static_cast<double>(number))) {}  // NOLINT(google-explicit-constructor)
  Expression(std::complex<double> number);                                // NOLINT(google-explicit-constructor)
  Expression(std::complex<float> number)
      : Expression(std::complex<double>(number)) {}  // NOLINT(google-explicit-constructor)

  /// A function of expressions, by its name; the functions and operators below are made of it.
  static Expression of(Unary function, const Expression& a);
  static Expression of(Binary function, const Expression& a, const Expression& b);
  static Expression of(Ternary function, const Expression& a, const Expression& b, const Expression& c);

  /// "tanh(2 * x0 + x1) * x2": the arrays are numbered as they come.
  std::string to_string() const;

  const detail::ExpressionBody& body() const noexcept { return *body_; }

 private:
  explicit Expression(std::shared_ptr<const detail::ExpressionBody> body) noexcept : body_(std::move(body)) {}
  std::shared_ptr<const detail::ExpressionBody> body_;
};

inline Expression operator+(const Expression& a, const Expression& b) { return Expression::of(Binary::add, a, b); }
inline Expression operator-(const Expression& a, const Expression& b) { return Expression::of(Binary::sub, a, b); }
inline Expression operator*(const Expression& a, const Expression& b) { return Expression::of(Binary::mul, a, b); }
inline Expression operator/(const Expression& a, const Expression& b) { return Expression::of(Binary::div, a, b); }
inline Expression operator-(const Expression& a) { return Expression::of(Unary::neg, a); }

// The functions of `Unary`, `Binary` and `Ternary` by their names, element by element.

/// The complex conjugate.
inline Expression conj(const Expression& x) { return Expression::of(Unary::conj, x); }
/// x times x.
inline Expression square(const Expression& x) { return Expression::of(Unary::square, x); }
/// The square root.
inline Expression sqrt(const Expression& x) { return Expression::of(Unary::sqrt, x); }
/// 1 / sqrt(x).
inline Expression rsqrt(const Expression& x) { return Expression::of(Unary::rsqrt, x); }
/// 1 / x.
inline Expression reciprocal(const Expression& x) { return Expression::of(Unary::reciprocal, x); }
/// e to the power of x.
inline Expression exp(const Expression& x) { return Expression::of(Unary::exp, x); }
/// The natural logarithm.
inline Expression log(const Expression& x) { return Expression::of(Unary::log, x); }
/// The sine.
inline Expression sin(const Expression& x) { return Expression::of(Unary::sin, x); }
/// The cosine.
inline Expression cos(const Expression& x) { return Expression::of(Unary::cos, x); }
/// The hyperbolic tangent.
inline Expression tanh(const Expression& x) { return Expression::of(Unary::tanh, x); }
/// The absolute value of real numbers.
inline Expression abs(const Expression& x) { return Expression::of(Unary::abs, x); }
/// 1, -1, or x where it is 0 or NaN.
inline Expression sign(const Expression& x) { return Expression::of(Unary::sign, x); }
/// exp(x) - 1, also where x is small.
inline Expression expm1(const Expression& x) { return Expression::of(Unary::expm1, x); }
/// log(1 + x), also where x is small.
inline Expression log1p(const Expression& x) { return Expression::of(Unary::log1p, x); }
/// The tangent.
inline Expression tan(const Expression& x) { return Expression::of(Unary::tan, x); }
/// The error function.
inline Expression erf(const Expression& x) { return Expression::of(Unary::erf, x); }
/// max(x, 0); NaN stays NaN.
inline Expression relu(const Expression& x) { return Expression::of(Unary::relu, x); }
/// 1 / (1 + exp(-x)).
inline Expression sigmoid(const Expression& x) { return Expression::of(Unary::sigmoid, x); }
/// x sigmoid(x).
inline Expression silu(const Expression& x) { return Expression::of(Unary::silu, x); }
/// x times the normal distribution function of x.
inline Expression gelu(const Expression& x) { return Expression::of(Unary::gelu, x); }
/// The approximation of gelu by tanh: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
inline Expression gelu_tanh(const Expression& x) { return Expression::of(Unary::gelu_tanh, x); }
/// log(1 + exp(x)).
inline Expression softplus(const Expression& x) { return Expression::of(Unary::softplus, x); }
/// To the next whole number below.
inline Expression floor(const Expression& x) { return Expression::of(Unary::floor, x); }
/// To the next whole number above.
inline Expression ceil(const Expression& x) { return Expression::of(Unary::ceil, x); }
/// To the nearest whole number, ties to even.
inline Expression round(const Expression& x) { return Expression::of(Unary::round, x); }
/// The lesser; NaN when either is.
inline Expression min(const Expression& a, const Expression& b) { return Expression::of(Binary::min, a, b); }
/// The greater; NaN when either is.
inline Expression max(const Expression& a, const Expression& b) { return Expression::of(Binary::max, a, b); }
/// a to the power of b.
inline Expression pow(const Expression& a, const Expression& b) { return Expression::of(Binary::pow, a, b); }
/// 1 where a is b, else 0; likewise the other comparisons. With a NaN only `not_equal` is 1.
inline Expression equal(const Expression& a, const Expression& b) { return Expression::of(Binary::equal, a, b); }
/// 1 where a is not b, else 0.
inline Expression not_equal(const Expression& a, const Expression& b) {
  return Expression::of(Binary::not_equal, a, b);
}
/// 1 where a < b, else 0.
inline Expression less(const Expression& a, const Expression& b) { return Expression::of(Binary::less, a, b); }
/// 1 where a <= b, else 0.
inline Expression less_equal(const Expression& a, const Expression& b) {
  return Expression::of(Binary::less_equal, a, b);
}
/// 1 where a > b, else 0.
inline Expression greater(const Expression& a, const Expression& b) { return Expression::of(Binary::greater, a, b); }
/// 1 where a >= b, else 0.
inline Expression greater_equal(const Expression& a, const Expression& b) {
  return Expression::of(Binary::greater_equal, a, b);
}
/// a b + c.
inline Expression fma(const Expression& a, const Expression& b, const Expression& c) {
  return Expression::of(Ternary::fma, a, b, c);
}
/// x, but at least `low` and at most `high`.
inline Expression clamp(const Expression& x, const Expression& low, const Expression& high) {
  return Expression::of(Ternary::clamp, x, low, high);
}
/// `a` where the condition is true or not 0, and `b` elsewhere.
inline Expression select(const Expression& condition, const Expression& a, const Expression& b) {
  return Expression::of(Ternary::select, condition, a, b);
}

}  // namespace troupe::inline v0
#pragma GCC visibility pop
