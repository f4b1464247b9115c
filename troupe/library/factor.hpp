// A number that arrays are multiplied by: real, or complex for complex arrays.
// Its type does not matter: it is converted to what the op computes in.
#pragma once

#include <complex>

#include "troupe/op/view.hpp"

namespace troupe::inline v0 {

/// Real factors suit every type; the complex ones come as a pair. Trivially destructible, see `Supervision`.
struct Factor {
  double real = 1.0;
  double imaginary = 0.0;

  constexpr Factor(double real_part = 1.0, double imaginary_part = 0.0) noexcept  // NOLINT(google-explicit-constructor)
      : real(real_part), imaginary(imaginary_part) {}
  template <class T>
  constexpr Factor(std::complex<T> value) noexcept  // NOLINT(google-explicit-constructor)
      : real(value.real()), imaginary(value.imag()) {}

  op::Scalar as_scalar() const noexcept { return op::Scalar(std::complex<double>(real, imaginary)); }
};

}  // namespace troupe::inline v0
