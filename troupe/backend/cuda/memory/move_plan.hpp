// How an array is put into the order of another: in which pieces, and by tiles or not. Decided on the host, from the
// axes and addresses alone.
#pragma once

#include "troupe/backend/cuda/kernels/axes_builder.hpp"
#include "troupe/backend/cuda/memory/memory_arguments.hpp"

namespace troupe::cuda {

/// Elements of that size along these axes, of the input and the output.
struct Moved {
  KernelAxes<2> axes;
  std::int64_t size_bytes;
};

/// The same with elements as large as they can be, up to 16 bytes: neighbours that stay neighbours are one.
inline Moved widened(Moved moved, std::uint64_t in, std::uint64_t out) noexcept {
  const auto can_widen = [&] {
    const KernelAxes<2>& axes = moved.axes;
    const int last = axes.rank - 1;
    if (moved.size_bytes >= 16 || last < 0 || axes.shape[last] % 2 != 0 || axes.strides[0][last] != 1 ||
        axes.strides[1][last] != 1 || (in | out) % static_cast<std::uint64_t>(2 * moved.size_bytes) != 0)
      return false;
    for (int i = 0; i < last; ++i)
      if (axes.strides[0][i] % 2 != 0 || axes.strides[1][i] % 2 != 0) return false;
    return true;
  };
  while (can_widen()) {
    AxesBuilder<2> wide;
    const KernelAxes<2>& axes = moved.axes;
    const int last = axes.rank - 1;
    for (int i = 0; i < last; ++i) wide.add(axes.shape[i], {axes.strides[0][i] / 2, axes.strides[1][i] / 2});
    wide.add(axes.shape[last] / 2, {1, 1});
    moved = {wide.merged(), moved.size_bytes * 2};
  }
  return moved;
}

/// The tiles of a permutation, when its densest axes differ and are long enough for them; of words, which hold several
/// elements, where these are small enough. Without addresses. False: there are none.
struct PermutePlan {
  PermuteArguments tiles;
  bool in_words;
};
inline bool plan_tiles(const Moved& moved, std::uint64_t in, std::uint64_t out, PermutePlan& plan) noexcept {
  constexpr long long kWorthwhile = 16;
  const KernelAxes<2>& axes = moved.axes;
  const int x = axes.rank - 1;
  int y = x;
  for (int i = 0; i < axes.rank; ++i)
    if (axes.strides[0][i] != 0 && std::llabs(axes.strides[0][i]) < std::llabs(axes.strides[0][y])) y = i;
  if (x < 1 || x == y || axes.shape[x] < kWorthwhile || axes.shape[y] < kWorthwhile) return false;
  PermuteArguments m{};
  m.x_extent = axes.shape[x];
  m.y_extent = axes.shape[y];
  m.x_in = axes.strides[0][x];
  m.x_out = axes.strides[1][x];
  m.y_in = axes.strides[0][y];
  m.y_out = axes.strides[1][y];
  AxesBuilder<2> outer;
  for (int i = 0; i < axes.rank; ++i)
    if (i != x && i != y) outer.add(axes.shape[i], strides_along(axes, i));
  m.outer = outer.merged();

  const int word = word_bytes(static_cast<int>(moved.size_bytes));
  const long long items = word / moved.size_bytes;
  bool in_words = items > 1 && m.x_out == 1 && m.y_in == 1 && std::min(m.x_extent, m.y_extent) >= kWorthwhile * items &&
                  m.x_extent % items == 0 && m.y_extent % items == 0 && m.x_in % items == 0 && m.y_out % items == 0 &&
                  (in | out) % static_cast<std::uint64_t>(word) == 0;
  for (int i = 0; i < m.outer.rank; ++i)
    in_words = in_words && m.outer.strides[0][i] % items == 0 && m.outer.strides[1][i] % items == 0;
  const long long side = kPermuteTile * (in_words ? items : 1);
  const long long x_tiles = (m.x_extent + side - 1) / side;
  const long long y_tiles = (m.y_extent + side - 1) / side;
  if (x_tiles * y_tiles * m.outer.count > kMostDivided) return false;
  m.x_tiles = static_cast<unsigned>(x_tiles);
  m.y_tiles = static_cast<unsigned>(y_tiles);
  m.by_x_tiles = divisor_of(x_tiles);
  m.by_y_tiles = divisor_of(y_tiles);
  plan = {m, in_words};
  return true;
}

}  // namespace troupe::cuda
