// What the checks of ops share, so that all of them say the same thing in the same words: who refuses, what is wrong,
// what was given, and what would do. The names are those of the call that a user wrote.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "troupe/op/view.hpp"

namespace troupe::inline v0::op {

/// A view under the name that the call gives it.
struct NamedView {
  std::string_view name;
  const View& view;
};
struct NamedScalar {
  std::string_view name;
  const Scalar& scalar;
};

/// "0.5", or "0+1i" when it has an imaginary part.
std::string number_of(const Scalar& scalar);
/// "f32, f64 or c64".
std::string names_of(std::span<const DType> types);

/// `invalid_argument`: "gemm: why".
Unexpected refuse(std::string_view call, const std::string& why);
/// `unsupported`: "gemm: why".
Unexpected refuse_unsupported(std::string_view call, const std::string& why);

/// All of one type, or `invalid_argument`. Needs one at least.
Result<void> check_same_types(std::string_view call, std::initializer_list<NamedView> views);
/// Of that type, or `invalid_argument`.
Result<void> check_type(std::string_view call, const NamedView& view, DType dtype);
/// Of one of these types, or `unsupported`.
Result<void> check_type_is_one_of(std::string_view call, const NamedView& view, std::initializer_list<DType> allowed);
/// All of one shape, or `invalid_argument`.
Result<void> check_same_shapes(std::string_view call, std::initializer_list<NamedView> views);
/// Of that shape, or `invalid_argument`.
Result<void> check_shape(std::string_view call, const NamedView& view, const Shape& shape);
/// Each of that rank, or `invalid_argument`.
Result<void> check_ranks(std::string_view call, int rank, std::initializer_list<NamedView> views);
/// A matrix with as many rows as columns, or `invalid_argument`.
Result<void> check_square(std::string_view call, const NamedView& view);
/// a b fits into c, for matrices, or for batches of them; or `invalid_argument`. Needs views of one rank, 2 or more.
Result<void> check_product(std::string_view call, const NamedView& a, const NamedView& b, const NamedView& c);
/// No NaN, and real for real types, or `invalid_argument`.
Result<void> check_factor(std::string_view call, const NamedScalar& factor, DType dtype);
/// The same of what is multiplied with arrays of any type: for integers a whole number that they can hold, for bool 0
/// or 1.
Result<void> check_number(std::string_view call, const NamedScalar& number, DType dtype);
/// Finite, or `invalid_argument`.
Result<void> check_finite(std::string_view call, std::string_view name, double number);

/// No element of one is an element of the other, as must hold when an op writes one of them; or `invalid_argument`,
/// also where that cannot be told. Needs views that can be.
Result<void> check_apart(std::string_view call, const NamedView& one, const NamedView& other);

/// The types that every op of dense and sparse linear algebra has.
inline constexpr std::initializer_list<DType> kFourTypes = {DType::f32, DType::f64, DType::c64, DType::c128};

}  // namespace troupe::inline v0::op
