// The sparse matrix that ours and the references multiply: as many elements in every row, in places without a pattern,
// so that no cache knows which element of the vector comes next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bench/numbers.hpp"

namespace troupe::bench {

struct SparseSample {
  int rows;  // and columns
  std::vector<std::int32_t> offsets;
  std::vector<std::int32_t> columns;
  std::vector<float> values;

  static SparseSample make(int rows, int per_row) {
    const auto elements = static_cast<std::size_t>(rows) * static_cast<std::size_t>(per_row);
    SparseSample sample{.rows = rows, .offsets = {0}, .columns = {}, .values = random_numbers(elements, 5)};
    sample.columns.reserve(elements);
    std::uint64_t state = 9;
    for (int row = 0; row < rows; ++row) {
      // One from each of as many parts of the row: they ascend, and none comes twice.
      const int part = rows / per_row;
      for (int i = 0; i < per_row; ++i) {
        state = state * 6364136223846793005 + 1442695040888963407;
        sample.columns.push_back(i * part + static_cast<int>((state >> 33) % static_cast<std::uint64_t>(part)));
      }
      sample.offsets.push_back(static_cast<std::int32_t>(sample.columns.size()));
    }
    return sample;
  }
  /// What it has below the diagonal, and a diagonal that keeps solutions small: a triangular system.
  static SparseSample make_lower(int rows, int per_row) {
    const SparseSample whole = make(rows, per_row);
    SparseSample lower{.rows = rows, .offsets = {0}, .columns = {}, .values = {}};
    for (int row = 0; row < rows; ++row) {
      for (auto i = static_cast<std::size_t>(whole.offsets[static_cast<std::size_t>(row)]);
           i < whole.columns.size() && whole.columns[i] < row &&
           i < static_cast<std::size_t>(whole.offsets[static_cast<std::size_t>(row) + 1]);
           ++i) {
        lower.columns.push_back(whole.columns[i]);
        lower.values.push_back(whole.values[i]);
      }
      lower.columns.push_back(row);
      lower.values.push_back(static_cast<float>(per_row));
      lower.offsets.push_back(static_cast<std::int32_t>(lower.columns.size()));
    }
    return lower;
  }
};

inline constexpr int kSparseRows = 1'000'000;
inline constexpr int kSparsePerRow = 10;

}  // namespace troupe::bench
