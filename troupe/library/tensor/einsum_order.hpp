// In which order an einsum of many operands is contracted, two at a time. The order changes the number of
// multiplications by powers; finding the best takes time that grows as 3^operands. So the last eight are ordered by
// looking at every way, and before them the pair goes first that makes the operands smaller by most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace troupe::inline v0 {

/// A bit for each letter that a text may have, and for each axis of an ellipsis.
using EinsumLetters = std::uint64_t;
EinsumLetters bit_of(char letter) noexcept;

struct EinsumProduct {
  std::vector<EinsumLetters> operands;
  EinsumLetters output = 0;
  std::array<double, 64> extents{};  // by the number of the bit
};

/// Operands are numbered from 0; the result of step i has the number of operands + i. The last result is the output.
struct EinsumStep {
  std::size_t first = 0;
  std::size_t second = 0;
  EinsumLetters result = 0;
};

struct EinsumSteps {
  std::vector<EinsumStep> steps;
  double multiplications = 0;
};

inline constexpr std::size_t kMaxExactOperands = 8;

/// Needs two operands or more. The fewest multiplications of all orders for up to `kMaxExactOperands` of them; of two
/// such orders the one with smaller results. None when a result would have more than `kMaxRank` axes in each order that
/// it looks at.
std::optional<EinsumSteps> order_of(const EinsumProduct& product);

}  // namespace troupe::inline v0
