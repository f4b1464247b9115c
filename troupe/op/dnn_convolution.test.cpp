// What convolutions take and refuse: which y belongs to an x, and which x to a y.
#include "troupe/op/dnn_convolution.hpp"

#include <gtest/gtest.h>

#include <string>

#include "troupe/op/dnn.test.hpp"

namespace troupe::op {

void add_dnn_convolution_samples(Samples& add) {
  const DnnWindow window{.stride = {2, 1, 1}, .before = {1, 0, 0}, .after = {1, 1, 0}, .dilation = {1, 2, 1}};
  add(DnnConvolve{.window = window,
                  .groups = 2,
                  .transposed = false,
                  .activation = DnnActivation::relu,
                  .alpha = 0,
                  .has_bias = true,
                  .has_addend = true,
                  .x = add.view({1, 4, 5, 6}),
                  .w = add.view({6, 2, 3, 2}),
                  .bias = add.view({6}),
                  .addend = add.view({1, 6, 3, 5}),
                  .y = add.view({1, 6, 3, 5})});
  add(DnnConvolveInput{.window = window,
                       .groups = 2,
                       .transposed = true,
                       .activation = DnnActivation::none,
                       .alpha = 0,
                       .has_bias = true,
                       .y = add.view({1, 6, 3, 5}),
                       .w = add.view({6, 2, 3, 2}),
                       .bias = add.view({4}),
                       .x = add.view({1, 4, 5, 6})});
  add(DnnConvolveFilter{.window = window,
                        .groups = 2,
                        .transposed = false,
                        .x = add.view({1, 4, 5, 6}),
                        .y = add.view({1, 6, 3, 5}),
                        .w = add.view({6, 2, 3, 2})});
}

namespace {

TEST(DnnConvolutionChecks, take_every_extent_that_could_have_made_a_y) {
  DnnConvolveInput op = *sample(DnnConvolveInput::kKind).get_if<DnnConvolveInput>();
  op.window.after = {1, 1, 0};
  for (const std::int64_t extent : {5, 6}) {
    reshape(op.x, {1, 4, extent, 6});
    EXPECT_TRUE(check(op)) << extent;
  }
  for (const std::int64_t extent : {4, 7}) {
    reshape(op.x, {1, 4, extent, 6});
    EXPECT_FALSE(check(op)) << extent;
  }
}

TEST(DnnConvolutionChecks, speak_the_words_of_each_call) {
  DnnConvolve op = *sample(DnnConvolve::kKind).get_if<DnnConvolve>();
  reshape(op.y, {1, 6, 3, 4});
  EXPECT_EQ(check(op).error().message(), "convolution: y is [1, 6, 3, 4]; it must be [1, 6, 3, 5]");
  op.transposed = true;
  EXPECT_EQ(check(op).error().message(),
            "transposed_convolution_input_gradient: dx is [1, 6, 3, 4]; it must be [1, 6, 3, 5]");
  DnnConvolveInput back = *sample(DnnConvolveInput::kKind).get_if<DnnConvolveInput>();
  reshape(back.x, {1, 4, 9, 6});
  EXPECT_EQ(check(back).error().message(),
            "transposed_convolution: y is [1, 4, 9, 6]; it must be [1, 4, 5, 6], or larger by less than the stride");
  back.transposed = false;
  EXPECT_EQ(
      check(back).error().message(),
      "convolution_input_gradient: dx is [1, 4, 9, 6]; it must be [1, 4, 5, 6], or larger by less than the stride");
}

TEST(DnnConvolutionChecks, count_the_work_as_multiplications) {
  EXPECT_EQ(sample(DnnConvolve::kKind).get_if<DnnConvolve>()->work(), 90U * 2 * 3 * 2);
}

}  // namespace
}  // namespace troupe::op
