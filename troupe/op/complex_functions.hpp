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
/// From here on tanh is 1 to the last digit, and cosh and sinh are half a power of e.
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

/// Where x is small, Kahan's way, in which nothing cancels: by the tangent of y and the hyperbolic sine of x.
TROUPE_EVERYWHERE inline Number tanh(Number z) {
  const double x = z.real(), y = z.imag();
  if (std::isnan(x)) return {x, y == 0 ? y : kNan};
  if (!std::isfinite(y)) {
    if (std::isinf(x)) return {std::copysign(1.0, x), std::copysign(0.0, y)};
    return {x == 0 ? x : kNan, kNan};
  }
  if (std::fabs(x) >= kFlat) {
    const double small = std::exp(-std::fabs(x));
    return {std::copysign(1.0, x), 4 * std::sin(y) * std::cos(y) * small * small};
  }
  if (std::fabs(x) > 1) {
    const double sine = std::sin(y), scale = std::cosh(2 * x) + (1 - 2 * sine * sine);
    return {std::sinh(2 * x) / scale, 2 * sine * std::cos(y) / scale};
  }
  const double t = std::tan(y), beta = 1 + t * t, s = std::sinh(x), rho = std::sqrt(1 + s * s);
  if (std::isinf(t)) return {rho / s, 1 / t};
  const double scale = 1 + beta * s * s;
  return {beta * rho * s / scale, t / scale};
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

/// 1 / sqrt(z). Of zero it is infinite, of an infinity zero.
TROUPE_EVERYWHERE inline Number rsqrt(Number z) {
  const Number root = sqrt(z);
  const double x = root.real(), y = root.imag();
  if (x == 0 && y == 0) return {kInfinity, -y};
  if (std::isinf(x) || std::isinf(y)) return {std::copysign(0.0, x), -std::copysign(0.0, y)};
  const double large = std::fmax(std::fabs(x), std::fabs(y));
  const double u = x / large, v = y / large, size = u * u + v * v;  // no square overflows
  return {u / size / large, -v / size / large};
}

/// A sum, and what its rounding has lost.
struct ExactSum {
  double sum = 0, lost = 0;
};
TROUPE_EVERYWHERE inline ExactSum exact_sum(double a, double b) {
  const double sum = a + b, part_of_b = sum - a;
  return {sum, (a - (sum - part_of_b)) + (b - part_of_b)};
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
      const ExactSum both = exact_sum(terms[i], terms[i - 1]);
      terms[i] = both.sum;
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
