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
#include <type_traits>
#include <utility>

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

/// An expression whose elements are of type `T`, as its arrays say: `x + 1` of an `Array<float>` x. Where they do not
/// say it (arrays of several types, the square root of integers) it is an `Expression`, and whoever stores it says of
/// which type the result is.
template <class T>
class ExpressionOf : public Expression {
 public:
  using value_type = T;
  explicit ExpressionOf(Expression expression) noexcept : Expression(std::move(expression)) {}
};

namespace detail {

template <class T>
struct TypeOfElements {
  using type = T;
};
template <class T>
TypeOfElements<T> type_of_elements(const Array<T>&);
template <class T>
TypeOfElements<T> type_of_elements(const HostArray<T>&);
template <class T>
TypeOfElements<T> type_of_elements(const ExpressionOf<T>&);
TypeOfElements<void> type_of_elements(const AnyArray&);
TypeOfElements<void> type_of_elements(const Expression&);

template <class X>
concept ArrayOperand = std::derived_from<X, AnyArray> || std::derived_from<X, Expression>;
template <class X>
concept RealNumber = std::is_arithmetic_v<X>;
template <class X>
concept ComplexNumber = std::same_as<X, std::complex<float>> || std::same_as<X, std::complex<double>>;
/// What expressions are made of; at least one is an array.
template <class... X>
concept Terms = (ArrayOperand<X> || ...) && ((ArrayOperand<X> || RealNumber<X> || ComplexNumber<X>) && ...);

/// A number has the type of what it meets, if that can hold it: a fraction meets no whole numbers, and a complex number
/// meets complex ones.
struct OfAnyType {};
struct OfFractionType {};
struct OfComplexType {};
template <class X>
struct ElementsOf {
  using type = std::conditional_t<ComplexNumber<X>, OfComplexType,
                                  std::conditional_t<std::floating_point<X>, OfFractionType, OfAnyType>>;
};
template <ArrayOperand X>
struct ElementsOf<X> {
  using type = typename decltype(type_of_elements(std::declval<const X&>()))::type;
};
template <class A>
using TypeOf = typename ElementsOf<A>::type;

template <class A, class B>
consteval auto together() {
  if constexpr (std::is_void_v<A> || std::is_void_v<B>)
    return TypeOfElements<void>{};
  else if constexpr (std::same_as<A, B> || std::same_as<B, OfAnyType> || (std::same_as<B, bool> && Element<A>) ||
                     (std::same_as<B, OfFractionType> && !std::integral<A>) ||
                     (std::same_as<B, OfComplexType> && ComplexNumber<A>))
    return TypeOfElements<A>{};
  else if constexpr (std::same_as<A, OfAnyType> || (std::same_as<A, bool> && Element<B>) ||
                     (std::same_as<A, OfFractionType> && !std::integral<B>) ||
                     (std::same_as<A, OfComplexType> && ComplexNumber<B>))
    return TypeOfElements<B>{};
  else
    return TypeOfElements<void>{};
}
/// The type of both together: `void` where a person must say it.
template <class A, class B>
using Together = typename decltype(together<A, B>())::type;
template <class A, class B>
using TypeOfBoth = Together<TypeOf<A>, TypeOf<B>>;
/// Functions that make fractions of whole numbers have no type of their own there.
template <class T>
using Fractional = std::conditional_t<std::integral<T>, void, T>;

template <class T>
struct ExpressionAs {
  using type = Expression;
};
template <Element T>
struct ExpressionAs<T> {
  using type = ExpressionOf<T>;
};
template <class T, class Function, class... X>
typename ExpressionAs<T>::type applied_to(Function function, const X&... x) {
  return typename ExpressionAs<T>::type(Expression::of(function, Expression(x)...));
}

}  // namespace detail

/// The sum, element by element.
template <class A, class B>
  requires detail::Terms<A, B>
auto operator+(const A& a, const B& b) {
  return detail::applied_to<detail::TypeOfBoth<A, B>>(Binary::add, a, b);
}
/// The difference.
template <class A, class B>
  requires detail::Terms<A, B>
auto operator-(const A& a, const B& b) {
  return detail::applied_to<detail::TypeOfBoth<A, B>>(Binary::sub, a, b);
}
/// The product.
template <class A, class B>
  requires detail::Terms<A, B>
