#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/blas_ops.hpp"

#include <cstring>

#include "troupe/backend/cuda/memory_ops.hpp"

namespace troupe::cuda {
namespace {

/// For what cuBLAS does not do: the smallest floats, and matrices in which no two neighbours lie side by side.
Result<void> multiply_slowly(const op::Gemm& op, const Matrix& a, const Matrix& b, const Matrix& c,
                             const LaneTools& on) {
  const auto strided = [](const Matrix& m) {
    return StridedMatrix{reinterpret_cast<void*>(m.data), m.row_stride, m.column_stride};
  };
  GemmArguments arguments{.a = strided(a),
                          .b = strided(b),
                          .c = strided(c),
                          .rows = c.rows,
                          .columns = c.columns,
                          .depth = a.columns,
                          .alpha = {},
                          .beta = {},
                          .reads_c = op.reads_c()};
  visit(op.c.dtype, [&]<class T>(std::type_identity<T>) {
    const auto alpha = op.alpha.as_factor<T>();
    const auto beta = op.beta.as_factor<T>();
    std::memcpy(&arguments.alpha, &alpha, sizeof alpha);
    std::memcpy(&arguments.beta, &beta, sizeof beta);
  });
  std::array<void*, 1> all{&arguments};
  return on.launch(TROUPE_TRY(on.kernels())->gemm(op.c.dtype), c.rows * c.columns, all);
}

}  // namespace

Result<void> run_op(const op::Axpy& op, const LaneTools& on) {
  Layout layout = layout_of(op.x, &op.y);
  CUdeviceptr x = on.at(op.x);
  CUdeviceptr y = on.at(op.y);
  Bytes16 alpha{};
  visit(op.x.dtype, [&]<class T>(std::type_identity<T>) {
    const auto converted = op.alpha.as_factor<T>();
    std::memcpy(&alpha, &converted, sizeof converted);
  });
  std::array<void*, 4> arguments{&alpha, &x, &y, &layout};
  return on.launch(TROUPE_TRY(on.kernels())->axpy(op.x.dtype), layout.count, arguments);
}

Result<void> run_op(const op::Gemm& op, const LaneTools& on) {
  const Matrix a = on.matrix(op.a);
  const Matrix b = on.matrix(op.b);
  const Matrix c = on.matrix(op.c);
  if (c.rows == 0 || c.columns == 0) return {};
  if (!Cublas::can_multiply(a, b, c)) return multiply_slowly(op, a, b, c, on);
  Cublas* const cublas = TROUPE_TRY(on.handle<Cublas>());
  return cublas->gemm(op.alpha, op.beta, a, b, c);
}

}  // namespace troupe::cuda

#endif
