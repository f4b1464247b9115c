// Against the C library in a longer format, at points where naive formulas overflow, cancel or give NaN.
#include "troupe/op/complex_functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <vector>

#include "troupe/op/tensor_functions.hpp"

namespace troupe {
namespace {

using Long = std::complex<long double>;

/// Numbers, and the same with the other sign, in every combination.
std::vector<double> hard_parts() {
  constexpr double kMax = std::numeric_limits<double>::max(), kPi = 3.141592653589793;
  std::vector<double> parts = {0,
                               5e-324,
                               1e-310,
                               2.3e-308,
                               1e-300,
                               1e-160,
                               1e-20,
                               1e-5,
                               0.01,
                               0.1,
                               0.5,
                               0.6,
                               0.8,
                               0.9999,
                               1,
                               1.0001,
                               kPi / 4,
                               kPi / 2,
                               kPi,
                               2,
                               3,
                               5,
                               21.9,
                               22.1,
                               50,
                               354,
                               356,
                               700,
                               709,
                               710,
                               711,
                               745,
                               746,
                               1000,
                               1420,
                               1500,
                               1e4,
                               1e10,
                               1e20,
                               1e150,
                               1e160,
                               kMax / 4,
                               kMax / 2,
                               kMax,
                               0x1p-1,
                               std::nextafter(1.0, 0.0),
                               std::nextafter(1.0, 2.0),
                               0.70710678118654746,
                               0.70710678118654757,
                               std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};
  std::mt19937_64 random(1);
  for (int i = 0; i < 20; ++i) parts.push_back(std::exp(std::uniform_real_distribution<>(-10, 10)(random)));
  const std::size_t count = parts.size();
  for (std::size_t i = 0; i < count; ++i) parts.push_back(-parts[i]);
  return parts;
}

/// How far apart, in units of the last place of an `R`; none for two NaNs, and for infinities that `wanted` rounds to.
template <class R>
double distance(R given, long double wanted) {
  const R rounded = static_cast<R>(wanted);
  if (std::isnan(rounded) || std::isnan(given)) return std::isnan(rounded) && std::isnan(given) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(given)) {
    if (std::isinf(rounded) && std::isinf(given)) return 0;  // Annex G leaves some of the signs open
    return std::fabs(std::isinf(given) ? rounded : given) >= std::numeric_limits<R>::max() ? 1 : 1e9;
  }
  if (wanted == 0) return given == 0 && std::signbit(given) == std::signbit(wanted) ? 0 : 1e9;
  int power = 0;
  (void)std::frexp(rounded, &power);
  using Limits = std::numeric_limits<R>;
  const long double unit = std::ldexp(1.0L, std::max(power - Limits::digits, Limits::min_exponent - Limits::digits));
  return static_cast<double>(std::fabs(given - wanted) / unit);
}

template <Unary function>
Long in_long(Long z) {
  if constexpr (function == Unary::exp) return std::exp(z);
  if constexpr (function == Unary::log) return std::log(z);
  if constexpr (function == Unary::sqrt) return std::sqrt(z);
  if constexpr (function == Unary::sin) return std::sin(z);
  if constexpr (function == Unary::cos) return std::cos(z);
  if constexpr (function == Unary::tanh) return std::tanh(z);
}

template <Unary function, class R>
void expect_close_at(std::complex<R> z, double limit) {
  const std::complex<R> given = tensor::apply<function>(z);
  const Long wanted = in_long<function>(Long(z.real(), z.imag()));
  EXPECT_LE(distance(given.real(), wanted.real()), limit) << z << ": real part of " << given << ", not " << wanted;
  EXPECT_LE(distance(given.imag(), wanted.imag()), limit) << z << ": imaginary part of " << given << ", not " << wanted;
}

template <Unary function, class R>
void expect_close_everywhere(double limit) {
  const std::vector<double> doubles = hard_parts();
  const std::vector<R> parts(doubles.begin(), doubles.end());
  for (const R x : parts)
    for (const R y : parts) {
      expect_close_at<function>(std::complex<R>(x, y), limit);
      if (testing::Test::HasFailure()) return;
    }
}
template <Unary function>
void expect_close() {
  expect_close_everywhere<function, double>(4);
  expect_close_everywhere<function, float>(1);
}

TEST(ComplexFunctions, exp_is_right_to_the_last_places) { expect_close<Unary::exp>(); }
TEST(ComplexFunctions, log_is_right_to_the_last_places) { expect_close<Unary::log>(); }
TEST(ComplexFunctions, sqrt_is_right_to_the_last_places) { expect_close<Unary::sqrt>(); }
TEST(ComplexFunctions, sin_is_right_to_the_last_places) { expect_close<Unary::sin>(); }
TEST(ComplexFunctions, cos_is_right_to_the_last_places) { expect_close<Unary::cos>(); }
TEST(ComplexFunctions, tanh_is_right_to_the_last_places) { expect_close<Unary::tanh>(); }

TEST(ComplexFunctions, log_keeps_its_digits_near_one) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    const double angle = std::uniform_real_distribution<>(0, 6.3)(random);
    const double away = std::ldexp(std::uniform_real_distribution<>(-1, 1)(random), -static_cast<int>(random() % 54));
    expect_close_at<Unary::log>(std::complex<double>((1 + away) * std::cos(angle), (1 + away) * std::sin(angle)), 4);
  }
}

TEST(ComplexFunctions, rsqrt_is_one_over_the_root) {
  const std::vector<double> parts = hard_parts();
  for (const double x : parts)
    for (const double y : parts) {
      const std::complex<double> given = tensor::apply<Unary::rsqrt>(std::complex<double>(x, y));
      if (x == 0 && y == 0) {
        EXPECT_EQ(given.real(), std::numeric_limits<double>::infinity());
        EXPECT_EQ(given.imag(), 0);
      } else if (std::isinf(x) || std::isinf(y)) {
        const bool has_root = std::isinf(y) || !std::isnan(y);  // that of (inf, NaN) has one known part
        if (has_root && !std::isnan(x)) {
          EXPECT_EQ(given, std::complex<double>(0, 0)) << x << " " << y;
        }
      } else {
        const Long root = std::sqrt(Long(x, y));
        const Long wanted = std::conj(root) / std::norm(root);
        constexpr double kLeast = std::numeric_limits<double>::min();  // a smaller part of the root has fewer digits
        const double limit = std::fabs(root.real()) < kLeast || std::fabs(root.imag()) < kLeast ? 1e8 : 6;
        EXPECT_LE(distance(given.real(), wanted.real()), limit) << x << " " << y << ": " << given << ", not " << wanted;
        EXPECT_LE(distance(given.imag(), wanted.imag()), limit) << x << " " << y << ": " << given << ", not " << wanted;
      }
      if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace troupe
