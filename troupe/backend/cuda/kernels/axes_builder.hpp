// Makes the axes that our kernels walk from the shapes and strides of arrays. For the worker, on the host; what is made
// depends on shapes, strides and addresses alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "troupe/backend/cuda/kernels/group_axes.hpp"
#include "troupe/core/assert.hpp"
#include "troupe/core/result.hpp"

namespace troupe::cuda {

/// Gathers axes for a kernel. At most `kMaxKernelRank` of them.
template <int n>
class AxesBuilder {
 public:
  using Strides = std::array<std::int64_t, n>;

  void add(std::int64_t extent, const Strides& strides) noexcept {
    axes_.count *= extent;
    if (extent == 1) return;
    TROUPE_ASSERT(axes_.rank < kMaxKernelRank, "an array has no more axes");
    axes_.shape[axes_.rank] = extent;
    for (int v = 0; v < n; ++v) axes_.strides[v][axes_.rank] = strides[static_cast<std::size_t>(v)];
    ++axes_.rank;
  }

  /// The axis along which array `by` is densest last, and what lies side by side merged.
  KernelAxes<n> arranged(int by) noexcept {
    for (int i = 1; i < axes_.rank; ++i)
      for (int j = i; j > 0 && is_denser(j - 1, j, by); --j) swap(j - 1, j);
    return merged();
  }

  /// In the order in which they were added, and what lies side by side merged.
  KernelAxes<n> merged() noexcept {
    int last = 0;
    for (int i = 1; i < axes_.rank; ++i) {
      if (side_by_side(last, i)) {
        axes_.shape[last] *= axes_.shape[i];
        for (int v = 0; v < n; ++v) axes_.strides[v][last] = axes_.strides[v][i];
      } else {
        move_to(++last, i);
      }
    }
    axes_.rank = std::min(axes_.rank, last + 1);
    for (int i = 0; i < axes_.rank; ++i) axes_.divisors[i] = divisor_of(std::max(axes_.shape[i], 1LL));
    return axes_;
  }

 private:
  bool is_denser(int x, int y, int by) const noexcept {
    if (axes_.strides[by][x] != axes_.strides[by][y])
      return std::llabs(axes_.strides[by][x]) < std::llabs(axes_.strides[by][y]);
    return std::llabs(axes_.strides[0][x]) < std::llabs(axes_.strides[0][y]);
  }
  bool side_by_side(int outer, int inner) const noexcept {
    for (int v = 0; v < n; ++v)
      if (axes_.strides[v][outer] != axes_.strides[v][inner] * axes_.shape[inner]) return false;
    return true;
  }
  void swap(int x, int y) noexcept {
    std::swap(axes_.shape[x], axes_.shape[y]);
    for (int v = 0; v < n; ++v) std::swap(axes_.strides[v][x], axes_.strides[v][y]);
  }
  void move_to(int x, int from) noexcept {
    axes_.shape[x] = axes_.shape[from];
    for (int v = 0; v < n; ++v) axes_.strides[v][x] = axes_.strides[v][from];
  }

