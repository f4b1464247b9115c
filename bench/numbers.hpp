// What ours and the references have in common when they are measured: the numbers in the matrices, and how long both
// sides run before their time counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/batches.hpp"

namespace troupe::bench {

/// Numbers between -0.5 and 0.5 without a pattern: a GPU that multiplies zeros takes less power and is faster.
inline std::vector<float> random_numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> numbers(count);
  std::uint32_t state = seed;
  for (float& number : numbers) {
    state = state * 1664525 + 1013904223;
    number = static_cast<float>(state >> 8) / 16777216.0F - 0.5F;
  }
  return numbers;
}

/// A symmetric matrix of them whose diagonal makes it positive definite.
inline std::vector<float> positive_matrix(int n) {
  const auto extent = static_cast<std::size_t>(n);
  std::vector<float> numbers = random_numbers(extent * extent, 4);
  for (std::size_t row = 0; row < extent; ++row) {
    for (std::size_t column = 0; column < row; ++column)
      numbers[column * extent + row] = numbers[row * extent + column];
    numbers[row * extent + row] = static_cast<float>(n);
  }
  return numbers;
}

/// The clocks of cores and GPU go up, and the kernel sees which cores are busy, within this time.
inline constexpr double kSettleNs = 1e8;

/// Nanoseconds per operation once it has run for a while: the median of batches of a hundred, or of single ones where
/// there are fewer.
template <class Operation>
double settled_median_ns(int count, const Operation& operation) {
  const Stopwatch stopwatch;
  while (stopwatch.ns() < kSettleNs) operation();
  const int per_batch = count > 100 ? 100 : 1;
  return median_ns(count / per_batch, per_batch, operation);
}

}  // namespace troupe::bench
