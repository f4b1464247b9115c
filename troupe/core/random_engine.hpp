// What turns a seed and a position into random bits. It has a header of its own because an op carries it, and whoever
// draws random numbers names it.
#pragma once

#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// The algorithms behind a `Generator`. The number travels between processes: append, never reorder.
enum class RandomEngine : std::uint8_t {
  philox4x32_10,  // Philox 4x32 with 10 rounds, by counter: any position at once
  kLast = philox4x32_10,
};

/// Spelled as its enumerator.
constexpr std::string_view name(RandomEngine) noexcept { return "philox4x32_10"; }

}  // namespace troupe::inline v0
#pragma GCC visibility pop
