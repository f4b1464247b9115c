// The operands of a row on a device: memory with random numbers in it, seen as the row says. The numbers repeat after a
// while, so that a large array is written by copies on the device and not by this process.
#pragma once

#include <cstddef>
#include <optional>

#include "bench/matrix/row.hpp"

namespace troupe::bench::matrix {

/// An array or a number that is there to be computed with.
struct Given {
  AnyArray array;
  std::optional<double> number;

  detail::Operand operand() const { return number ? detail::Operand(*number) : detail::Operand(array); }
};

/// Makes the operand's memory, writes its numbers, and gives the view. Other seeds, other numbers.
Result<Given> make(const Device& device, const Operand& operand, std::size_t seed);

}  // namespace troupe::bench::matrix
