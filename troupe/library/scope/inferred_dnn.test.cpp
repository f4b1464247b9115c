// The shapes that layers of networks make, by the rules that scopes and Python go by.
#include "troupe/library/scope/inferred_dnn.hpp"

#include <gtest/gtest.h>

namespace troupe::detail {
namespace {

TEST(InferredDnn, convolutions_and_their_transposed_ones_undo_each_other) {
  const ConvolutionOptions options{.stride = {2, 1}, .padding = {1, 2}, .padding_after = {0, 1}, .groups = 3};
  const Shape x{2, 6, 9, 8}, w{9, 2, 3, 3};
  const Shape y = shape_of_convolution(x, w, options);
  EXPECT_EQ(y, (Shape{2, 9, 4, 9}));
  EXPECT_EQ(shape_of_transposed_convolution(y, w, options, 0), (Shape{2, 6, 8, 8}));
  EXPECT_EQ(shape_of_transposed_convolution(y, w, options, {1, 0}), x);
}

TEST(InferredDnn, pools_go_by_their_windows) {
  EXPECT_EQ(shape_of_pool({2, 3, 9}, 3, {}), (Shape{2, 3, 3}));
  EXPECT_EQ(shape_of_pool({2, 3, 8, 9}, {2, 3}, {.stride = 1, .padding = 1}), (Shape{2, 3, 9, 9}));
  EXPECT_EQ(with_space({2, 3, 8, 9}, 1), (Shape{2, 3, 1, 1}));
  EXPECT_EQ(with_space({2, 3, 8, 9}, {4, 5}), (Shape{2, 3, 4, 5}));
}

TEST(InferredDnn, what_cannot_be_is_some_shape_that_the_op_refuses) {
  EXPECT_EQ(shape_of_convolution({4}, {4}, {}), (Shape{4}));
  EXPECT_EQ(shape_of_convolution({2, 3, 9}, {4, 3, 3}, {.stride = 0}), (Shape{2, 4, 9}));
  EXPECT_EQ(shape_of_convolution({2, 3, 9}, {4, 3, 3}, {.stride = {1, 2}}), (Shape{2, 4, 9}));
  EXPECT_EQ(shape_of_convolution({2, 3, 2}, {4, 3, 3}, {}), (Shape{2, 4, 0}));
  EXPECT_EQ(shape_of_transposed_convolution({2, 3, 9}, {3, 4, 3}, {.groups = -1}, 0), (Shape{2, 3, 9}));
}

}  // namespace
}  // namespace troupe::detail
