#include "troupe/backend/cuda/kernels/kernel_names.hpp"

#include <gtest/gtest.h>

#include <set>

#include "troupe/backend/cuda/blas/blas_kernels.hpp"
#include "troupe/backend/cuda/matmul/matmul_kernels.hpp"
#include "troupe/backend/cuda/sparse/sparse_kernels.hpp"

namespace troupe::cuda {
namespace {

TEST(KernelNames, are_those_of_their_file) {
  EXPECT_EQ(file_of(BlasKernel{}).image, "blas_kernels");
  EXPECT_EQ(spelling(BlasKernel::scale), "scale");
  EXPECT_EQ(spelling(BlasKernel::put_pointers), "put_pointers") << "the list goes on in another line";
  EXPECT_EQ(spelling(BlasKernel::gemm_i8), "gemm_i8") << "the last one";
  EXPECT_EQ(spelling(SparseKernel::conjugate), "conjugate");
  EXPECT_EQ(kKernelsIn<MatmulKernel>, 4);
}

TEST(KernelTypes, are_the_end_of_a_kernels_name) {
  EXPECT_EQ(KernelTypes().text(), "");
  EXPECT_EQ(KernelTypes(DType::f64).text(), "_f64");
  EXPECT_EQ(KernelTypes(DType::boolean).text(), "_bool");
  EXPECT_EQ(KernelTypes(DType::c128, DType::i32).text(), "_c128_i32");
  EXPECT_EQ(KernelTypes(DType::f32, DType::i64).text(), "_f32_i64");
  EXPECT_EQ(KernelTypes::of_size(1).text(), "_1");
  EXPECT_EQ(KernelTypes::of_size(16).text(), "_16");
}

TEST(KernelTypes, have_an_index_each) {
  std::set<std::size_t> indices{KernelTypes().index()};
  std::size_t made = 1;
  const auto add = [&](KernelTypes types) {
    EXPECT_LT(types.index(), KernelTypes::kCount) << types.text();
    indices.insert(types.index());
    ++made;
  };
  for (int i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    add(dtype);
    add({dtype, DType::i32});
    add({dtype, DType::i64});
  }
  for (const std::int64_t size_bytes : {1, 2, 4, 8, 16}) add(KernelTypes::of_size(size_bytes));
  EXPECT_EQ(indices.size(), made);
}

}  // namespace
}  // namespace troupe::cuda
