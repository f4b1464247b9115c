// Plans transform right at every level of the CPU, alone and together, and a worker keeps the last 64 of them.
#include "troupe/backend/host/fft/fft_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "troupe/backend/host/fft/fft_lines.hpp"
#include "troupe/core/seed.test.hpp"

namespace troupe::host {
namespace {

template <class T>
class FftPlanOf : public testing::Test {
 protected:
  using Number = std::complex<long double>;
  /// The roots of a number of turns.
  static std::vector<Number> roots_of(std::size_t turns) {
    std::vector<Number> roots;
    for (std::size_t k = 0; k < turns; ++k) {
      const long double angle =
          -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(turns);
      roots.emplace_back(std::cos(angle), std::sin(angle));
    }
    return roots;
  }

  /// Transforms `width` lines and compares the last one.
  void expect_transforms(VectorLevel level, std::int64_t length, FftForm form, std::int64_t width) {
    const FftPlan<T> plan(FftKey{.length = length, .dtype = dtype_of<T>, .form = form});
    const auto size = static_cast<std::size_t>(plan.rows() * width);
    std::vector<T> re(size), im(size), spare_re(size), spare_im(size);
    std::uniform_real_distribution<T> number(-1, 1);
    std::vector<Number> x;
    for (std::size_t i = 0; i < static_cast<std::size_t>(length * width); ++i) {
      re[i] = number(random_);
      im[i] = number(random_);
      if (static_cast<std::int64_t>(i) % width == width - 1) x.emplace_back(re[i], im[i]);
    }
    const Planes<T> y = plan.run(fft_rows<T>(level), {re.data(), im.data()}, {spare_re.data(), spare_im.data()}, width);
    long double off = 0, all = 0;
    const std::vector<Number> roots = roots_of(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      Number want = 0;
      for (std::size_t j = 0; j < x.size(); ++j) want += x[j] * roots[j * k % x.size()];
      const auto at = static_cast<std::int64_t>(k) * width + width - 1;
      off += std::norm(want - Number(y.re[at], y.im[at]));
      all += std::norm(want);
    }
    EXPECT_LE(std::sqrt(off / all), 4 * std::numeric_limits<T>::epsilon())
        << name(level) << ", " << length << " numbers of " << width << " lines, form " << static_cast<int>(form);
  }

  std::mt19937_64 random_{test_seed()};
};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(FftPlanOf, Numbers);

TYPED_TEST(FftPlanOf, transforms_at_every_level_by_its_definition) {
  for (int i = 0; i < kVectorLevels; ++i) {
    const auto level = static_cast<VectorLevel>(i);
    if (!has(level)) continue;
    for (const std::int64_t length :
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 19, 23, 29, 31, 37, 60, 64, 77, 97, 128, 144, 221, 256, 514}) {
      for (const std::int64_t width : {1, 2, 5, 16, 19})
        this->expect_transforms(level, length, FftForm::together, width);
      this->expect_transforms(level, length, FftForm::alone, 1);
    }
  }
}

TEST(FftPlan, knows_which_lengths_have_stages) {
  for (const std::int64_t length : {1, 2, 31, 62, 961, 1 << 20, 17 * 19 * 23}) EXPECT_TRUE(has_fft_stages(length));
  for (const std::int64_t length : {37, 74, 1009, 31 * 37}) EXPECT_FALSE(has_fft_stages(length));
  for (std::int64_t length = 1; length < 3000; ++length) {
    const std::int64_t convolution = fft_convolution_length(length);
    EXPECT_TRUE(has_fft_stages(convolution) && convolution >= 2 * length - 1) << length;
  }
  EXPECT_EQ(fft_rows_of_square(1 << 20), 1 << 10);
  EXPECT_EQ(fft_rows_of_square(1000), 25);
  EXPECT_EQ(fft_rows_of_square(31), 1);
}

/// Transforms one line of that length.
void transform(FftPlans& plans, std::int64_t length) {
  std::vector<std::complex<float>> x(static_cast<std::size_t>(length), 1.0f), y(x.size());
  const HostView in{reinterpret_cast<std::byte*>(x.data()), DType::c64, {length}, {1}};
  const HostView out{reinterpret_cast<std::byte*>(y.data()), DType::c64, {length}, {1}};
  ASSERT_TRUE(
      transform_lines({.in = in, .out = out, .axis = 0, .line = FftLine::complex, .is_inverse = false, .factor = 1},
                      plans, Team::of_one()));
  EXPECT_NEAR(y[0].real(), static_cast<float>(length), 1e-5f * static_cast<float>(length));
}

TEST(FftPlans, keep_64_and_let_the_least_recently_used_go) {
  FftPlans plans;
  const auto key = [](std::int64_t length) {
    return FftKey{.length = length, .dtype = DType::f32, .form = FftForm::alone};
  };
  for (std::int64_t length = 1; length <= 64; ++length) transform(plans, length);
  EXPECT_EQ(plans.size(), 64U);
  transform(plans, 1);  // so that 2 is the one that was not used for longest
  transform(plans, 65);
  EXPECT_EQ(plans.size(), 64U);
  EXPECT_TRUE(plans.has(key(1)));
  EXPECT_FALSE(plans.has(key(2)));
  EXPECT_TRUE(plans.has(key(3)));
  EXPECT_TRUE(plans.has(key(65)));
}

/// The bits of a result do not depend on how many threads there are.
template <class T>
void expect_equal_bits(const Shape& shape, int axis) {
  using C = std::complex<T>;
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  std::vector<C> x(count), one(count), many(count);
  std::mt19937_64 random(test_seed());
  std::uniform_real_distribution<T> number(-1, 1);
  for (C& element : x) element = C(number(random), number(random));
  const auto view = [&](std::vector<C>& all) {
    return HostView{reinterpret_cast<std::byte*>(all.data()), dtype_of<C>, shape, contiguous_strides(shape)};
  };
  FftPlans plans;
  Team team(3);
  FftPass pass{
      .in = view(x), .out = view(one), .axis = axis, .line = FftLine::complex, .is_inverse = false, .factor = 1};
  ASSERT_TRUE(transform_lines(pass, plans, Team::of_one()));
  pass.out = view(many);
  ASSERT_TRUE(transform_lines(pass, plans, team));
  EXPECT_TRUE(one == many);
}

TEST(FftLines, have_the_same_bits_for_every_team) {
  expect_equal_bits<float>({1000, 24}, 0);
  expect_equal_bits<float>({300, 100}, 1);
  expect_equal_bits<double>({40'000}, 0);
  expect_equal_bits<float>({33'013}, 0);
}

}  // namespace
}  // namespace troupe::host
