// What the numbers in a primitives op's verdict (op/primitives_finding.hpp) mean, in a sentence that names the place.
#pragma once

#include <cstdint>
#include <span>

#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

/// `invalid_argument` unless the words say that all is well.
Result<void> judge_primitives(std::span<const std::int32_t> words);

}  // namespace troupe::inline v0
