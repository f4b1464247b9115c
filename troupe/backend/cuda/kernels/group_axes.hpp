// The elements that a thread takes at a time: a group, some neighbours along the axis that changes fastest, so that
// where they lie is found once for all of them and each array is read or written in one access where it can be. Known
// to the worker, which makes the axes, and to the code on the GPU, which walks them.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_axes.hpp"

namespace troupe::cuda {

/// How the elements of a group lie in an array.
enum class Way : unsigned char {
  whole,    // side by side, and a whole group so that one access takes it
  strided,  // the same distance apart
  single,   // all are one element
  number,   // they lie nowhere: the array is a number
};

inline constexpr int kGroupThreads = 256;  // of a block
inline constexpr int kTileDepth = 32;      // a block's neighbours along the other axis of a tile
inline constexpr int kTileWidth = 8;       // its groups along a row

/// A row is what lies along the last axis. Where some array is denser along another axis, the threads of a block take a
/// tile of both, so that what it reads of each array lies together.
template <int n>
struct GroupAxes {
  KernelAxes<n> rows;  // the other axes
  long long groups;    // in all
  long long row_items;
  long long row_groups;
  long long strides[n];  // within a row
  long long depth;       // of tiles: along the other axis, which is not one of `rows`; 0: no tiles
  long long depth_strides[n];
  unsigned row_tiles;
  unsigned depth_tiles;
  Divisor by_row_groups;
  Divisor by_row_tiles;
  Divisor by_depth_tiles;
  Way ways[n];
};

/// Where a group begins in each array, in elements.
template <int n>
struct GroupPlace {
  long long at[n];
  long long first;  // of its elements, counted in row-major order; not where there are tiles
  int items;        // of the group that are elements; the end of a row has fewer, and beyond it are none
};

template <bool is_small, int n>
constexpr GroupPlace<n> place_in_row(const GroupAxes<n>& axes, long long row, long long group, int items) noexcept {
  GroupPlace<n> place{};
  const ArrayOffsets<n> begin = offsets_of<is_small>(axes.rows, row);
  const long long item = group * items;
  for (int v = 0; v < n; ++v) place.at[v] = begin.at[v] + item * axes.strides[v];
  place.first = row * axes.row_items + item;
  place.items = axes.row_items - item < items ? static_cast<int>(axes.row_items - item) : items;
  return place;
}

/// The group of that number, of groups of `items`. `is_small` says that there are no more than `kMostDivided`, or one
/// row.
template <int items, bool is_small = false, int n>
constexpr GroupPlace<n> place_of_group(const GroupAxes<n>& axes, long long number) noexcept {
  if (axes.rows.rank == 0) return place_in_row<true>(axes, 0, number, items);
  if (is_small || axes.groups <= kMostDivided) {
    const unsigned row = divided(static_cast<unsigned>(number), axes.by_row_groups);
    const unsigned group = static_cast<unsigned>(number) - row * static_cast<unsigned>(axes.row_groups);
    return place_in_row<true>(axes, row, group, items);
  }
  const long long row = number / axes.row_groups;
  return place_in_row<is_small>(axes, row, number - row * axes.row_groups, items);
}

/// What `thread` of a block takes where a block takes `block_groups`; needs no more groups than `kMostDivided`, or one
/// row. Of tiles, eight neighbours along the depth and four along a row are a warp: both are whole sectors of memory.
template <int items, int block_groups, int n>
constexpr GroupPlace<n> place_of_thread(const GroupAxes<n>& axes, unsigned block, unsigned thread) noexcept {
  if (axes.depth == 0) {
    const long long number = static_cast<long long>(block) * block_groups + thread;
    return number < axes.groups ? place_of_group<items, true>(axes, number) : GroupPlace<n>{};
  }
  constexpr unsigned kBlockDepth = kTileDepth * (block_groups / kGroupThreads);
  const unsigned across = divided(block, axes.by_row_tiles);
  const unsigned row = divided(across, axes.by_depth_tiles);
  const long long group =
      (block - across * axes.row_tiles) * kTileWidth + (thread >> 3 & 3) + (thread >> 5 & 4);  // bits 3, 4 and 7
  const long long deep = (across - row * axes.depth_tiles) * kBlockDepth + (thread & 7) + (thread >> 2 & 24) +
                         (thread / kGroupThreads * kTileDepth);
  if (group >= axes.row_groups || deep >= axes.depth) return {};
  GroupPlace<n> place = place_in_row<true>(axes, row, group, items);
  for (int v = 0; v < n; ++v) place.at[v] += deep * axes.depth_strides[v];
  return place;
}

}  // namespace troupe::cuda
