// SLEEF, opened at run time: functions of whole vectors, right to 1 unit in the last place (erfc to 1.5) over the whole
// range. Nothing of ours links it; without it the functions of the C library are called, a number at a time.
// `TROUPE_SLEEF=/path/to/libsleef.so.3` in the environment names another file, `TROUPE_SLEEF=none` goes without.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "troupe/backend/host/vectors/vector_level.hpp"
#include "troupe/core/result.hpp"

namespace troupe::host {

enum class VectorFunction : std::uint8_t { exp, log, sin, cos, tan, tanh, expm1, log1p, erf, erfc, pow, kLast = pow };

struct Sleef {
  static constexpr std::size_t kFunctions = static_cast<std::size_t>(VectorFunction::kLast) + 1;
  /// Addresses of functions of vectors, as wide as the level's: take one (`pow` two) and give one.
  using Table = std::array<void*, kFunctions>;
  struct Level {
    Table f32{};
    Table f64{};
  };
  std::array<Level, kVectorLevels> levels;
  std::string file;  // as it was opened
};

/// The library of this process. Opened on the first call, from any thread, and never closed. Null when there is none.
const Sleef* sleef() noexcept;

/// What that does on its first call, with the value of `TROUPE_SLEEF` (null when it is not set). The error says what
/// was tried and why it did not work.
Result<Sleef> load_sleef(const char* choice);

}  // namespace troupe::host
