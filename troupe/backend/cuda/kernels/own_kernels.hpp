// The kernels of Troupe's own (kernels.cu), loaded into a context: all of them at once, into tables by size or type, so
// that a launch looks nothing up by name.
#pragma once

#include <array>
#include <memory>

#include "troupe/backend/cuda/driver/cuda_context.hpp"
#include "troupe/core/shape.hpp"

namespace troupe::cuda {

struct OwnKernels {
  static Result<std::unique_ptr<OwnKernels>> load(const CudaContext& context);

  /// By the size of an element: 1, 2, 4, 8 or 16 bytes.
  CUfunction fill(std::int64_t size) const noexcept { return fill_by_size[by_size(size)]; }
  CUfunction axpy(DType dtype) const noexcept { return axpy_of[static_cast<std::size_t>(dtype)]; }
  CUfunction gemm(DType dtype) const noexcept { return gemm_of[static_cast<std::size_t>(dtype)]; }

  static constexpr std::size_t by_size(std::int64_t size) noexcept {
    return static_cast<std::size_t>(__builtin_ctzll(static_cast<unsigned long long>(size)));
  }

  std::array<CUfunction, 5> fill_by_size{};
  std::array<CUfunction, kDTypes> axpy_of{};  // null for bool
  std::array<CUfunction, kDTypes> gemm_of{};  // null for integers and bool
};

}  // namespace troupe::cuda
