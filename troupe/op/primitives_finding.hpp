// What can be wrong with the elements that a primitives op is given, as the words of a verdict: backends write them,
// the app reads them. Needs nothing, because kernels include it.
#pragma once

#include <cstdint>

namespace troupe::inline v0::op {

/// The numbers are part of a verdict; 0 is none.
enum class PrimitivesFault : std::int32_t {
  none,
  first_offset,   // value
  offset_falls,   // place, value, bound: what is before it
  last_offset,    // value, bound
  bound_falls,    // place
  bound_is_nan,   // place
  index_outside,  // place in row-major order, value, bound
  a_falls,        // place
  b_falls,        // place
};

/// What is wrong, and where: of several the one with the least place.
struct PrimitivesFinding {
  PrimitivesFault fault = PrimitivesFault::none;
  std::int64_t place = 0;
  std::int64_t value = 0;
  std::int64_t bound = 0;
};

/// As the words of a verdict.
constexpr void write_verdict(const PrimitivesFinding& found, std::int32_t* words) {
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
