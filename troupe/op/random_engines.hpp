// The engines beside Philox, for the CPU and the GPU alike: what one step of each does, and what a thread does that
// begins in the middle. docs/random.md says which of their numbers a position has; op/random_words.hpp finds the place.
#pragma once

#include "troupe/op/random_functions.hpp"

namespace troupe::inline v0::random {

/// A polynomial over the numbers 0 and 1, of degree below 160: what `x` steps of xorwow do, for x to be put in.
struct XorwowJump {
  std::uint32_t words[5];
};

/// Marsaglia, Xorshift RNGs, 2003: five words that are shifted into each other, and one that counts.
struct Xorwow {
  static constexpr std::uint32_t kCount = 362'437;
  static constexpr int kDegree = 160;

  std::uint32_t v[5];
  std::uint32_t d;

  TROUPE_EVERYWHERE void step() {
    const std::uint32_t t = v[0] ^ v[0] >> 2;
    for (int i = 0; i < 4; ++i) v[i] = v[i + 1];
    v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
  }
  TROUPE_EVERYWHERE std::uint32_t next() {
    step();
    d += kCount;
    return v[4] + d;
  }
  /// What those steps do to the five words: Horner's rule, from the highest power on.
  TROUPE_EVERYWHERE void jump(const XorwowJump& by) {
    Xorwow sum{};
    for (int i = kDegree - 1; i >= 0; --i) {
      sum.step();
      const std::uint32_t all = 0 - (by.words[i / 32] >> i % 32 & 1);
      for (int word = 0; word < 5; ++word) sum.v[word] ^= v[word] & all;
    }
    for (int word = 0; word < 5; ++word) v[word] = sum.v[word];
  }
};

/// 3 x 3 numbers below a modulus.
struct MrgMatrix {
  std::uint32_t at[3][3];
};
/// What some steps of both halves of MRG32k3a do.
struct MrgJump {
  MrgMatrix halves[2];
};

/// L'Ecuyer, Good parameters and implementations for combined multiple recursive random number generators, 1999.
struct Mrg32k3a {
  static constexpr std::uint32_t kModuli[2] = {4'294'967'087U, 4'294'944'443U};
  static constexpr std::uint64_t kA12 = 1'403'580, kA13 = 810'728, kA21 = 527'612, kA23 = 1'370'589;

  std::uint32_t s[2][3];  // the oldest first

  TROUPE_EVERYWHERE static std::uint32_t modulus(int half) { return half == 0 ? 4'294'967'087U : 4'294'944'443U; }
  /// L'Ecuyer's numbers, 1 to the first modulus.
  TROUPE_EVERYWHERE std::uint32_t number() {
    const std::uint32_t m1 = modulus(0), m2 = modulus(1);
    const auto first = static_cast<std::uint32_t>((kA12 * s[0][1] + kA13 * (m1 - s[0][0])) % m1);
    const auto second = static_cast<std::uint32_t>((kA21 * s[1][2] + kA23 * (m2 - s[1][0])) % m2);
    for (int i = 0; i < 2; ++i) {
      s[0][i] = s[0][i + 1];
      s[1][i] = s[1][i + 1];
    }
    s[0][2] = first;
    s[1][2] = second;
    return first > second ? first - second : first - second + m1;
  }
  /// The same spread over 32 bits: of 2^32 words, 209 never come.
  TROUPE_EVERYWHERE std::uint32_t next() {
    const std::uint32_t from_0 = number() - 1;
    return from_0 + static_cast<std::uint32_t>(std::uint64_t{from_0} * 209 >> 32);
  }
  TROUPE_EVERYWHERE void jump(const MrgJump& by) {
    for (int half = 0; half < 2; ++half) {
      const std::uint64_t m = modulus(half);
      std::uint32_t there[3];
      for (int row = 0; row < 3; ++row) {
        std::uint64_t sum = 0;
        for (int i = 0; i < 3; ++i) sum = (sum + std::uint64_t{by.halves[half].at[row][i]} * s[half][i] % m) % m;
        there[row] = static_cast<std::uint32_t>(sum);
      }
      for (int i = 0; i < 3; ++i) s[half][i] = there[i];
    }
  }
};

/// Matsumoto and Nishimura, Mersenne Twister, 1998. A state is the 624 words before the next one; only the top bit of
/// the first of them counts.
struct Mt19937 {
  static constexpr int kWords = 624;
  static constexpr int kMiddle = 397;
  static constexpr int kDegree = 19'937;
  /// So many words can be made at a time, each of words that were there before.
  static constexpr int kAtOnce = kWords - kMiddle;

  /// Word n + 624, of words n, n + 1 and n + 397.
  TROUPE_EVERYWHERE static std::uint32_t next_word(std::uint32_t first, std::uint32_t second, std::uint32_t middle) {
    const std::uint32_t joined = (first & 0x8000'0000) | (second & 0x7FFF'FFFF);
    return middle ^ joined >> 1 ^ ((0 - (joined & 1)) & 0x9908'B0DF);
  }
  TROUPE_EVERYWHERE static std::uint32_t tempered(std::uint32_t word) {
    word ^= word >> 11;
    word ^= word << 7 & 0x9D2C'5680;
    word ^= word << 15 & 0xEFC6'0000;
    return word ^ word >> 18;
  }
};
/// A polynomial of degree below 19937: what some steps of the Mersenne Twister do.
struct Mt19937Jump {
  std::uint32_t words[Mt19937::kWords];
};
struct Mt19937State {
  std::uint32_t words[Mt19937::kWords];
};

/// A coordinate of Sobol's sequences has so many direction numbers, of 64 bits each. Those of sequences of 32 bits are
/// the upper halves of the first 32.
inline constexpr int kSobolBits = 64;

/// The coordinate of point `index` whose direction numbers these are, in the order of Gray's code.
TROUPE_EVERYWHERE inline std::uint64_t sobol_coordinate(const std::uint64_t* directions, std::uint64_t index) {
  std::uint64_t coordinate = 0;
  for (std::uint64_t rest = index ^ index >> 1; rest != 0; rest >>= 1, ++directions)
    if ((rest & 1) != 0) coordinate ^= *directions;
  return coordinate;
}
/// The number of 64 bits that a coordinate stands for: of sequences of 32 bits, the middle of what they leave open.
TROUPE_EVERYWHERE inline std::uint64_t sobol_number(std::uint64_t coordinate, bool is_of_32_bits) {
  return is_of_32_bits ? widened(static_cast<std::uint32_t>(coordinate >> 32)) : coordinate;
}

}  // namespace troupe::inline v0::random
