#include "troupe/backend/cuda/tensor/tensor_kernels.hpp"

#include <gtest/gtest.h>

#include "troupe/backend/cuda/memory/memory_kernels.hpp"

namespace troupe::cuda {
namespace {

template <class F>
void expect_names_of_all() {
  for (int i = 0; i <= static_cast<int>(F::kLast); ++i) {
    const auto function = static_cast<F>(i);
    bool has_kernel = detail::takes_floats(function);
    if constexpr (std::same_as<F, Binary>) has_kernel &= !detail::is_comparison(function);
    if (has_kernel) {
      EXPECT_EQ(spelling(kernel_of(function)), name(function));
    }
  }
}

TEST(TensorKernels, are_named_after_their_functions) {
  expect_names_of_all<Unary>();
  expect_names_of_all<Binary>();
  expect_names_of_all<Ternary>();
}

TEST(CastKernels, are_named_after_the_type_that_they_make) {
  for (int i = 0; i < kDTypes; ++i)
    EXPECT_EQ(spelling(static_cast<CastKernel>(i)), "to_" + std::string(name(static_cast<DType>(i))));
}

}  // namespace
}  // namespace troupe::cuda
