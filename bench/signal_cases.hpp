// The transforms and the fills of random numbers that are measured on a GPU: written once, so that both sides of a row
// do the same.
#pragma once

#include <array>
#include <cstdint>

namespace troupe::bench {

/// A transform of `batch` lines, planes or cubes of f32: from real numbers to half of their spectrum, or from complex
/// numbers to as many.
struct TransformCase {
  const char* name;
  bool is_real = false;
  std::int64_t batch = 1;
  int rank = 1;
  std::array<std::int64_t, 3> lengths{};  // the first `rank`

  std::int64_t numbers() const {
    std::int64_t all = batch;
    for (int i = 0; i < rank; ++i) all *= lengths[static_cast<std::size_t>(i)];
    return all;
  }
  /// How many numbers the spectrum of a line has; that of real numbers is half as long.
  std::int64_t spectrum_of_line() const {
    const std::int64_t line = lengths[static_cast<std::size_t>(rank - 1)];
    return is_real ? line / 2 + 1 : line;
  }
  std::int64_t spectrum_numbers() const {
    return numbers() / lengths[static_cast<std::size_t>(rank - 1)] * spectrum_of_line();
  }
};

inline constexpr std::array kTransformCases{
    TransformCase{.name = "fft c64, a line of 1024", .lengths = {1024}},
    TransformCase{.name = "fft f32 to c64, a line of 2^24", .is_real = true, .lengths = {1 << 24}},
    TransformCase{.name = "fft c64, 1024 lines of 4096", .batch = 1024, .lengths = {4096}},
    TransformCase{.name = "fft c64, a cube of 256", .rank = 3, .lengths = {256, 256, 256}},
};

enum class FillKind : std::uint8_t { uniform, normal };

}  // namespace troupe::bench
