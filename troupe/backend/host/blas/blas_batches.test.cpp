#include <gtest/gtest.h>

#include "troupe/backend/host/blas/blas_ops.hpp"
#include "troupe/backend/host/blas/product_tiles.hpp"
#include "troupe/backend/host/kernels/op_memory.test.hpp"
#include "troupe/core/sanitized.hpp"

namespace troupe::host {
namespace {

class BlasBatches : public RandomTest {
 public:
  OpMemory memory;
};

/// How many elements differ by more than sums of so many products of numbers up to 2 may when they are made in another
/// order.
std::int64_t differences_beyond_rounding(GuardedArray& a, GuardedArray& b, std::int64_t depth) {
  const double allowed = 4 * rounding(a.dtype(), 6.0 * static_cast<double>(depth));
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) count += !(std::abs(a.number(i) - b.number(i)) <= allowed);
  return count;
}

/// Products are shared out one by one. Large ones are cut into tiles, at whose edges a library may sum in another
/// order.
TEST_F(BlasBatches, have_the_bits_of_products_one_by_one_with_every_team) {
  struct Extents {
    std::int64_t batch, rows, columns, depth;
  };
  // A sanitizer looks at each element; one type shows it all that it can see.
  const std::vector<DType> all{DType::f32, DType::f64, DType::c64, DType::c128, DType::f16};
  for (const DType dtype : std::span(all).first(kSanitized ? 1 : all.size()))
    for (const Extents& e :
         {Extents{0, 3, 4, 5}, Extents{1, 32, 32, 32}, Extents{300, 17, 9, 12}, Extents{200, 32, 32, 32},
          Extents{3, 70, 66, 65}, Extents{400, 30, 1, 40}, Extents{2, 520, 530, 40}, Extents{2, 700, 1, 900}}) {
      const Shape shape_a{e.batch, e.rows, e.depth};
      const Shape shape_b{e.batch, e.depth, e.columns};
      const Shape shape_c{e.batch, e.rows, e.columns};
      const NamedStrides layout_b = random.one_of(input_layouts(shape_b));
      SCOPED_TRACE(std::string(name(dtype)) + " " + shape_a.to_string() + shape_b.to_string() + " " + layout_b.name);
      memory.clear();
      GuardedArray a(dtype, shape_a);
      GuardedArray b(dtype, shape_b);
      random.fill(a);
      random.fill(b);
      op::Gemm op;
      op.alpha = op::Scalar(1.5);
      op.beta = op::Scalar(0.0);
      op.a = memory.place(a, shape_a, contiguous_strides(shape_a));
      op.b = memory.place(b, shape_b, layout_b.strides);
      op.c = memory.place(dtype, shape_c, contiguous_strides(shape_c));
      GuardedArray expected(dtype, shape_c);
      const HostViews here = memory.here();
      for (std::int64_t i = 0; i < e.batch; ++i) {
        const auto one = [&](const HostView& batch) {
          return HostView{batch.data + i * batch.strides[0] * size_bytes(dtype), dtype,
                          Shape{batch.shape[1], batch.shape[2]}, Strides{batch.strides[1], batch.strides[2]}};
        };
        ASSERT_TRUE(gemm(op.alpha, op.beta, one(here(op.a)), one(here(op.b)), one(expected.view()), Team::of_one()));
      }
      for (const int size : {1, 2, 3, 16}) {
        Team team(size);
        ASSERT_TRUE(run_op(op, memory.here(team)));
        GuardedArray out(dtype, shape_c);
        ASSERT_TRUE(copy(here(op.c), out.view()));
        const std::int64_t different = ProductTiles::of(e.rows, e.columns, e.depth, size).count() > 1
                                           ? differences_beyond_rounding(out, expected, e.depth)
                                           : differences(out, expected);
        EXPECT_EQ(different, 0) << size << " threads";
      }
    }
}

TEST_F(BlasBatches, of_large_products_are_right_with_every_team) {
  for (const DType dtype : {DType::f32, DType::f64, DType::c64, DType::bf16})
    for (const auto& [rows, columns, depth] : {std::array<std::int64_t, 3>{300, 260, 128},
                                               {5000, 1, 300},
                                               {1, 5000, 300},
                                               {1, 4000, 40},
                                               {65, 700, 90},
                                               {129, 131, 700}}) {
      const Shape extents{rows, columns, depth};
      SCOPED_TRACE(std::string(name(dtype)) + " " + extents.to_string());
      GuardedArray a(dtype, {rows, depth});
      GuardedArray b(dtype, {depth, columns});
      random.fill(a);
      random.fill(b);
      GuardedArray expected(dtype, {rows, columns});
      ASSERT_TRUE(gemm(op::Scalar(1.0), op::Scalar(0.0), a.view(), b.view(), expected.view(), Team::of_one()));
      for (const int size : {2, 3, 16}) {
        Team team(size);
        GuardedArray out(dtype, {rows, columns});
        ASSERT_TRUE(gemm(op::Scalar(1.0), op::Scalar(0.0), a.view(), b.view(), out.view(), team));
        EXPECT_EQ(differences_beyond_rounding(out, expected, depth), 0) << size << " threads";
      }
    }
}

TEST(GrainOfProducts, leaves_a_few_large_ones_to_be_cut_themselves) {
  Team two(2);
  EXPECT_LT(grain_of_products(two, 3, 32, 32, 32).items(), 100);
  EXPECT_GT(grain_of_products(two, 3, 1024, 1024, 1024).items(), std::int64_t{1} << 60);
  EXPECT_EQ(grain_of_products(two, 8, 1024, 1024, 1024).items(), 1);
}

TEST(ProductTiles, are_one_or_two_for_each_thread_and_not_too_small) {
  const auto count = [](std::int64_t n, int team) { return ProductTiles::of(n, n, n, team).count(); };
  EXPECT_EQ(count(64, 16), 1);
  EXPECT_EQ(count(128, 16), 2);
  EXPECT_EQ(count(1024, 1), 1);
  EXPECT_EQ(count(256, 2), 2);
  EXPECT_EQ(count(1024, 2), 4);
  EXPECT_EQ(count(1024, 16), 32);
  EXPECT_EQ(ProductTiles::of(1000, 0, 1000, 4).count(), 0);
  const ProductTiles tiles = ProductTiles::of(1000, 10, 1000, 2);
  EXPECT_EQ(tiles.rows % 16, 0);
  EXPECT_EQ(tiles.down, 2);
  EXPECT_EQ(tiles.across, 1);
}

}  // namespace
}  // namespace troupe::host
