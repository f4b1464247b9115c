#include "bench/matrix/layouts.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "troupe/core/assert.hpp"

namespace troupe::bench::matrix {

std::string name(Layout layout) {
  constexpr std::array kNames = {"contiguous", "transposed", "strided", "padded", "row", "column", "number"};
  return kNames[static_cast<std::size_t>(layout)];
}

Operand operand(Layout layout, DType dtype, const std::vector<std::int64_t>& shape, Range range) {
  Operand made{.dtype = dtype, .shape = shape, .low = range.low, .high = range.high};
  const std::int64_t columns = shape.back();
  switch (layout) {
    case Layout::contiguous: break;
    case Layout::transposed:
      made.shape = {columns, shape.front()};
      made.order = {1, 0};
      break;
    case Layout::strided:
      made.shape.back() = 2 * columns;
      made.slice = {.begin = 0, .end = 2 * columns, .step = 2};
      break;
    case Layout::padded:
      made.shape.back() = 2 * columns;
      made.slice = {.begin = 0, .end = columns, .step = 1};
      break;
    case Layout::row: made.shape = {columns}; break;
    case Layout::column: made.shape.back() = 1; break;
    case Layout::number: made.number = 1.5; break;
  }
  return made;
}

std::vector<std::int64_t> split(std::int64_t count, int rank) {
  TROUPE_ASSERT(std::has_single_bit(static_cast<std::uint64_t>(count)), "a size is a power of two");
  const int bits = std::countr_zero(static_cast<std::uint64_t>(count));
  std::vector<std::int64_t> extents;
  for (int axis = 0; axis < rank; ++axis)
    extents.push_back(std::int64_t{1} << (bits * (axis + 1) / rank - bits * axis / rank));
  return extents;
}

std::vector<std::int64_t> left_out(const std::vector<std::int64_t>& shape, std::span<const int> axes) {
  std::vector<std::int64_t> kept;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (std::ranges::find(axes, static_cast<int>(axis)) == axes.end()) kept.push_back(shape[axis]);
  return kept;
}

}  // namespace troupe::bench::matrix