auto operator*(const A& a, const B& b) {
  return detail::applied_to<detail::TypeOfBoth<A, B>>(Binary::mul, a, b);
}
/// The quotient.
template <class A, class B>
  requires detail::Terms<A, B>
auto operator/(const A& a, const B& b) {
  return detail::applied_to<detail::Fractional<detail::TypeOfBoth<A, B>>>(Binary::div, a, b);
}
/// The negative.
template <detail::ArrayOperand A>
auto operator-(const A& a) {
  return detail::applied_to<detail::TypeOf<A>>(Unary::neg, a);
}
/// `less`, below.
template <class A, class B>
  requires detail::Terms<A, B>
auto operator<(const A& a, const B& b) {
  return detail::applied_to<bool>(Binary::less, a, b);
}
/// `less_equal`, below.
template <class A, class B>
  requires detail::Terms<A, B>
auto operator<=(const A& a, const B& b) {
  return detail::applied_to<bool>(Binary::less_equal, a, b);
}
/// `greater`, below.
template <class A, class B>
  requires detail::Terms<A, B>
auto operator>(const A& a, const B& b) {
  return detail::applied_to<bool>(Binary::greater, a, b);
}
/// `greater_equal`, below.
template <class A, class B>
  requires detail::Terms<A, B>
auto operator>=(const A& a, const B& b) {
  return detail::applied_to<bool>(Binary::greater_equal, a, b);
}

// The functions of `Unary`, `Binary` and `Ternary` by their names, element by element.

/// The complex conjugate.
template <detail::ArrayOperand A>
auto conj(const A& x) {
  return detail::applied_to<detail::TypeOf<A>>(Unary::conj, x);
}
/// x times x.
template <detail::ArrayOperand A>
auto square(const A& x) {
  return detail::applied_to<detail::TypeOf<A>>(Unary::square, x);
}
/// The square root.
template <detail::ArrayOperand A>
auto sqrt(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::sqrt, x);
}
/// 1 / sqrt(x).
template <detail::ArrayOperand A>
auto rsqrt(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::rsqrt, x);
}
/// 1 / x.
template <detail::ArrayOperand A>
auto reciprocal(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::reciprocal, x);
}
/// e to the power of x.
template <detail::ArrayOperand A>
auto exp(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::exp, x);
}
/// The natural logarithm.
template <detail::ArrayOperand A>
auto log(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::log, x);
}
/// The sine.
template <detail::ArrayOperand A>
auto sin(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::sin, x);
}
/// The cosine.
template <detail::ArrayOperand A>
auto cos(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::cos, x);
}
/// The hyperbolic tangent.
template <detail::ArrayOperand A>
auto tanh(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::tanh, x);
}
/// The absolute value of real numbers.
template <detail::ArrayOperand A>
auto abs(const A& x) {
  return detail::applied_to<detail::TypeOf<A>>(Unary::abs, x);
}
/// 1, -1, or x where it is 0 or NaN.
template <detail::ArrayOperand A>
auto sign(const A& x) {
  return detail::applied_to<detail::TypeOf<A>>(Unary::sign, x);
}
/// exp(x) - 1, also where x is small.
template <detail::ArrayOperand A>
auto expm1(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::expm1, x);
}
/// log(1 + x), also where x is small.
template <detail::ArrayOperand A>
auto log1p(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::log1p, x);
}
/// The tangent.
template <detail::ArrayOperand A>
auto tan(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::tan, x);
}
/// The error function.
template <detail::ArrayOperand A>
auto erf(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::erf, x);
}
/// max(x, 0); NaN stays NaN.
template <detail::ArrayOperand A>
auto relu(const A& x) {
  return detail::applied_to<detail::TypeOf<A>>(Unary::relu, x);
}
/// 1 / (1 + exp(-x)).
template <detail::ArrayOperand A>
auto sigmoid(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::sigmoid, x);
}
/// x sigmoid(x).
template <detail::ArrayOperand A>
auto silu(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::silu, x);
}
/// x times the normal distribution function of x.
template <detail::ArrayOperand A>
auto gelu(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::gelu, x);
}
/// The approximation of gelu by tanh: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
template <detail::ArrayOperand A>
auto gelu_tanh(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::gelu_tanh, x);
}
/// log(1 + exp(x)).
template <detail::ArrayOperand A>
auto softplus(const A& x) {
  return detail::applied_to<detail::Fractional<detail::TypeOf<A>>>(Unary::softplus, x);
}
/// To the next whole number below.
template <detail::ArrayOperand A>
auto floor(const A& x) {
  return detail::applied_to<detail::TypeOf<A>>(Unary::floor, x);
}
/// To the next whole number above.
template <detail::ArrayOperand A>
auto ceil(const A& x) {
  return detail::applied_to<detail::TypeOf<A>>(Unary::ceil, x);
}
/// To the nearest whole number, ties to even.
template <detail::ArrayOperand A>
auto round(const A& x) {
  return detail::applied_to<detail::TypeOf<A>>(Unary::round, x);
}
/// The lesser; NaN when either is.
template <class A, class B>
  requires detail::Terms<A, B>
