// What the kernels that move and convert elements are called with: known to the worker and to the code on the GPU.
// Plain types only.
#pragma once

#include "troupe/backend/cuda/kernels/group_axes.hpp"

namespace troupe::cuda {

/// How many elements a thread takes at a time, where the larger of both types has that size.
constexpr int moved_items(int size_bytes) noexcept { return 16 / size_bytes; }

/// An array becomes another: copied or converted.
struct MoveArguments {
  const void* in;
  void* out;
  GroupAxes<2> axes;  // of both
};

/// An array into the order of another, through tiles in which one side is dense in the input and one in the output.
struct PermuteArguments {
  const void* in;
  void* out;
  long long x_extent;  // dense in the output
  long long y_extent;  // dense in the input
  long long x_in, x_out, y_in, y_out;
  unsigned x_tiles, y_tiles;
  Divisor by_x_tiles, by_y_tiles;
  KernelAxes<2> outer;  // of both
};

/// The words in which elements of that size are permuted where they can be: rows of a tile are 256 bytes then, or 128
/// of the smallest, of which a tile would be too large.
constexpr int word_bytes(int size_bytes) noexcept { return size_bytes == 1 ? 4 : size_bytes < 8 ? 8 : size_bytes; }

inline constexpr int kPermuteTile = 32;  // words along each row of a tile
inline constexpr int kPermuteRows = 8;   // threads of a block: this many times a row of a tile

}  // namespace troupe::cuda
