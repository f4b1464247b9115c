// What the launch of a kernel that was compiled in checked mode has beyond its arguments: how large each array is, and
// memory for what the kernel tells of an access outside. Both are parameters that the compiled text has and users do
// not see (backend/host/jit/checked_source.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "troupe/op/jit.hpp"

namespace troupe::inline v0::detail {

/// Appends the size of the array of each argument, 0 of those that are none. The arguments are the kernel's.
void add_bounds(op::Launch& op);

/// Words that tell of nothing yet, by the kernel's name.
void begin_report(std::span<std::int32_t> words, std::string_view kernel);

/// `invalid_argument` says who touched what, if somebody did.
Result<void> judge_report(std::span<const std::int32_t> words);

}  // namespace troupe::inline v0::detail
