// How much work an op is, is asked before it is checked, too: then its shapes may be anything, and their product may
// have no number.
#pragma once

#include <algorithm>

#include "troupe/op/view.hpp"

namespace troupe::inline v0::op {

/// So many elements, or `most`.
inline std::uint64_t count_at_most(const View& view, std::uint64_t most) noexcept {
  std::uint64_t count = 1;
  for (const std::int64_t extent : view.shape)
    if (extent <= 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count))
      return extent <= 0 ? 0 : most;
  return std::min(count, most);
}

}  // namespace troupe::inline v0::op
