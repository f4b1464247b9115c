// How a product is cut into parts that the threads of a team take: tiles of the result, each the product of some rows
// and some columns, computed by one thread. The sums along the depth are never cut, but a library may
// sum in another order at the edge of a tile: OpenBLAS does so on x86-64, and not on ARM. What is not cut has the same
// bits with every team.
#pragma once

#include <algorithm>
#include <cstdint>

#include "troupe/backend/host/team/team.hpp"

namespace troupe::host {

struct ProductTiles {
  /// One for each thread, or two of a large product, so that a thread that is late keeps nobody waiting for long; fewer
  /// when they would be too small.
  static constexpr ProductTiles of(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                                   int team_size) noexcept {
    const double all = terms(rows, columns, depth);
    std::int64_t down = 1;
    std::int64_t across = 1;
    const auto is_enough = [&](std::int64_t count) {
      const double half_a_tile = all / static_cast<double>(2 * count);
      return count >= 2 * std::int64_t{team_size} || half_a_tile < (count < team_size ? kLeastTerms : kGoodTerms);
    };
    while (!is_enough(down * across)) (rows / down >= columns / across ? down : across) *= 2;
    return team_size == 1 ? even(rows, columns, rows, columns)
                          : even(rows, columns, divide_up(rows, down), divide_up(columns, across));
  }
  /// Whether a product is worth a team of its own.
  static constexpr bool is_large(std::int64_t rows, std::int64_t columns, std::int64_t depth) noexcept {
    return terms(rows, columns, depth) >= 8 * kLeastTerms;
  }

  /// Of a product with a vector, which memory limits: `lines` elements of the result, from `depth` elements each. Where
  /// neighbours in the matrix belong to neighbours of the result, a tile needs many of them to be read in one go.
  static constexpr ProductTiles of_vector(std::int64_t rows, std::int64_t columns, std::int64_t depth, bool lies_across,
                                          int team_size) noexcept {
    constexpr std::int64_t kElements = std::int64_t{1} << 17;
    constexpr std::int64_t kLeastAcross = 1024;
    const std::int64_t share = divide_up(std::max(rows, columns), team_size);
    const std::int64_t least = lies_across ? std::max(kLeastAcross, share) : 64;
    const std::int64_t lines = std::max(kElements / std::max<std::int64_t>(depth, 1), least);
    return even(rows, columns, lines, lines);
  }

  constexpr std::int64_t count() const noexcept { return down * across; }
  /// What the first tile, which no other exceeds, takes.
  constexpr Grain grain(std::int64_t depth) const noexcept { return Grain::of_ns(ns(rows, columns, depth)); }

  /// What a call for a product takes, at least.
  static constexpr double ns(std::int64_t rows, std::int64_t columns, std::int64_t depth) noexcept {
    constexpr double kNsPerCall = 200;
    constexpr double kNsPerTerm = 0.05;
    return kNsPerCall + kNsPerTerm * terms(rows, columns, depth);
  }
  /// As doubles, which do not overflow.
  static constexpr double terms(std::int64_t rows, std::int64_t columns, std::int64_t depth) noexcept {
    return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth);
  }

  std::int64_t rows = 0;  // of a tile; the last ones have fewer
  std::int64_t columns = 0;
  std::int64_t down = 0;  // so many tiles
  std::int64_t across = 0;

 private:
  static constexpr double kLeastTerms = 1 << 20;
  static constexpr double kGoodTerms = 1 << 24;  // smaller ones are somewhat slow

  static constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) noexcept {
    return a == 0 ? 0 : (a - 1) / b + 1;
  }
  /// Tiles of about these extents, which are no smaller, and end where the registers of a kernel do.
  static constexpr ProductTiles even(std::int64_t rows, std::int64_t columns, std::int64_t tile_rows,
                                     std::int64_t tile_columns) noexcept {
    const auto part = [](std::int64_t extent, std::int64_t tile) {
      constexpr std::int64_t kAlignment = 16;
      return std::min(extent, divide_up(tile, kAlignment) * kAlignment);
    };
    ProductTiles tiles{.rows = part(rows, tile_rows), .columns = part(columns, tile_columns)};
    if (tiles.rows > 0) tiles.down = divide_up(rows, tiles.rows);
    if (tiles.columns > 0) tiles.across = divide_up(columns, tiles.columns);
    return tiles;
  }
};

}  // namespace troupe::host
