// What turns a seed and a position into random bits. It has a header of its own because an op carries it, and whoever
// draws random numbers names it.
#pragma once

#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// The algorithms behind a `Generator`. The number travels between processes: append, never reorder.
enum class RandomEngine : std::uint8_t {
  philox4x32_10,      // Philox 4x32 with 10 rounds, by counter: any position at once
  xorwow,             // Marsaglia's, seeded as cuRAND does
  mrg32k3a,           // L'Ecuyer's combined multiple recursive generator
  mt19937,            // the Mersenne Twister; words are those of std::mt19937
  sobol32,            // points that fill space evenly, of 32 bits: not random, the same for every seed
  scrambled_sobol32,  // the same points, moved by the seed so that each alone is uniform
  sobol64,
  scrambled_sobol64,
  kLast = scrambled_sobol64,
};

/// Spelled as its enumerator.
constexpr std::string_view name(RandomEngine engine) noexcept {
  constexpr std::string_view kNames[] = {"philox4x32_10",     "xorwow",  "mrg32k3a",         "mt19937", "sobol32",
                                         "scrambled_sobol32", "sobol64", "scrambled_sobol64"};
  return kNames[static_cast<std::size_t>(engine)];
}

}  // namespace troupe::inline v0
#pragma GCC visibility pop
