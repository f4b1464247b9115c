// The lanes of a family that has some of its own (`Lanes::apart`), taken in turn. A GPU's worker has only the first of
// them: what libraries keep for each stream, workspaces and their allocators' memory, is there once, and a standby has
// it ready.
#pragma once

#include <array>
#include <cstdint>

#pragma GCC visibility push(default)
namespace troupe::inline v0::op {

inline constexpr std::array<std::uint32_t, 4> kLanesApart{12, 13, 14, 15};

}  // namespace troupe::inline v0::op
#pragma GCC visibility pop
