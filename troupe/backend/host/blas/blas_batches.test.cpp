#include <gtest/gtest.h>

#include "troupe/backend/host/blas/blas_ops.hpp"
#include "troupe/backend/host/kernels/op_memory.test.hpp"

namespace troupe::host {
namespace {

class BlasBatches : public RandomTest {
 public:
  OpMemory memory;
};

/// Small products are shared out, large ones and products with a vector are not, or are by another limit.
TEST_F(BlasBatches, have_the_bits_of_products_one_by_one_with_every_team) {
  struct Extents {
    std::int64_t batch, rows, columns, depth;
  };
  for (const DType dtype : {DType::f32, DType::f64, DType::c64, DType::c128, DType::f16})
    for (const Extents& e : {Extents{0, 3, 4, 5}, Extents{1, 32, 32, 32}, Extents{300, 17, 9, 12},
                             Extents{200, 32, 32, 32}, Extents{3, 70, 66, 65}, Extents{400, 30, 1, 40}}) {
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
        ASSERT_TRUE(gemm(op.alpha, op.beta, one(here(op.a)), one(here(op.b)), one(expected.view())));
      }
      for (const int size : {1, 2, 3, 16}) {
        Team team(size);
        ASSERT_TRUE(run_op(op, memory.here(team)));
        GuardedArray out(dtype, shape_c);
        ASSERT_TRUE(copy(here(op.c), out.view()));
        EXPECT_EQ(differences(out, expected), 0) << size << " threads";
      }
    }
}

TEST(GrainOfProducts, leaves_large_ones_to_the_threads_of_openblas) {
  EXPECT_LT(grain_of_products(32, 32, 32).items(), 100);
  EXPECT_LT(grain_of_products(64, 64, 64).items(), 100);
  EXPECT_GT(grain_of_products(65, 64, 64).items(), std::int64_t{1} << 60);
  EXPECT_GT(grain_of_products(200, 1, 200).items(), std::int64_t{1} << 60);
  EXPECT_LT(grain_of_products(1, 90, 90).items(), 100);
}

}  // namespace
}  // namespace troupe::host
