// How the arrays of a row lie in memory, and the shapes that go with it. Extents are powers of two: what they do to
// caches, they do to both sides.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/matrix/row.hpp"

namespace troupe::bench::matrix {

/// Between which numbers an operand's are.
struct Range {
  double low;
  double high;
};

enum class Layout {
  contiguous,
  transposed,  // the last two dimensions change places
  strided,     // every second element of each row
  padded,      // half of each row: rows have gaps between them
  row,         // one row, repeated for all
  column,      // one column, repeated for all
  number,      // one number, repeated for all
};

std::string name(Layout layout);

/// An operand that is seen as `shape`, or is repeated until it has that shape.
Operand operand(Layout layout, DType dtype, const std::vector<std::int64_t>& shape, Range range);

/// The extents of that many elements in so many dimensions, as equal as they can be. Needs a power of two.
std::vector<std::int64_t> split(std::int64_t count, int rank);

/// The shape without these axes.
std::vector<std::int64_t> left_out(const std::vector<std::int64_t>& shape, std::span<const int> axes);

}  // namespace troupe::bench::matrix
