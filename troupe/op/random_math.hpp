// The functions of numbers that random distributions are made of, by additions, products, quotients and square roots
// alone, each rounded once: a CPU at any level of vectors and a GPU give the same bits. Within 2 ulp in f64, 3 ulp in
// f32 (random_functions.test.cpp). Plain loops over them become vectors. Polynomials of f32 are of tools/minimax.py.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "troupe/op/complex_functions.hpp"

namespace troupe::inline v0::random {

/// A product that no compiler makes part of a fused operation.
TROUPE_EVERYWHERE inline double times(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}
TROUPE_EVERYWHERE inline float times(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

// The steps that CUDA's compiler itself makes of a rounded quotient (with one more) and of a rounded root, so they are
// exact where its own are. They rely on what the first approximation is: with any that is within its documented error,
// 1 quotient and 3 roots of all that are taken here would be off.

/// a / b, rounded once, for numbers that are far from the ends of their range: a GPU needs no branch for the others.
TROUPE_EVERYWHERE inline float quotient(float a, float b) {
#ifdef __CUDA_ARCH__
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
  inverse = __fmaf_rn(__fmaf_rn(-b, inverse, 1.0F), inverse, inverse);
  float close = __fmul_rn(a, inverse);
  close = __fmaf_rn(__fmaf_rn(-b, close, a), inverse, close);
  return __fmaf_rn(__fmaf_rn(-b, close, a), inverse, close);
#else
  return a / b;
#endif
}
/// The square root, likewise.
TROUPE_EVERYWHERE inline float square_root(float x) {
#ifdef __CUDA_ARCH__
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  const float close = __fmul_rn(x, inverse);
  return __fmaf_rn(__fmaf_rn(-close, close, x), __fmul_rn(0.5F, inverse), close);
#else
  return std::sqrt(x);
#endif
}

/// first + x (next + x (...)).
template <class F>
TROUPE_EVERYWHERE F polynomial(F, F last) {
  return last;
}
template <class F, class... Rest>
TROUPE_EVERYWHERE F polynomial(F x, F first, Rest... rest) {
  return first + times(x, polynomial(x, rest...));
}

/// An integer below 2^53 as a double, without the conversion that few CPUs have for vectors.
TROUPE_EVERYWHERE inline double to_double(std::uint64_t number) {
  constexpr std::uint64_t kTwo52 = 0x4330'0000'0000'0000;
  const double low = std::bit_cast<double>(kTwo52 | (number & 0xFFFF'FFFF)) - 0x1p52;
  const double high = std::bit_cast<double>(kTwo52 | (number >> 32)) - 0x1p52;
  return times(high, 0x1p32) + low;
}

/// The natural logarithm. Needs a normal number above 0.
TROUPE_EVERYWHERE inline double log(double x) {
  // x = m 2^exponent with m from sqrt(1/2) to sqrt(2); log(m) = 2 atanh(s) with s = (m - 1) / (m + 1).
  constexpr std::uint64_t kRootOfHalf = 0x3FE6'A09E'667F'3BCD;
  constexpr std::uint64_t kMantissa = 0x000F'FFFF'FFFF'FFFF;
  const std::uint64_t above = std::bit_cast<std::uint64_t>(x) - kRootOfHalf + (std::uint64_t{1023} << 52);
  const double exponent = std::bit_cast<double>(0x4330'0000'0000'0000 | (above >> 52)) - (0x1p52 + 1023);
  const auto m = std::bit_cast<double>((above & kMantissa) + kRootOfHalf);
  const double s = (m - 1) / (m + 1);
  const double z = times(s, s);
  const double series = polynomial(z, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                                   1.0 / 19, 1.0 / 21, 1.0 / 23);
  const double two_s = s + s;
  // The first part of log(2) has so few digits that its product with the exponent is exact.
  const double rest = times(times(two_s, z), series) + times(exponent, 0x1.ef35793c7673p-45);
  return times(exponent, 0x1.62e42fefa38p-1) + (two_s + rest);
}
TROUPE_EVERYWHERE inline float log(float x) {
  constexpr std::uint32_t kRootOfHalf = 0x3F35'04F3;
  const std::uint32_t above = std::bit_cast<std::uint32_t>(x) - kRootOfHalf + (std::uint32_t{127} << 23);
  const auto exponent = static_cast<float>(static_cast<std::int32_t>(above >> 23) - 127);
  const auto m = std::bit_cast<float>((above & 0x007F'FFFF) + kRootOfHalf);
  const float s = quotient(m - 1, m + 1);
  const float z = times(s, s);
  const float series = polynomial(z, 0.33333388F, 0.199887708F, 0.149358645F);
  const float two_s = s + s;
  const float rest = times(times(two_s, z), series) + times(exponent, 0x1.7f7d1cp-20F);
  return times(exponent, 0x1.62e4p-1F) + (two_s + rest);
}

/// e to the power of x; infinite or 0 where f64 has no number as large or small.
TROUPE_EVERYWHERE inline double exp(double x) {
  constexpr double kRounds = 0x1.8p52;  // added and taken away again, it leaves a whole number
  const double within = x > 710 ? 710 : x < -746 ? -746 : x;
  const double whole = (times(within, 0x1.71547652b82fep0) + kRounds) - kRounds;
  const double r = (within - times(whole, 0x1.62e42fefa38p-1)) - times(whole, 0x1.ef35793c7673p-45);
  const double series =
      polynomial(r, 1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800);
  const auto power = static_cast<std::int32_t>(whole);
  const std::int32_t half = power / 2;  // 2^power itself may be no number
  const auto two_to = [](std::int32_t to) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(to + 1023) << 52);
  };
  return times(times(series, two_to(half)), two_to(power - half));
}

template <class F>
struct SineCosine {
  F sine;
  F cosine;
};

/// Those of a part of a turn, from those of what is left of it after `quarters` of a turn.
template <class F, class Whole>
TROUPE_EVERYWHERE SineCosine<F> turned(SineCosine<F> of, Whole quarters) {
  const F sine = (quarters & 1) != 0 ? of.cosine : of.sine;
  const F cosine = (quarters & 1) != 0 ? of.sine : of.cosine;
  return {(quarters & 2) != 0 ? -sine : sine, ((quarters + 1) & 2) != 0 ? -cosine : cosine};
}

/// Sine and cosine of 2 pi turns / 2^53. Needs turns < 2^53.
TROUPE_EVERYWHERE inline SineCosine<double> sine_cosine(std::uint64_t turns) {
  constexpr std::uint64_t kEighth = std::uint64_t{1} << 50;
  const std::uint64_t from_eighth = turns + kEighth;
  const double left = to_double(from_eighth & (2 * kEighth - 1)) - 0x1p50;
  const double x = times(left, 0x1.921fb54442d18p-51);
  const double z = times(x, x);
  const double sine = polynomial(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
                                 -1.0 / 1307674368000, 1.0 / 355687428096000);
  const double cosine = polynomial(z, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                                   -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000);
  return turned<double>({x + times(times(x, z), sine), 1 + times(z, cosine)}, from_eighth >> 51);
}
/// Sine and cosine of 2 pi turns / 2^32.
TROUPE_EVERYWHERE inline SineCosine<float> sine_cosine(std::uint32_t turns) {
  constexpr std::uint32_t kEighth = std::uint32_t{1} << 29;
  const std::uint32_t from_eighth = turns + kEighth;
  const auto left = static_cast<float>(static_cast<std::int32_t>(from_eighth & (2 * kEighth - 1)) -
                                       static_cast<std::int32_t>(kEighth));
  const float x = times(left, 0x1.921fb6p-30F);
  const float z = times(x, x);
  const float sine = polynomial(z, -0.166666552F, 0.0083321603F, -0.000195152825F);
  const float cosine = polynomial(z, -0.5F, 0.0416666195F, -0.0013886682F, 2.43835675e-05F);
  return turned<float>({x + times(times(x, z), sine), 1 + times(z, cosine)}, from_eighth >> 30);
}

/// The product of two numbers, in 128 bits.
struct Product {
  std::uint64_t high;
  std::uint64_t low;
};
TROUPE_EVERYWHERE inline Product product(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t a0 = a & 0xFFFF'FFFF, a1 = a >> 32, b0 = b & 0xFFFF'FFFF, b1 = b >> 32;
  const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const std::uint64_t other = a0 * b1 + (middle & 0xFFFF'FFFF);
  return {a1 * b1 + (middle >> 32) + (other >> 32), a * b};
}

}  // namespace troupe::inline v0::random
