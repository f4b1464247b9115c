// The functions of elements by the type that is computed in, and what they cost: for ops of one function and for
// expressions of many.
#pragma once

#include <complex>

#include "troupe/backend/host/vectors/vector_rows.hpp"
#include "troupe/backend/host/vectors/whole_rows.hpp"

namespace troupe::host {

/// What numbers of a type are computed in here: f32 for the floats of 16 bits, and all others as they are.
template <Element T>
using NumberType = std::conditional_t<detail::kIsSmallFloat<T>, float, T>;

template <class C>
const NumberRows<C>& number_rows() noexcept {
  if constexpr (detail::kIsComplex<C>)
    return complex_rows<C>();
  else if constexpr (std::integral<C>)
    return std::get<NumberRows<C>>(whole_rows().numbers);
  else if constexpr (std::same_as<C, float>)
    return vector_rows().f32;
  else
    return vector_rows().f64;
}

/// What an f32 costs by vectors of 512 bits, about: measured with `./dev bench --torch`.
constexpr double ns_of(Unary function) noexcept {
  switch (function) {
    case Unary::exp:
    case Unary::log:
    case Unary::sin:
    case Unary::cos:
    case Unary::expm1:
    case Unary::log1p:
    case Unary::sigmoid:
    case Unary::silu:
    case Unary::gelu_tanh: return 1;
    case Unary::tan:
    case Unary::tanh:
    case Unary::erf:
    case Unary::softplus:
    case Unary::gelu: return 3;
    default: return 0.1;
  }
}
constexpr double ns_of(Binary function) noexcept { return function == Binary::pow ? 4 : 0.1; }
constexpr double ns_of(Ternary) noexcept { return 0.1; }

/// The same for any type.
template <class C, class F>
constexpr double ns_per_number(F function) noexcept {
  return ns_of(function) * (detail::kIsComplex<C> ? 10 : static_cast<double>(sizeof(C)) / sizeof(float));
}

}  // namespace troupe::host
