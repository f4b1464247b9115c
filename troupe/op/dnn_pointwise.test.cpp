// What activations refuse, and in which words; and that their slopes are those of the functions.
#include "troupe/op/dnn_pointwise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "troupe/op/dnn.test.hpp"
#include "troupe/op/dnn_functions.hpp"

namespace troupe::op {

void add_dnn_pointwise_samples(Samples& add) {
  add(DnnActivate{.function = DnnActivation::leaky_relu, .alpha = 0.5, .x = add.view({2, 3}), .y = add.view({2, 3})});
  add(DnnActivateGradient{.function = DnnActivation::elu,
                          .alpha = 1,
                          .dy = add.view({2, 3}),
                          .x = add.view({2, 3}),
                          .dx = add.view({2, 3})});
}

namespace {

constexpr int kFunctions = static_cast<int>(DnnActivation::kLast) + 1;

TEST(DnnFunctions, have_the_slopes_of_their_values) {
  constexpr double kStep = 1e-6;
  for (int i = 0; i < kFunctions; ++i) {
    const auto function = static_cast<DnnActivation>(i);
    for (double x = -7.03; x < 7; x += 0.1717) {  // beside every corner
      const double rise = dnn::activated(function, x + kStep, 0.3) - dnn::activated(function, x - kStep, 0.3);
      EXPECT_NEAR(dnn::slope(function, x, 0.3), rise / (2 * kStep), 1e-8) << name(function) << " at " << x;
    }
  }
}

TEST(DnnFunctions, keep_a_nan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int i = 0; i < kFunctions; ++i) {
    const auto function = static_cast<DnnActivation>(i);
    EXPECT_TRUE(std::isnan(dnn::activated(function, nan, 1.0F))) << name(function);
    EXPECT_TRUE(std::isnan(dnn::slope(function, nan, 1.0F))) << name(function);
  }
}

TEST(DnnFunctions, are_finite_or_grow_with_x_far_out) {
  for (int i = 0; i < kFunctions; ++i) {
    const auto function = static_cast<DnnActivation>(i);
    for (const float x : {1e4F, 1e30F, 3e38F}) {
      EXPECT_FALSE(std::isnan(dnn::activated(function, x, 1.0F))) << name(function) << " at " << x;
      EXPECT_FALSE(std::isnan(dnn::activated(function, -x, 1.0F))) << name(function) << " at " << -x;
      EXPECT_TRUE(std::isfinite(dnn::slope(function, x, 1.0F))) << name(function) << " at " << x;
      EXPECT_TRUE(std::isfinite(dnn::slope(function, -x, 1.0F))) << name(function) << " at " << -x;
    }
  }
}

}  // namespace
}  // namespace troupe::op
