// What each operation on elements computes, for the CPU and the GPU alike: one definition, so that both mean the same.
// The numbers are of the types that are computed in: f32, f64, their complex types, integers and bool. Integers wrap:
// they keep the low bits of what is true. Comparisons give 1 or 0.
#pragma once

#include <cmath>
#include <complex>
#include <limits>

#include "troupe/core/activation.hpp"
#include "troupe/core/element.hpp"
#include "troupe/core/kinds.hpp"
#include "troupe/op/complex_functions.hpp"

namespace troupe::inline v0::tensor {

/// An integer type, or bool.
template <class T>
inline constexpr bool kIsWhole = std::is_integral_v<T>;

/// Whether numbers of type `C`, which are computed with, have the function.
template <class C, auto function>
inline constexpr bool kHas = std::is_same_v<C, bool> ? detail::takes_bool(function)
                             : kIsWhole<C>           ? detail::takes_integers(function)
                             : detail::kIsComplex<C> ? detail::takes_complex(function)
                                                     : detail::takes_floats(function);

/// a b + c d. A GPU's compiler makes one of both products part of a fused operation, now this one, now that one: so it
/// is said which, and every kernel gives the same bits.
template <class R>
TROUPE_EVERYWHERE R sum_of_products(R a, R b, R c, R d) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<R, float>)
    return std::fma(a, b, __fmul_rn(c, d));
  else
    return std::fma(a, b, __dmul_rn(c, d));
#else
  return a * b + c * d;
#endif
}

/// Complex numbers by their parts: nvcc gives wrong results for the sums of std::complex, without a word, and the
/// products take a detour for infinities. Integers by unsigned ones, which wrap. The sum of bools says whether either
/// is true, and their product whether both are.
template <class T>
TROUPE_EVERYWHERE T plus(T a, T b) {
  if constexpr (detail::kIsComplex<T>)
    return T(a.real() + b.real(), a.imag() + b.imag());
  else if constexpr (kIsWhole<T>)
    return static_cast<T>(detail::to_compute(a) + detail::to_compute(b));
  else
    return a + b;
}
template <class T>
TROUPE_EVERYWHERE T minus(T a, T b) {
  if constexpr (detail::kIsComplex<T>)
    return T(a.real() - b.real(), a.imag() - b.imag());
  else if constexpr (kIsWhole<T>)
    return static_cast<T>(detail::to_compute(a) - detail::to_compute(b));
  else
    return a - b;
}
template <class T>
TROUPE_EVERYWHERE T times(T a, T b) {
  if constexpr (detail::kIsComplex<T>)
    return T(sum_of_products(a.real(), b.real(), -a.imag(), b.imag()),
             sum_of_products(a.real(), b.imag(), a.imag(), b.real()));
  else if constexpr (kIsWhole<T>)
    return static_cast<T>(detail::to_compute(a) * detail::to_compute(b));
  else
    return a * b;
}

/// Scaled by the larger part of `b`, so that no square overflows on the way.
template <class T>
TROUPE_EVERYWHERE T over(T a, T b) {
  if constexpr (detail::kIsComplex<T>) {
    if (std::fabs(b.real()) >= std::fabs(b.imag())) {
      const auto ratio = b.imag() / b.real();
      const auto scale = b.real() + b.imag() * ratio;
      return T((a.real() + a.imag() * ratio) / scale, (a.imag() - a.real() * ratio) / scale);
    }
    const auto ratio = b.real() / b.imag();
    const auto scale = b.real() * ratio + b.imag();
    return T((a.real() * ratio + a.imag()) / scale, (a.imag() * ratio - a.real()) / scale);
  } else {
    return a / b;
  }
}

/// NaN when either is.
template <class T>
TROUPE_EVERYWHERE T lesser(T a, T b) {
  if constexpr (kIsWhole<T>)
    return a < b ? a : b;
  else
    return a < b || std::isnan(a) ? a : b;
}
template <class T>
TROUPE_EVERYWHERE T greater(T a, T b) {
  if constexpr (kIsWhole<T>)
    return a > b ? a : b;
  else
    return a > b || std::isnan(a) ? a : b;
}

template <class T>
TROUPE_EVERYWHERE bool is_equal(T a, T b) {
  if constexpr (detail::kIsComplex<T>)
    return a.real() == b.real() && a.imag() == b.imag();
  else
    return a == b;
}

/// A function of numbers with f64 parts, for those with any.
template <class R, class F>
TROUPE_EVERYWHERE std::complex<R> in_f64(F&& function, std::complex<R> z) {
  const wide::Number result = function(wide::Number(z.real(), z.imag()));
  return {static_cast<R>(result.real()), static_cast<R>(result.imag())};
}

