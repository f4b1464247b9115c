#include "troupe/op/random_jump.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace troupe::inline v0::random {
namespace {

// ---- polynomials over 0 and 1, whose coefficients are bits ----

/// Those of a square stand twice as far apart.
std::uint64_t spread(std::uint32_t bits) noexcept {
  std::uint64_t x = bits;
  x = (x | x << 16) & 0x0000'FFFF'0000'FFFF;
  x = (x | x << 8) & 0x00FF'00FF'00FF'00FF;
  x = (x | x << 4) & 0x0F0F'0F0F'0F0F'0F0F;
  x = (x | x << 2) & 0x3333'3333'3333'3333;
  return (x | x << 1) & 0x5555'5555'5555'5555;
}

/// Adds 64 coefficients times x^at.
template <std::size_t words>
void add(std::array<std::uint64_t, words>& to, std::uint64_t coefficients, int at) noexcept {
  const auto word = static_cast<std::size_t>(at / 64);
  to[word] ^= coefficients << at % 64;
  if (at % 64 != 0 && word + 1 < words) to[word + 1] ^= coefficients >> (64 - at % 64);
}

/// x^steps modulo what `Modulus` reduces by.
template <class Modulus>
std::array<std::uint64_t, Modulus::kWords> power_of_x(const Steps& steps) {
  constexpr auto kWords = static_cast<std::size_t>(Modulus::kWords);
  // The first digits are an exponent below the degree: no multiplication for them.
  constexpr int kFree = std::bit_width(static_cast<unsigned>(Modulus::kDegree)) - 1;
  int digit = 127;
  while (digit >= 0 && !steps.bit(digit)) --digit;
  unsigned exponent = 0;
  for (int i = 0; i < kFree && digit >= 0; ++i, --digit) exponent = 2 * exponent + (steps.bit(digit) ? 1U : 0U);
  std::array<std::uint64_t, kWords> power{};
  power[exponent / 64] = std::uint64_t{1} << exponent % 64;
  for (; digit >= 0; --digit) {
    std::array<std::uint64_t, 2 * kWords> square{};
    for (std::size_t i = 0; i < kWords; ++i) {
      square[2 * i] = spread(static_cast<std::uint32_t>(power[i]));
      square[2 * i + 1] = spread(static_cast<std::uint32_t>(power[i] >> 32));
    }
    if (steps.bit(digit)) {
      for (std::size_t i = square.size() - 1; i > 0; --i) square[i] = square[i] << 1 | square[i - 1] >> 63;
      square[0] <<= 1;
    }
    Modulus::reduce(square);
    std::copy_n(square.begin(), kWords, power.begin());
  }
  return power;
}

struct XorwowModulus {
  static constexpr int kDegree = Xorwow::kDegree;
  static constexpr int kWords = 3;
  /// Without x^160; a test puts xorwow's step into it, which gives 0.
  static constexpr std::uint64_t kRest[3] = {0x0861'0030'0006'0001, 0x0F3C'0035'0006'2121, 0x0000'0000'0000'0F0E};

  static void reduce(std::array<std::uint64_t, 2 * kWords>& product) noexcept {
    for (int i = 64 * 2 * kWords - 1; i >= kDegree; --i) {
      if ((product[static_cast<std::size_t>(i / 64)] >> i % 64 & 1) == 0) continue;
      add(product, 1, i);
      for (int word = 0; word < kWords; ++word) add(product, kRest[word], i - kDegree + 64 * word);
    }
  }
};

struct Mt19937Modulus {
  static constexpr int kDegree = Mt19937::kDegree;
  static constexpr int kWords = kDegree / 64 + 1;
  using Polynomial = std::array<std::uint64_t, kWords>;

