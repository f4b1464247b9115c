// What can be wrong with the elements that an op of the dnn family is given, as the words of a verdict: backends write
// them, the app reads them. Needs nothing, because kernels include it.
#pragma once

#include <cstdint>

namespace troupe::inline v0::op {

/// Words of a verdict.
inline constexpr std::int64_t kDnnVerdictWords = 8;

/// The numbers are part of a verdict; 0 is none.
enum class DnnFault : std::int32_t {
  none,
  index_outside,        // place in row-major order, value, bound
  class_outside,        // the same, of a target
  probability_outside,  // place
  length_outside,       // place, value, bound: of a sequence
  first_offset,         // value
  offset_falls,         // place, value, bound: what is before it
  last_offset,          // value, bound: how many tokens there are
  block_outside,        // place in the table, value, bound
};

/// What is wrong, and where: of several the one with the least place.
struct DnnFinding {
  DnnFault fault = DnnFault::none;
  std::int64_t place = 0;
  std::int64_t value = 0;
  std::int64_t bound = 0;
};

/// As the words of a verdict.
constexpr void write_verdict(const DnnFinding& found, std::int32_t* words) {
  words[0] = static_cast<std::int32_t>(found.fault);
  words[1] = 0;
  const std::int64_t numbers[3] = {found.place, found.value, found.bound};
  for (int i = 0; i < 3; ++i) {
    const auto bits = static_cast<std::uint64_t>(numbers[i]);
    words[2 + 2 * i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    words[3 + 2 * i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 32));
  }
}

}  // namespace troupe::inline v0::op
