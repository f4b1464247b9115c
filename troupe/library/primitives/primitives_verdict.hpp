// What the numbers in a primitives op's verdict (op/primitives_finding.hpp) mean, in a sentence that names the place:
// the backends write numbers only, and what is said of them is said once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

/// `invalid_argument` unless the words say that all is well. The sentence begins with the name of the call.
Result<void> judge_primitives(std::string_view call, std::span<const std::int32_t> words);

}  // namespace troupe::inline v0
