// The families of ops: this is the one list of them, and the op table, the backends' tables and `Family` are made of
// it. Whoever includes this is compiled again when there is a new family, so those who name one of their own include
// its header instead.
#pragma once

#include <cstddef>
#include <cstdint>

/// Calls `FAMILY(name, lane)` for each: the lane is what its ops take when each family has one of its own (two may
/// share one). The place in the list is the family's number, which its header repeats (`kBlasFamily`), and travels:
/// append, never reorder.
#define TROUPE_FAMILIES(FAMILY) \
  FAMILY(control, 0)            \
  FAMILY(memory, 1)             \
  FAMILY(blas, 2)               \
  FAMILY(plugin, 3)             \
  FAMILY(jit, 4)                \
  FAMILY(matmul, 5)             \
  FAMILY(solver, 6)             \
  FAMILY(sparse, 7)             \
  FAMILY(tensor, 8)             \
  FAMILY(fft, 9)                \
  FAMILY(random, 10)            \
  FAMILY(primitives, 11)        \
  FAMILY(dnn, 12)

#pragma GCC visibility push(default)
namespace troupe::inline v0::op {

/// A family of ops, by its number.
enum class Family : std::uint8_t {
#define TROUPE_FAMILY(name, lane) name,
  TROUPE_FAMILIES(TROUPE_FAMILY)
#undef TROUPE_FAMILY
};

/// The lane of a family's ops where each family has its own.
constexpr std::uint32_t lane_of(Family family) noexcept {
  constexpr std::uint32_t kLanes[] = {
#define TROUPE_FAMILY(name, lane) lane,
      TROUPE_FAMILIES(TROUPE_FAMILY)
#undef TROUPE_FAMILY
  };
  return kLanes[static_cast<std::size_t>(family)];
}

}  // namespace troupe::inline v0::op
#pragma GCC visibility pop
