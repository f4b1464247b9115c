// Rows of random bits and of numbers made of them, by vector instructions: one definition (op/random_functions.hpp),
// compiled for every level of the CPU. All levels give the same bits.
#pragma once

#include <cstdint>

#include "troupe/backend/host/vectors/vector_level.hpp"
#include "troupe/op/random_functions.hpp"

namespace troupe::host {

/// What the numbers of a row are made with: the parameters of the distribution. How many bits of a word are left out,
/// and what the others are multiplied by, is for uniform numbers of f32 and smaller.
struct RowNumbers {
  double first = 0;
  double second = 0;
  double third = 0;
  int shift = 8;
  double step = 0x1p-24;
};

struct RandomRows {
  template <class Bits, class F>
  using Row = void (*)(const Bits* bits, F* out, std::int64_t count, const RowNumbers& of) noexcept;

  /// The blocks from index `first` on, four words each.
  void (*blocks)(const random::Source& source, std::uint64_t first, std::uint32_t third, std::uint32_t* out,
                 std::int64_t count) noexcept = nullptr;
  /// out[i] = what stands for words[i] in formulas over 64 bits
  void (*widen)(const std::uint32_t* words, std::uint64_t* out, std::int64_t count) noexcept = nullptr;
  Row<std::uint32_t, float> uniform_f32 = nullptr;
  Row<std::uint32_t, float> normal_f32 = nullptr;  // by pairs, as the others that are normal
  Row<std::uint64_t, double> uniform_f64 = nullptr;
  Row<std::uint64_t, double> normal_f64 = nullptr;
  Row<std::uint64_t, double> log_normal = nullptr;
  Row<std::uint64_t, double> point_normal = nullptr;  // each of its own bits
  Row<std::uint64_t, double> point_log_normal = nullptr;
  Row<std::uint64_t, double> exponential = nullptr;
  Row<std::uint64_t, double> cauchy = nullptr;
};

/// Those of a level; needs a CPU that has it.
const RandomRows& random_rows(VectorLevel level) noexcept;
/// Those of this process.
const RandomRows& random_rows() noexcept;

}  // namespace troupe::host
