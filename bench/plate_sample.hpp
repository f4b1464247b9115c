// The matrix of a plate that is kept cold at its edges, the 5-point Laplacian, as CSR: what solvers are measured with,
// because everybody has seen it and its condition grows with the side of the plate.
#pragma once

#include <cstdint>
#include <vector>

namespace troupe::bench {

/// What a round costs is measured of so many, together with the beginning and the end.
inline constexpr int kCgRounds = 20;

struct PlateSample {
  int rows;  // and columns
  std::vector<std::int32_t> offsets;
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  static PlateSample make(int side) {
    PlateSample sample{.rows = side * side, .offsets = {0}, .columns = {}, .values = {}};
    const auto add = [&](int column, double number) {
      sample.columns.push_back(column);
      sample.values.push_back(number);
    };
    for (int row = 0; row < sample.rows; ++row) {
      if (row >= side) add(row - side, -1);
      if (row % side > 0) add(row - 1, -1);
      add(row, 4);
      if (row % side + 1 < side) add(row + 1, -1);
      if (row + side < sample.rows) add(row + side, -1);
      sample.offsets.push_back(static_cast<std::int32_t>(sample.columns.size()));
    }
    return sample;
  }
};

}  // namespace troupe::bench
