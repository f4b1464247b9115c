// What can be wrong with a sparse matrix, as the words of a verdict: backends write them, the app reads them. Needs
// nothing, because kernels include it.
#pragma once

#include <cstdint>

namespace troupe::inline v0::op {

/// What can be wrong with a structure. The numbers are part of a verdict; 0 is none.
enum class Fault : std::int32_t {
  none,
  first_offset,        // value
  line_falls,          // line
  line_leaves,         // line, value, bound
  last_offset,         // value, bound
  index_outside,       // line, value, bound
  index_unsorted,      // line, value
  row_outside,         // of element `line`: value, bound
  column_outside,      // of element `line`: value, bound
  element_unsorted,    // line
  no_diagonal,         // line
  zero_diagonal,       // line
  other_nonzeros,      // line
  zero_pivot,          // line
  pivot_not_positive,  // line
};

struct Finding {
  Fault fault = Fault::none;
  std::int64_t line = 0;
  std::int64_t value = 0;
  std::int64_t bound = 0;
};

/// As the words of a verdict; `format` says what a line is.
constexpr void write_verdict(const Finding& found, std::int32_t format, std::int32_t* words) {
  words[0] = static_cast<std::int32_t>(found.fault);
  words[1] = format;
  const std::int64_t numbers[3] = {found.line, found.value, found.bound};
  for (int i = 0; i < 3; ++i) {
    const auto bits = static_cast<std::uint64_t>(numbers[i]);
    words[2 + 2 * i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    words[3 + 2 * i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 32));
  }
}

}  // namespace troupe::inline v0::op
