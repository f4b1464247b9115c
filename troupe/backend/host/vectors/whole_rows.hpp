// What is computed with rows of integers and bools, by vector instructions: the same loops as those of vector_rows.hpp,
// in a file of their own because compilers take long over either.
#pragma once

#include <tuple>

#include "troupe/backend/host/vectors/vector_rows.hpp"

namespace troupe::host {

struct WholeRows {
  std::tuple<NumberRows<std::int8_t>, NumberRows<std::uint8_t>, NumberRows<std::int16_t>, NumberRows<std::uint16_t>,
             NumberRows<std::int32_t>, NumberRows<std::uint32_t>, NumberRows<std::int64_t>, NumberRows<std::uint64_t>,
             NumberRows<bool>>
      numbers;
  std::tuple<FoldRows<std::int64_t>, FoldRows<std::uint64_t>> fold;
};

/// Those of a level; needs a CPU that has it.
const WholeRows& whole_rows(VectorLevel level) noexcept;
/// Those of this process.
const WholeRows& whole_rows() noexcept;

}  // namespace troupe::host
