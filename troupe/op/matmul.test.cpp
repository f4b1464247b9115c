#include "troupe/op/matmul.hpp"

#include <gtest/gtest.h>

namespace troupe::op {
namespace {

View dense(const Shape& shape) { return {.shape = shape, .strides = contiguous_strides(shape)}; }

Matmul product(const Shape& a, const Shape& b, const Shape& d) {
  Matmul op;
  op.a = dense(a);
  op.b = dense(b);
  op.d = dense(d);
  EXPECT_TRUE(broadcast_batch("matmul", op.a, op.b, op.d));
  EXPECT_TRUE(check(op));
  merge_batch(op);
  EXPECT_TRUE(check(op));
  return op;
}

TEST(MatmulBatch, of_one_b_for_all_is_one_product) {
  const Matmul op = product({2, 3, 4, 5}, {5, 6}, {2, 3, 4, 6});
  EXPECT_EQ(op.a.shape, (Shape{24, 5}));
  EXPECT_EQ(op.b.shape, (Shape{5, 6}));
  EXPECT_EQ(op.d.shape, (Shape{24, 6}));
  EXPECT_EQ(op.d.strides, (Strides{6, 1}));
}

TEST(MatmulBatch, has_one_axis_where_matrices_lie_behind_each_other) {
  const Matmul op = product({2, 3, 4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6});
  EXPECT_EQ(op.a.shape, (Shape{6, 4, 5}));
  EXPECT_EQ(op.b.shape, (Shape{6, 5, 6}));
  EXPECT_EQ(op.d.strides, (Strides{24, 6, 1}));
}

TEST(MatmulBatch, has_strides_of_0_where_one_matrix_is_for_all) {
  const Matmul op = product({4, 5}, {3, 5, 6}, {3, 4, 6});
  EXPECT_EQ(op.a.shape, (Shape{3, 4, 5}));
  EXPECT_EQ(op.a.strides, (Strides{0, 5, 1}));
}

TEST(MatmulBatch, keeps_axes_that_are_spread_in_different_ways) {
  const Matmul op = product({2, 1, 4, 5}, {3, 5, 6}, {2, 3, 4, 6});
  EXPECT_EQ(op.a.strides, (Strides{20, 0, 5, 1}));
  EXPECT_EQ(op.b.strides, (Strides{0, 30, 6, 1}));
}

TEST(MatmulBatch, drops_axes_of_one) {
  const Matmul op = product({1, 4, 5}, {1, 1, 5, 6}, {1, 1, 4, 6});
  EXPECT_EQ(op.a.shape, (Shape{4, 5}));
  EXPECT_EQ(op.b.shape, (Shape{5, 6}));
}

TEST(MatmulBatch, whose_rows_do_not_lie_behind_each_other_stays_one) {
  Matmul op;
  op.a = dense({3, 4, 5});
  op.b = dense({5, 6});
  op.d = dense({3, 4, 6});
  op.d.strides = Strides{100, 6, 1};
  EXPECT_TRUE(broadcast_batch("matmul", op.a, op.b, op.d));
  merge_batch(op);
  EXPECT_EQ(op.d.shape, (Shape{3, 4, 6}));
  EXPECT_EQ(op.b.strides, (Strides{0, 6, 1}));
  EXPECT_FALSE(as_one_matrix(op.d));
  EXPECT_EQ(as_one_matrix(op.a)->shape, (Shape{12, 5}));
}

TEST(MatmulBatch, is_taken_apart_along_its_first_axis) {
  const View part = at_batch(dense({3, 4, 5}), 2);
  EXPECT_EQ(part.shape, (Shape{4, 5}));
  EXPECT_EQ(part.address, 2u * 20 * sizeof(float));
}

}  // namespace
}  // namespace troupe::op
