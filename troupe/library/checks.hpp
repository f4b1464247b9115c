// What the families check of their arguments, in the same words. Everything here is looked at before an op is made, so
// that bad input costs nothing and reaches no device.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "troupe/device/array.hpp"
#include "troupe/library/factor.hpp"

namespace troupe::checks {

/// `invalid_argument`: "gemm: the types differ".
Unexpected refuse(std::string_view op, std::string_view why);

/// All of one type, or `invalid_argument`. Needs one at least.
Result<void> same_types(std::string_view op, std::initializer_list<const AnyArray*> arrays);
/// One of `allowed`, or `unsupported` and what would be.
Result<void> type_is_one_of(std::string_view op, DType dtype, std::initializer_list<DType> allowed);
/// All of one shape, or `invalid_argument`.
Result<void> same_shapes(std::string_view op, std::initializer_list<const AnyArray*> arrays);
/// Each of that rank, or `invalid_argument`.
Result<void> ranks(std::string_view op, int rank, std::initializer_list<const AnyArray*> arrays);
/// No NaN, and real for real types, or `invalid_argument`.
Result<void> factor(std::string_view op, Factor factor, DType dtype);

/// The types that every op of dense and sparse linear algebra has.
inline constexpr std::initializer_list<DType> kFourTypes = {DType::f32, DType::f64, DType::c64, DType::c128};

}  // namespace troupe::checks
