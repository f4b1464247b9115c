// What of the CUDA backend can be known without a GPU.
#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/blas/cublas.hpp"

#include <gtest/gtest.h>

namespace troupe::cuda {
namespace {

Matrix matrix(std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride,
              DType dtype = DType::f32) {
  return {0, dtype, rows, columns, row_stride, column_stride};
}

TEST(CublasGemm, takes_matrices_whose_rows_or_columns_lie_side_by_side) {
  const Matrix square = matrix(4, 4, 4, 1);
  EXPECT_TRUE(Cublas::can_multiply(square, square, square));
  EXPECT_TRUE(Cublas::can_multiply(matrix(4, 4, 1, 4), square, matrix(4, 4, 1, 9)));
  EXPECT_TRUE(Cublas::can_multiply(matrix(4, 4, 100, 1), square, square)) << "rows far apart";
  EXPECT_FALSE(Cublas::can_multiply(matrix(4, 4, 8, 2), square, square)) << "every second element";
  EXPECT_FALSE(Cublas::can_multiply(matrix(4, 4, -4, 1), square, square)) << "upside down";
  EXPECT_FALSE(Cublas::can_multiply(matrix(4, 4, 0, 1), square, square)) << "one row, repeated";
  EXPECT_FALSE(Cublas::can_multiply(matrix(4, 4, 2, 1), square, square)) << "rows that overlap";
}

TEST(CublasGemm, does_not_care_for_strides_along_an_extent_of_one) {
  EXPECT_TRUE(Cublas::can_multiply(matrix(1, 4, 77, 1), matrix(4, 1, 1, 77), matrix(1, 1, 5, 5)));
  EXPECT_TRUE(Cublas::can_multiply(matrix(4, 1, 3, 9), matrix(1, 4, 0, 1), matrix(4, 4, 4, 1)));
}

TEST(CublasGemm, conjugates_only_what_it_transposes) {
  const Matrix square = matrix(4, 4, 4, 1, DType::c64);
  const Matrix columns = matrix(4, 4, 1, 4, DType::c64);
  const ProductKind left{.conjugates_a = true};
  EXPECT_TRUE(Cublas::can_multiply(square, columns, columns, left));
  EXPECT_FALSE(Cublas::can_multiply(columns, columns, columns, left));
  EXPECT_TRUE(Cublas::can_multiply(columns, square, square, left));
  EXPECT_FALSE(Cublas::can_multiply(square, square, square, left));
  // A vector that lies both ways is never transposed.
  const ProductKind right{.conjugates_b = true};
  EXPECT_FALSE(Cublas::can_multiply(matrix(4, 1, 1, 1, DType::c64), matrix(1, 4, 1, 1, DType::c64), square, right));
  EXPECT_FALSE(Cublas::can_multiply(matrix(4, 1, 1, 1, DType::c64), matrix(1, 4, 1, 1, DType::c64), columns, right));
}

TEST(CublasGemm, takes_the_types_that_cublas_has) {
  for (int i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const Matrix m = matrix(2, 2, 2, 1, dtype);
    const bool has =
        dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16 || is_complex(dtype);
    EXPECT_EQ(Cublas::can_multiply(m, m, m), has) << i;
  }
}

}  // namespace
}  // namespace troupe::cuda

#endif
