// What a sparse op found, in words that name the row and the column: the meaning of the numbers in a verdict.
// The numbers are those of backend/sparse_steps.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

/// Of a structure: `invalid_argument`. Of a diagonal: `numerical_error`.
Result<void> judge_sparse(std::span<const std::int32_t> words);

}  // namespace troupe::inline v0
