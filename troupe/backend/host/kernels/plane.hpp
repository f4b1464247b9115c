// Copies of elements along two loops, by their size alone: what a permutation, and a tile of a walk, come down to.
// Elements of up to 16 bytes go by vectors, larger ones as rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::host {

/// out[row, column] = in[row, column], steps in bytes. The memory need not be aligned and does not overlap.
struct Plane {
  const std::byte* in = nullptr;
  std::int64_t in_row = 0;
  std::int64_t in_column = 0;
  std::byte* out = nullptr;
  std::int64_t out_row = 0;
  std::int64_t out_column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Of elements of any size. Those of 1, 2, 4, 8 or 16 bytes are transposed by vectors.
void copy_plane(const Plane& plane, std::int64_t size) noexcept;

}  // namespace troupe::host