  KernelAxes<n> axes_{.count = 1, .shape = {}, .strides = {}, .divisors = {}, .rank = 0};
};

template <int n>
typename AxesBuilder<n>::Strides strides_along(const KernelAxes<n>& axes, int axis) noexcept {
  typename AxesBuilder<n>::Strides strides{};
  for (int v = 0; v < n; ++v) strides[static_cast<std::size_t>(v)] = axes.strides[v][axis];
  return strides;
}

/// Axes in groups of `items` along the last one. All ways are `strided` yet.
template <int n>
GroupAxes<n> grouped(const KernelAxes<n>& axes, int items) noexcept {
  GroupAxes<n> made{};
  const int last = axes.rank - 1;
  AxesBuilder<n> rows;
  for (int i = 0; i < last; ++i) rows.add(axes.shape[i], strides_along(axes, i));
  made.rows = rows.merged();
  made.row_items = axes.rank > 0 ? axes.shape[last] : 1;
  made.row_groups = (made.row_items + items - 1) / items;
  made.groups = made.rows.count * made.row_groups;
  made.by_row_groups = divisor_of(std::max(made.row_groups, 1LL));
  for (int v = 0; v < n; ++v) {
    made.strides[v] = axes.rank > 0 ? axes.strides[v][last] : 0;
    made.ways[v] = Way::strided;
  }
  return made;
}

/// Calls `run` with parts of the axes, which together are all of them and each have no more than `most` groups of
/// `items`, and with where a part begins. One row is never parted. `run` gives a Result<void>, whose first error ends
/// it.
template <int n, class Run>
Result<void> in_parts(const KernelAxes<n>& axes, int items, const Run& run, long long most = kMostDivided,
                      const ArrayOffsets<n>& begin = {}) {
  if (axes.rank < 2 || axes.count == 0) return run(axes, begin);
  const long long groups = axes.count / axes.shape[axes.rank - 1] * ((axes.shape[axes.rank - 1] + items - 1) / items);
  if (groups <= most) return run(axes, begin);
  const long long step = std::max(most / (groups / axes.shape[0]), 1LL);
  for (long long first = 0; first < axes.shape[0]; first += step) {
    AxesBuilder<n> part;
    part.add(std::min(step, axes.shape[0] - first), strides_along(axes, 0));
    for (int i = 1; i < axes.rank; ++i) part.add(axes.shape[i], strides_along(axes, i));
    ArrayOffsets<n> at = begin;
    for (int v = 0; v < n; ++v) at.at[v] += first * axes.strides[v][0];
    TROUPE_TRY(in_parts(part.merged(), items, run, most, at));
  }
  return {};
}

/// How an array's groups lie, by where it begins and the size of its elements. For axes that have no tiles.
template <int n>
Way way_of(const GroupAxes<n>& axes, int v, int items, std::uint64_t address, std::int64_t size_bytes) noexcept {
  if (axes.strides[v] == 0) return Way::single;
  bool is_whole = axes.strides[v] == 1 && address % static_cast<std::uint64_t>(items * size_bytes) == 0;
  for (int i = 0; i < axes.rows.rank; ++i) is_whole = is_whole && axes.rows.strides[v][i] % items == 0;
  return is_whole ? Way::whole : Way::strided;
}

/// Makes tiles where an array is denser along another axis than along rows, and both are long enough for them. Needs
/// all ways.
template <int n>
void make_tiles(GroupAxes<n>& axes, int block_groups) noexcept {
  constexpr long long kWorthwhile = 8;
  int depth = -1;
  for (int v = 0; v < n && depth < 0; ++v) {
    if (axes.ways[v] != Way::strided) continue;
    long long least = std::llabs(axes.strides[v]);
    for (int i = 0; i < axes.rows.rank; ++i) {
      const long long apart = std::llabs(axes.rows.strides[v][i]);
      if (apart == 0 || apart >= least || axes.rows.shape[i] < kWorthwhile) continue;
      least = apart;
      depth = i;
    }
  }
  const long long block_depth = kTileDepth * (block_groups / kGroupThreads);
  if (depth < 0 || axes.row_items < kWorthwhile) return;
  const long long row_tiles = (axes.row_groups + kTileWidth - 1) / kTileWidth;
  const long long depth_tiles = (axes.rows.shape[depth] + block_depth - 1) / block_depth;
  const long long others = axes.rows.count / std::max(axes.rows.shape[depth], 1LL);
  if (others * row_tiles * depth_tiles > kMostDivided) return;
  axes.row_tiles = static_cast<unsigned>(row_tiles);
  axes.depth_tiles = static_cast<unsigned>(depth_tiles);
  axes.by_row_tiles = divisor_of(row_tiles);
  axes.by_depth_tiles = divisor_of(depth_tiles);
  axes.depth = axes.rows.shape[depth];
  for (int v = 0; v < n; ++v) axes.depth_strides[v] = axes.rows.strides[v][depth];
  AxesBuilder<n> rows;
  for (int i = 0; i < axes.rows.rank; ++i)
    if (i != depth) rows.add(axes.rows.shape[i], strides_along(axes.rows, i));
  axes.rows = rows.merged();
}

/// The blocks of threads that take all groups.
template <int n>
long long blocks_of(const GroupAxes<n>& axes, int block_groups) noexcept {
  if (axes.depth > 0) return axes.rows.count * axes.row_tiles * axes.depth_tiles;
  return (axes.groups + block_groups - 1) / block_groups;
}

}  // namespace troupe::cuda
