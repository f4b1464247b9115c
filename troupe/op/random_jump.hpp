// How engines that go step by step reach any place at once: what n steps do is x^n modulo the polynomial of a step, for
// xorwow and the Mersenne Twister over the numbers 0 and 1, and for MRG32k3a the n-th power of a matrix. Each costs
// about as many squarings as n has bits.
#pragma once

#include <cstdint>

#include "troupe/op/random_engines.hpp"

namespace troupe::inline v0::random {

/// A number of steps below 2^128.
struct Steps {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  static constexpr Steps power_of_2(int bit) noexcept {
    return bit < 64 ? Steps{0, std::uint64_t{1} << bit} : Steps{std::uint64_t{1} << (bit - 64), 0};
  }
  constexpr bool bit(int i) const noexcept { return ((i < 64 ? low >> i : high >> (i - 64)) & 1) != 0; }
};
constexpr Steps operator+(const Steps& a, const Steps& b) noexcept {
  const std::uint64_t low = a.low + b.low;
  return {a.high + b.high + (low < a.low ? 1U : 0U), low};
}
/// So many times a number of steps that is below 2^64.
Steps times(std::uint64_t count, std::uint64_t steps) noexcept;

XorwowJump xorwow_jump(const Steps& steps) noexcept;
Mt19937Jump mt19937_jump(const Steps& steps);
MrgJump mrg_jump(const Steps& steps) noexcept;

/// A state, so many steps on.
Xorwow jumped(Xorwow state, const Steps& steps) noexcept;
Mrg32k3a jumped(Mrg32k3a state, const Steps& steps) noexcept;
Mt19937State jumped(const Mt19937State& state, const Steps& steps);
Mt19937State jumped(const Mt19937State& state, const Mt19937Jump& by);

}  // namespace troupe::inline v0::random
