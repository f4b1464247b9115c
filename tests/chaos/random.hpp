// Numbers from a seed, the same on every machine and with every library: SplitMix64, and no distribution of the
// standard library's, because those differ.
#pragma once

#include <cstdint>

namespace troupe::chaos {

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept { return mix(state_ += 0x9e3779b97f4a7c15U); }
  /// From 0 to below `limit`, which is not 0.
  constexpr std::uint32_t below(std::uint32_t limit) noexcept { return static_cast<std::uint32_t>(next() % limit); }
  /// From `least` to `most`.
  constexpr int between(int least, int most) noexcept {
    return least + static_cast<int>(below(static_cast<std::uint32_t>(most - least + 1)));
  }
  constexpr bool in(std::uint32_t percent) noexcept { return below(100) < percent; }

  static constexpr std::uint64_t mix(std::uint64_t value) noexcept {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace troupe::chaos
