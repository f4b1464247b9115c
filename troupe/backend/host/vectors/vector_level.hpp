// How wide the vectors of this CPU are. The loops that compute with rows of numbers (vector_rows.hpp) are compiled once
// for each level, into one program, and the best level that the CPU has is taken when the program runs.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::host {

enum class VectorLevel : std::uint8_t {
  basic,   // what every CPU of this kind has: SSE2, NEON
  avx2,    // with FMA and F16C
  avx512,  // F, BW, DQ and VL
  kLast = avx512,
};
inline constexpr int kVectorLevels = static_cast<int>(VectorLevel::kLast) + 1;

std::string_view name(VectorLevel level) noexcept;

/// Whether this CPU has it.
bool has(VectorLevel level) noexcept;

/// The best that this CPU has, but no better than `limit`, the name of a level; null or any other name is no limit.
VectorLevel best_level(const char* limit) noexcept;

/// The level of this process: the best, limited by `TROUPE_VECTORS` in the environment.
VectorLevel vector_level() noexcept;

}  // namespace troupe::host