/// Needs one that complex numbers have.
template <Unary function, class R>
TROUPE_EVERYWHERE std::complex<R> complex_apply(std::complex<R> z) {
  using C = std::complex<R>;
  if constexpr (function == Unary::neg) return C(-z.real(), -z.imag());
  if constexpr (function == Unary::conj) return C(z.real(), -z.imag());
  if constexpr (function == Unary::square) return times(z, z);
  if constexpr (function == Unary::sqrt) return in_f64(wide::sqrt, z);
  if constexpr (function == Unary::rsqrt) return in_f64(wide::rsqrt, z);
  if constexpr (function == Unary::reciprocal) return over(C(1, 0), z);
  if constexpr (function == Unary::exp) return in_f64(wide::exp, z);
  if constexpr (function == Unary::log) return in_f64(wide::log, z);
  if constexpr (function == Unary::sin) return in_f64(wide::sin, z);
  if constexpr (function == Unary::cos) return in_f64(wide::cos, z);
  if constexpr (function == Unary::tanh) return in_f64(wide::tanh, z);
  return z;
}

template <Unary function, class T>
TROUPE_EVERYWHERE T real_apply(T x) {
  constexpr T kRootOfHalf = static_cast<T>(0.70710678118654752440L);
  if constexpr (function == Unary::neg) return -x;
  if constexpr (function == Unary::square) return x * x;
  if constexpr (function == Unary::sqrt) return std::sqrt(x);
  if constexpr (function == Unary::rsqrt) return 1 / std::sqrt(x);
  if constexpr (function == Unary::reciprocal) return 1 / x;
  if constexpr (function == Unary::exp) return std::exp(x);
  if constexpr (function == Unary::log) return std::log(x);
  if constexpr (function == Unary::sin) return std::sin(x);
  if constexpr (function == Unary::cos) return std::cos(x);
  if constexpr (function == Unary::tanh) return std::tanh(x);
  if constexpr (function == Unary::abs) return std::fabs(x);
  if constexpr (function == Unary::sign) return x > 0 ? T{1} : x < 0 ? T{-1} : x;
  if constexpr (function == Unary::expm1) return std::expm1(x);
  if constexpr (function == Unary::log1p) return std::log1p(x);
  if constexpr (function == Unary::tan) return std::tan(x);
  if constexpr (function == Unary::erf) return std::erf(x);
  if constexpr (function == Unary::relu) return x < 0 ? T{0} : x;
  if constexpr (function == Unary::sigmoid) return 1 / (1 + std::exp(-x));
  if constexpr (function == Unary::silu) return x / (1 + std::exp(-x));
  if constexpr (function == Unary::gelu) return x / 2 * std::erfc(-x * kRootOfHalf);
  if constexpr (function == Unary::softplus) return std::log1p(std::exp(-std::fabs(x))) + (x < 0 ? T{0} : x);
  if constexpr (function == Unary::floor) return std::floor(x);
  if constexpr (function == Unary::ceil) return std::ceil(x);
  if constexpr (function == Unary::round) return std::rint(x);
  if constexpr (function == Unary::gelu_tanh) return gelu_tanh(x);
  return x;
}

/// Needs one that integers have.
template <Unary function, class T>
TROUPE_EVERYWHERE T whole_apply(T x) {
  if constexpr (function == Unary::bit_not && std::is_same_v<T, bool>) return !x;
  if constexpr (function == Unary::bit_not) return static_cast<T>(~detail::to_compute(x));
  if constexpr (function == Unary::neg) return minus(T{0}, x);
  if constexpr (function == Unary::square) return times(x, x);
  if constexpr (std::is_signed_v<T>) {
    if constexpr (function == Unary::abs) return x < 0 ? minus(T{0}, x) : x;
    if constexpr (function == Unary::sign) return x < 0 ? T{-1} : T(x > 0);
    if constexpr (function == Unary::relu) return x < 0 ? T{0} : x;
  }
  if constexpr (function == Unary::sign) return T(x > 0);
  return x;
}

template <Unary function, class T>
TROUPE_EVERYWHERE T apply(T x) {
  if constexpr (kIsWhole<T>)
    return whole_apply<function>(x);
  else if constexpr (detail::kIsComplex<T>)
    return complex_apply<function>(x);
  else
    return real_apply<function>(x);
}

/// By `count` bits; by less than none or all of them, nothing is left but the sign.
template <class T>
TROUPE_EVERYWHERE T shifted_left(T a, T count) {
  constexpr unsigned kLast = sizeof(T) * 8 - 1;
  const auto by = detail::to_compute(count);
  return by <= kLast ? static_cast<T>(detail::to_compute(a) << by) : T{0};
}
template <class T>
TROUPE_EVERYWHERE T shifted_right(T a, T count) {
  constexpr unsigned kLast = sizeof(T) * 8 - 1;
  const auto by = detail::to_compute(count);
  return static_cast<T>(by <= kLast ? a >> by : a >> kLast >> 1);
}

