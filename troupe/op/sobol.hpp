// The direction numbers of Sobol's sequences: those of Joe and Kuo, and for scrambled sequences each coordinate's by a
// random matrix (Matousek, On the L2-discrepancy for anchored boxes, 1998), with a random shift of all points. What is
// random comes from Philox, by seed, stream and coordinate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "troupe/op/random_engines.hpp"

namespace troupe::inline v0::random {

/// Points have at most so many coordinates.
inline constexpr std::uint32_t kMaxSobolDimensions = 256;

class SobolTable {
 public:
  /// Needs 1 to `kMaxSobolDimensions`.
  explicit SobolTable(std::uint32_t dimensions);
  /// Scrambled; of sequences of 32 bits, only those are.
  SobolTable(std::uint32_t dimensions, const Source& source, bool is_of_32_bits);

  std::uint32_t dimensions() const noexcept { return dimensions_; }
  const std::uint64_t* directions(std::uint32_t dimension) const noexcept {
    return directions_.data() + std::size_t{dimension} * kSobolBits;
  }
  /// Those of all coordinates, one after another.
  std::span<const std::uint64_t> all_directions() const noexcept { return directions_; }
  /// What is added, without carrying, to each coordinate of all points.
  std::span<const std::uint64_t> shifts() const noexcept { return shifts_; }

 private:
  std::uint32_t dimensions_;
  std::vector<std::uint64_t> directions_;
  std::vector<std::uint64_t> shifts_;
};

}  // namespace troupe::inline v0::random
