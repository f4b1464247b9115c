// What the numbers in a sparse op's verdict (op/sparse_finding.hpp) mean, in a sentence that names the row and the
// column.
#pragma once

#include <cstdint>
#include <span>

#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

/// `invalid_argument` for a fault of the structure, `numerical_error` for one of the diagonal.
Result<void> judge_sparse(std::span<const std::int32_t> words);

}  // namespace troupe::inline v0