template <Binary function, class T>
TROUPE_EVERYWHERE T apply(T a, T b) {
  if constexpr (function == Binary::add) return plus(a, b);
  if constexpr (function == Binary::sub) return minus(a, b);
  if constexpr (function == Binary::mul) return times(a, b);
  if constexpr (function == Binary::div) return over(a, b);
  if constexpr (function == Binary::equal) return T(is_equal(a, b));
  if constexpr (function == Binary::not_equal) return T(!is_equal(a, b));
  if constexpr (!detail::kIsComplex<T>) {
    if constexpr (function == Binary::min) return lesser(a, b);
    if constexpr (function == Binary::max) return greater(a, b);
    if constexpr (function == Binary::pow) return std::pow(a, b);
    if constexpr (function == Binary::less) return T(a < b);
    if constexpr (function == Binary::less_equal) return T(a <= b);
    if constexpr (function == Binary::greater) return T(a > b);
    if constexpr (function == Binary::greater_equal) return T(a >= b);
  }
  if constexpr (kIsWhole<T>) {
    if constexpr (function == Binary::bit_and) return static_cast<T>(a & b);
    if constexpr (function == Binary::bit_or) return static_cast<T>(a | b);
    if constexpr (function == Binary::bit_xor) return static_cast<T>(a ^ b);
    if constexpr (function == Binary::shift_left) return shifted_left(a, b);
    if constexpr (function == Binary::shift_right) return shifted_right(a, b);
  }
}

/// The condition of a selection is 0 or something else.
template <Ternary function, class T>
TROUPE_EVERYWHERE T apply(T a, T b, T c) {
  if constexpr (function == Ternary::fma) return plus(times(a, b), c);
  if constexpr (function == Ternary::select) return a != T{} ? b : c;
  if constexpr (!detail::kIsComplex<T> && function == Ternary::clamp) return lesser(greater(a, b), c);
}

/// What is kept while a reduction runs: f64, or complex f64. Sums of f32 so lose nothing but their last rounding. Of
/// f16 and bf16 a GPU adds four at a time in f32 first, so that they lose no more than f32 does. Of integers and bool
/// it is 64 bits, and f64 only for functions that they have not.
template <Reduction function, class T>
using Accumulator = std::conditional_t<
    detail::kIsComplex<T>, std::complex<double>,
    std::conditional_t<kIsWhole<T> && detail::takes_integers(function),
                       std::conditional_t<std::is_signed_v<T> || std::is_same_v<T, bool>, std::int64_t, std::uint64_t>,
                       double>>;

/// What nothing at all is reduced to.
template <Reduction function, class A>
TROUPE_EVERYWHERE A nothing() {
  using Limits = std::numeric_limits<A>;
  if constexpr (function == Reduction::product)
    return A(1);
  else if constexpr (function == Reduction::min)
    return kIsWhole<A> ? Limits::max() : Limits::infinity();
  else if constexpr (function == Reduction::max)
    return kIsWhole<A> ? Limits::min() : -Limits::infinity();
  else
    return A(0);
}

/// What an element counts for.
template <Reduction function, class A>
TROUPE_EVERYWHERE A term(A x) {
  if constexpr (function != Reduction::norm)
    return x;
  else if constexpr (detail::kIsComplex<A>)
    return A(sum_of_products(x.real(), x.real(), x.imag(), x.imag()), 0);
  else
    return x * x;
}

template <Reduction function, class A>
TROUPE_EVERYWHERE A combine(A a, A b) {
  if constexpr (function == Reduction::product)
    return times(a, b);
  else if constexpr (function == Reduction::min && !detail::kIsComplex<A>)
    return lesser(a, b);
  else if constexpr (function == Reduction::max && !detail::kIsComplex<A>)
    return greater(a, b);
  else
    return plus(a, b);
}

/// From what all terms were combined to, to the result.
template <Reduction function, class A>
TROUPE_EVERYWHERE A finish(A all, double count) {
  if constexpr (function == Reduction::mean) {
    if constexpr (detail::kIsComplex<A>)
      return A(all.real() / count, all.imag() / count);
    else
      return all / count;
  } else if constexpr (function == Reduction::norm) {
    if constexpr (detail::kIsComplex<A>)
      return A(std::sqrt(all.real()), 0);
    else
      return std::sqrt(all);
  } else {
    return all;
  }
}

/// Calls `f` with the function as a constant, where numbers of type `C` have it.
template <class C, class F, class Call>
TROUPE_EVERYWHERE void with_function(F function, Call&& call) {
  const auto attempt = [&]<std::uint8_t number>() {
    if constexpr (kHas<C, static_cast<F>(number)>)
      if (function == static_cast<F>(number)) call(std::integral_constant<F, static_cast<F>(number)>{});
  };
  [&]<std::uint8_t... numbers>(std::integer_sequence<std::uint8_t, numbers...>) {
    (attempt.template operator()<numbers>(), ...);
  }(std::make_integer_sequence<std::uint8_t, static_cast<std::uint8_t>(F::kLast) + 1>{});
}

}  // namespace troupe::inline v0::tensor
