// The families of ops by name, and their lanes: what op/families.inc says. Whoever includes this is compiled again when
// there is a new family, so those who name one of their own include its header instead.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::inline v0::op {

enum class Family : std::uint8_t {
#define TROUPE_FAMILY(name, lane) name,
#include "troupe/op/families.inc"
#undef TROUPE_FAMILY
};

/// The lane of a family's ops where each family has its own.
constexpr std::uint32_t lane_of(Family family) noexcept {
  constexpr std::uint32_t kLanes[] = {
#define TROUPE_FAMILY(name, lane) lane,
#include "troupe/op/families.inc"
#undef TROUPE_FAMILY
  };
  return kLanes[static_cast<std::size_t>(family)];
}

}  // namespace troupe::inline v0::op