auto min(const A& a, const B& b) {
  return detail::applied_to<detail::TypeOfBoth<A, B>>(Binary::min, a, b);
}
/// The greater; NaN when either is.
template <class A, class B>
  requires detail::Terms<A, B>
auto max(const A& a, const B& b) {
  return detail::applied_to<detail::TypeOfBoth<A, B>>(Binary::max, a, b);
}
/// a to the power of b.
template <class A, class B>
  requires detail::Terms<A, B>
auto pow(const A& a, const B& b) {
  return detail::applied_to<detail::Fractional<detail::TypeOfBoth<A, B>>>(Binary::pow, a, b);
}
/// 1 where a is b, else 0; likewise the other comparisons. With a NaN only `not_equal` is 1.
template <class A, class B>
  requires detail::Terms<A, B>
auto equal(const A& a, const B& b) {
  return detail::applied_to<bool>(Binary::equal, a, b);
}
/// 1 where a is not b, else 0.
template <class A, class B>
  requires detail::Terms<A, B>
auto not_equal(const A& a, const B& b) {
  return detail::applied_to<bool>(Binary::not_equal, a, b);
}
/// 1 where a < b, else 0.
template <class A, class B>
  requires detail::Terms<A, B>
auto less(const A& a, const B& b) {
  return detail::applied_to<bool>(Binary::less, a, b);
}
/// 1 where a <= b, else 0.
template <class A, class B>
  requires detail::Terms<A, B>
auto less_equal(const A& a, const B& b) {
  return detail::applied_to<bool>(Binary::less_equal, a, b);
}
/// 1 where a > b, else 0.
template <class A, class B>
  requires detail::Terms<A, B>
auto greater(const A& a, const B& b) {
  return detail::applied_to<bool>(Binary::greater, a, b);
}
/// 1 where a >= b, else 0.
template <class A, class B>
  requires detail::Terms<A, B>
auto greater_equal(const A& a, const B& b) {
  return detail::applied_to<bool>(Binary::greater_equal, a, b);
}
/// a b + c.
template <class A, class B, class C>
  requires detail::Terms<A, B, C>
auto fma(const A& a, const B& b, const C& c) {
  return detail::applied_to<detail::Together<detail::TypeOfBoth<A, B>, detail::TypeOf<C>>>(Ternary::fma, a, b, c);
}
/// x, but at least `low` and at most `high`.
template <class X, class Low, class High>
  requires detail::Terms<X, Low, High>
auto clamp(const X& x, const Low& low, const High& high) {
  return detail::applied_to<detail::Together<detail::TypeOfBoth<X, Low>, detail::TypeOf<High>>>(Ternary::clamp, x, low,
                                                                                                high);
}
/// `a` where the condition is true or not 0, and `b` elsewhere.
template <class Condition, class A, class B>
  requires detail::Terms<Condition, A, B>
auto select(const Condition& condition, const A& a, const B& b) {
  return detail::applied_to<detail::TypeOfBoth<A, B>>(Ternary::select, condition, a, b);
}
/// `select` under NumPy's name.
template <class Condition, class A, class B>
  requires detail::Terms<Condition, A, B>
auto where(const Condition& condition, const A& a, const B& b) {
  return troupe::select(condition, a, b);
}

}  // namespace troupe::inline v0
#pragma GCC visibility pop
