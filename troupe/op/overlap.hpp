// Whether two views share memory, element by element. Their ranges are not enough: blocks of columns, even and odd
// columns, tiles and channels of one array have ranges that overlap, and share nothing.
#pragma once

#include <cstdint>

#include "troupe/op/view.hpp"

namespace troupe::inline v0::op {

enum class Overlap : std::uint8_t { none, some, unsure };

/// Tries of `overlap_of`: some microseconds. Views whose strides are multiples of each other need a few.
inline constexpr int kMaxOverlapTries = 1000;

/// `none` and `some` are certain. `unsure` of strides that need too many tries, and of views that have no range.
Overlap overlap_of(const View& a, const View& b) noexcept;

}  // namespace troupe::inline v0::op
