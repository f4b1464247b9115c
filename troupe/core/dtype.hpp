// Element types and their names as text. What needs `Result` is here; the types themselves are in element.hpp, which
// GPU code can include.
#pragma once

#include <string_view>

#include "troupe/core/element.hpp"
#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

/// The enumerator as spelled, and "bool".
std::string_view name(DType dtype) noexcept;

/// The type with that name, or `invalid_argument`.
Result<DType> parse_dtype(std::string_view name);

}  // namespace troupe::inline v0