  /// The powers of x of the polynomial but the highest, by the formula of the generator's authors.
  static std::vector<int> make_powers() {
    constexpr std::uint32_t kFactors = 0x9908'B0DF;
    const auto times_pair = [](const Polynomial& of, int high, int low) {
      Polynomial product{};
      for (int i = 0; i < kWords; ++i)
        for (const int power : {high, low})
          if (of[static_cast<std::size_t>(i)] != 0) add(product, of[static_cast<std::size_t>(i)], 64 * i + power);
      return product;
    };
    Polynomial sum{};
    Polynomial product{1};
    for (int i = 30; i >= 0; --i) {  // (x^624 + x^397) (x^623 + x^396)^(30 - i), where bit i is 1
      if ((kFactors >> i & 1) != 0) {
        const Polynomial part = times_pair(product, 624, 397);
        for (std::size_t word = 0; word < sum.size(); ++word) sum[word] ^= part[word];
      }
      product = times_pair(product, 623, 396);
    }
    product = times_pair(product, 624, 397);
    for (std::size_t word = 0; word < sum.size(); ++word) sum[word] ^= product[word];
    sum[0] ^= kFactors >> 31;
    std::vector<int> powers;
    for (int i = 0; i < kDegree; ++i)
      if ((sum[static_cast<std::size_t>(i / 64)] >> i % 64 & 1) != 0) powers.push_back(i);
    return powers;
  }
  /// 64 coefficients at a time: the second highest power is 227 below the highest.
  static void reduce(std::array<std::uint64_t, 2 * kWords>& product) {
    static const std::vector<int> kPowers = make_powers();
    for (int word = 2 * kWords - 1; word >= kDegree / 64; --word) {
      std::uint64_t& top = product[static_cast<std::size_t>(word)];
      const int from = std::max(64 * word, kDegree);
      const std::uint64_t coefficients = top >> (from - 64 * word);
      if (coefficients == 0) continue;
      top ^= coefficients << (from - 64 * word);
      for (const int power : kPowers) add(product, coefficients, from - kDegree + power);
    }
  }
};

/// The coefficients as words of 32.
template <class Jump, std::size_t words>
Jump jump_of(const std::array<std::uint64_t, words>& polynomial) noexcept {
  Jump jump;
  for (std::size_t i = 0; i < std::size(jump.words); ++i)
    jump.words[i] = static_cast<std::uint32_t>(polynomial[i / 2] >> i % 2 * 32);
  return jump;
}

// ---- matrices ----

constexpr MrgMatrix kNothing{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr std::uint32_t m1 = Mrg32k3a::kModuli[0], m2 = Mrg32k3a::kModuli[1];
constexpr MrgJump kOneStep{{{{{0, 1, 0}, {0, 0, 1}, {m1 - Mrg32k3a::kA13, Mrg32k3a::kA12, 0}}},
                            {{{0, 1, 0}, {0, 0, 1}, {m2 - Mrg32k3a::kA23, 0, Mrg32k3a::kA21}}}}};

MrgMatrix product(const MrgMatrix& a, const MrgMatrix& b, std::uint64_t modulus) noexcept {
  MrgMatrix c;
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column) {
      std::uint64_t sum = 0;
      for (int i = 0; i < 3; ++i) sum = (sum + std::uint64_t{a.at[row][i]} * b.at[i][column] % modulus) % modulus;
      c.at[row][column] = static_cast<std::uint32_t>(sum);
    }
  return c;
}
MrgJump product(const MrgJump& a, const MrgJump& b) noexcept {
  return {{product(a.halves[0], b.halves[0], m1), product(a.halves[1], b.halves[1], m2)}};
}
MrgJump power_of_a_step(const Steps& steps) noexcept {
  MrgJump base = kOneStep;
  MrgJump all{{kNothing, kNothing}};
  int last = 127;
  while (last >= 0 && !steps.bit(last)) --last;
  for (int i = 0; i <= last; ++i) {
    if (steps.bit(i)) all = product(all, base);
    base = product(base, base);
  }
  return all;
}

}  // namespace

Steps times(std::uint64_t count, std::uint64_t steps) noexcept {
  const Product all = product(count, steps);
  return {all.high, all.low};
}

XorwowJump xorwow_jump(const Steps& steps) noexcept { return jump_of<XorwowJump>(power_of_x<XorwowModulus>(steps)); }
Mt19937Jump mt19937_jump(const Steps& steps) { return jump_of<Mt19937Jump>(power_of_x<Mt19937Modulus>(steps)); }
MrgJump mrg_jump(const Steps& steps) noexcept { return power_of_a_step(steps); }

Xorwow jumped(Xorwow state, const Steps& steps) noexcept {
  state.jump(xorwow_jump(steps));
  state.d += Xorwow::kCount * static_cast<std::uint32_t>(steps.low);
  return state;
}
Mrg32k3a jumped(Mrg32k3a state, const Steps& steps) noexcept {
  state.jump(mrg_jump(steps));
  return state;
}
Mt19937State jumped(const Mt19937State& state, const Steps& steps) { return jumped(state, mt19937_jump(steps)); }

Mt19937State jumped(const Mt19937State& state, const Mt19937Jump& by) {
  // Word n + k is the sum of the words i + k whose power i the polynomial has.
  std::vector<std::uint32_t> words(Mt19937::kDegree + Mt19937::kWords);
  std::ranges::copy(state.words, words.begin());
  for (std::size_t i = 0; i + Mt19937::kWords < words.size(); ++i)
    words[i + Mt19937::kWords] = Mt19937::next_word(words[i], words[i + 1], words[i + Mt19937::kMiddle]);
  Mt19937State there{};
  for (std::size_t power = 0; power < Mt19937::kDegree; ++power) {
    if ((by.words[power / 32] >> power % 32 & 1) == 0) continue;
    for (std::size_t k = 0; k < Mt19937::kWords; ++k) there.words[k] ^= words[power + k];
  }
  return there;
}

}  // namespace troupe::inline v0::random
