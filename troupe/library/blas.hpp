// Linear algebra on a device: `gpu.blas()`. Matrices are two-dimensional arrays with any strides, so a transposed
// matrix is `a.transpose()`: a view, without a copy and without a flag.
//
//   CO_TRY(co_await gpu.blas().gemm(a, b.transpose(), c, {.alpha = 2.0f}));
#pragma once

#include "troupe/device/device.hpp"
#include "troupe/library/factor.hpp"

namespace troupe {

struct GemmOptions {
  Factor alpha = 1.0;
  Factor beta = 0.0;
};
static_assert(std::is_trivially_destructible_v<GemmOptions>, "safe inside a co_await with g++ 12");

class Blas {
 public:
  explicit Blas(Device device) noexcept : device_(std::move(device)) {}

  /// y += alpha x: the same shape and type (any but bool), any strides.
  Call<void> axpy(Factor alpha, const AnyArray& x, const AnyArray& y) const;
  /// c = alpha a b + beta c: matrices of one floating-point or complex type, any strides. With a beta of 0 what was in
  /// c does not matter.
  Call<void> gemm(const AnyArray& a, const AnyArray& b, const AnyArray& c, GemmOptions options = {}) const;

 private:
  Device device_;
};

}  // namespace troupe
