// Functions of complex numbers, for the CPU and the GPU alike, exact to a few units in the last place of each part:
// what overflows on the way does not spoil a result that is finite, and infinities, NaNs and signed zeros are those of
// C's Annex G. They compute in f64; a number of two f32 is rounded at the end.
#pragma once

#include <cmath>
#include <complex>
#include <limits>

#ifdef __CUDACC__
#define TROUPE_EVERYWHERE __host__ __device__
#else
#define TROUPE_EVERYWHERE
#endif

namespace troupe::inline v0::tensor {

namespace wide {

using Number = std::complex<double>;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
/// e to this power is finite.
inline constexpr double kLargePower = 709;
/// From here on cosh and sinh are half a power of e, to the last digit.
inline constexpr double kFlat = 22;

/// factor e^x (cosine, sine), where e^x alone may overflow.
TROUPE_EVERYWHERE inline Number grown(double factor, double x, double cosine, double sine) {
  for (int i = 0; i < 2 && x > kLargePower; ++i) {
    x -= kLargePower;
    cosine *= std::exp(kLargePower);
    sine *= std::exp(kLargePower);
  }
  const double size = factor * std::exp(x);
  return {size * cosine, size * sine};
}

TROUPE_EVERYWHERE inline Number exp(Number z) {
  const double x = z.real(), y = z.imag();
  if (y == 0) return {std::exp(x), y};
  if (std::isfinite(y)) {
    if (std::isinf(x) && x < 0) return {std::copysign(0.0, std::cos(y)), std::copysign(0.0, std::sin(y))};
    return grown(1, x, std::cos(y), std::sin(y));
  }
  if (std::isinf(x)) return x < 0 ? Number(0, std::copysign(0.0, y)) : Number(kInfinity, kNan);
  return {kNan, kNan};
}

/// The hyperbolic cosine and sine; those of a circle are these of i times a number.
TROUPE_EVERYWHERE inline Number cosh(Number z) {
  const double x = z.real(), y = z.imag();
  if (y == 0) return {std::cosh(x), std::isnan(x) ? y : std::copysign(0.0, x) * y};
  if (x == 0) return {std::isfinite(y) ? std::cos(y) : kNan, std::isfinite(y) ? x * std::sin(y) : 0.0};
  if (!std::isfinite(y)) return {std::isinf(x) ? kInfinity : kNan, kNan};
  const double cosine = std::cos(y), sine = std::sin(y);
  if (std::fabs(x) < kFlat) return {std::cosh(x) * cosine, std::sinh(x) * sine};
  return grown(0.5, std::fabs(x), cosine, std::copysign(1.0, x) * sine);
}

TROUPE_EVERYWHERE inline Number sinh(Number z) {
  const double x = z.real(), y = z.imag();
  if (y == 0) return {std::sinh(x), y};
  if (x == 0) return {std::isfinite(y) ? x * std::cos(y) : x, std::isfinite(y) ? std::sin(y) : kNan};
  if (!std::isfinite(y)) return {std::isinf(x) ? x : kNan, kNan};
  const double cosine = std::cos(y), sine = std::sin(y);
  if (std::fabs(x) < kFlat) return {std::sinh(x) * cosine, std::cosh(x) * sine};
  return grown(0.5, std::fabs(x), std::copysign(1.0, x) * cosine, sine);
}

/// sin z = -i sinh iz, cos z = cosh iz.
TROUPE_EVERYWHERE inline Number sin(Number z) {
  const Number turned = sinh(Number(-z.imag(), z.real()));
  return {turned.imag(), -turned.real()};
}
TROUPE_EVERYWHERE inline Number cos(Number z) { return cosh(Number(-z.imag(), z.real())); }

/// A number with more digits than a double has: the sum of two.
struct Exact {
  double value = 0, lost = 0;
};
TROUPE_EVERYWHERE inline Exact exact_sum(double a, double b) {
  const double sum = a + b, part_of_b = sum - a;
  return {sum, (a - (sum - part_of_b)) + (b - part_of_b)};
}
TROUPE_EVERYWHERE inline Exact exact_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}
TROUPE_EVERYWHERE inline double quotient(Exact a, Exact b) {
  const double quotient = a.value / b.value;
  if (a.value == 0) return quotient;  // with its sign
  return quotient + (std::fma(-quotient, b.value, a.value) + a.lost - quotient * b.lost) / b.value;
}
/// For |x| of at most 1, by its series.
TROUPE_EVERYWHERE inline Exact exact_sinh(double x) {
  const double square = x * x;
  double series = 1;
  for (int n = 21; n > 3; n -= 2) series = 1 + series * square / (n * (n - 1));
  const double more = x * square / 6 * series, sum = x + more;
  return {sum, (x - sum) + more};
}

/// (sinh x cosh x, sin y cos y) / (sinh^2 x + cos^2 y), and the same by e^-2x where that is small.
TROUPE_EVERYWHERE inline Number tanh(Number z) {
  const double x = z.real(), y = z.imag();
  if (std::isnan(x)) return {x, y == 0 ? y : kNan};
  if (!std::isfinite(y)) {
    if (std::isinf(x)) return {std::copysign(1.0, x), std::copysign(0.0, y)};
    return {x == 0 ? x : kNan, kNan};
  }
  const double cosine = std::cos(y), sine = std::sin(y);
  const Exact both = exact_product(sine, cosine);
  if (std::fabs(x) > 1) {
    const double power = std::exp(-2 * std::fabs(x));
    const double scale = 1 + power * (2 * (1 - 2 * sine * sine) + power);
    Exact imaginary = exact_product(both.value, 4 * power);
    imaginary.lost += both.lost * 4 * power;
    return {std::copysign((1 - power * power) / scale, x), quotient(imaginary, {scale, 0})};
  }
  const Exact s = exact_sinh(x), s_square = exact_product(s.value, s.value);
  const Exact cosine_square = exact_product(cosine, cosine);
  Exact scale = exact_sum(s_square.value, cosine_square.value);
  scale.lost += s_square.lost + 2 * s.value * s.lost + cosine_square.lost;
  const double cosh = std::sqrt(1 + s_square.value);
  Exact real = exact_product(s.value, cosh);
  real.lost += s.lost * cosh;
  return {quotient(real, scale), quotient(both, scale)};
}

TROUPE_EVERYWHERE inline Number sqrt(Number z) {
  double x = z.real(), y = z.imag();
  if (x == 0 && y == 0) return {0, y};
  if (std::isinf(y)) return {kInfinity, y};
  if (std::isnan(x)) return {x, kNan};
  if (std::isinf(x))
    return x < 0 ? Number(std::isnan(y) ? kNan : 0.0, std::copysign(x, y))
                 : Number(x, std::isnan(y) ? kNan : std::copysign(0.0, y));
  if (std::isnan(y)) return {kNan, kNan};
  constexpr double kLarge = 0x1p+1021, kSmall = 0x1p-1000;
  double scale = 1;
  if (std::fabs(x) >= kLarge || std::fabs(y) >= kLarge) {
    x *= 0x1p-4, y *= 0x1p-4, scale = 0x1p+2;
  } else if (std::fabs(x) < kSmall && std::fabs(y) < kSmall) {
    x *= 0x1p+200, y *= 0x1p+200, scale = 0x1p-100;
  }
  const double large = std::sqrt((std::fabs(x) + std::hypot(x, y)) / 2);
  const double small = std::fabs(y) / (2 * large);
  return x >= 0 ? Number(scale * large, std::copysign(scale * small, y))
                : Number(scale * small, std::copysign(scale * large, y));
}

/// 1 / sqrt(z), which is the root's conjugate over |z|. Of zero it is infinite, of an infinity zero.
TROUPE_EVERYWHERE inline Number rsqrt(Number z) {
  double x = z.real(), y = z.imag(), scale = 1;
  if (x == 0 && y == 0) return {kInfinity, -y};
  if (std::fabs(x) >= 0x1p+1021 || std::fabs(y) >= 0x1p+1021) {
    x *= 0x1p-4, y *= 0x1p-4, scale = 0x1p-2;
  } else if (std::fabs(x) < 0x1p-1000 && std::fabs(y) < 0x1p-1000) {
    x *= 0x1p+200, y *= 0x1p+200, scale = 0x1p+100;
  }
  const Number root = sqrt(Number(x, y));
  if (std::isinf(root.real()) || std::isinf(root.imag()))
    return {std::copysign(0.0, root.real()), -std::copysign(0.0, root.imag())};
  const double size = std::hypot(x, y);
  return {scale * (root.real() / size), -scale * (root.imag() / size)};
}

/// The rounded product, which no compiler makes part of a fused operation.
#ifdef __CUDA_ARCH__
__device__ inline double rounded_square(double a) { return __dmul_rn(a, a); }
#else
[[gnu::noinline]] inline double rounded_square(double a) { return a * a; }
#endif

/// x^2 + y^2 - 1 to all digits: the five terms that it is made of are summed in two passes that lose nothing.
TROUPE_EVERYWHERE inline double square_less_one(double x, double y) {
  const double a = rounded_square(x), b = rounded_square(y);
  double terms[] = {std::fma(y, y, -b), std::fma(x, x, -a), b, a, -1};
  for (int pass = 0; pass < 2; ++pass)
    for (int i = 1; i < 5; ++i) {
      const Exact both = exact_sum(terms[i], terms[i - 1]);
      terms[i] = both.value;
      terms[i - 1] = both.lost;
    }
  return terms[4] + (terms[3] + (terms[2] + (terms[1] + terms[0])));
}

/// log |z|.
TROUPE_EVERYWHERE inline double log_of_size(double x, double y) {
  constexpr double kLog2 = 0.69314718055994530942;
  const double size = std::hypot(x, y);
  if (size > 0.5 && size < 1.5) return std::log1p(square_less_one(x, y)) / 2;
  if (std::isinf(size) && std::isfinite(x) && std::isfinite(y)) return std::log(std::hypot(x / 2, y / 2)) + kLog2;
  if (size < 0x1p-960 && size > 0) return std::log(std::hypot(x * 0x1p+100, y * 0x1p+100)) - 100 * kLog2;
  return std::log(size);
}
TROUPE_EVERYWHERE inline Number log(Number z) {
  return {log_of_size(z.real(), z.imag()), std::atan2(z.imag(), z.real())};
}

}  // namespace wide
}  // namespace troupe::inline v0::tensor
