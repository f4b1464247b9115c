// cuBLAS, opened when it is first needed and never linked. A handle belongs to one lane: its workspace must not be used
// by two at once.
#pragma once

#include <cublas_v2.h>
#include <cuda.h>

#include <memory>

#include "troupe/backend/cuda/cuda_context.hpp"
#include "troupe/core/result.hpp"
#include "troupe/op/blas.hpp"

namespace troupe::cuda {

/// A matrix where the GPU has it.
struct Matrix {
  CUdeviceptr data = 0;
  DType dtype{};
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;     // from one row to the next, in elements
  std::int64_t column_stride = 0;  // from one column to the next
};

/// Products of matrices that lie at even distances, in elements; 0 for one that is the same in all.
struct Batch {
  std::int64_t count = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
};

class Cublas {
 public:
  /// On a stream of the current context. `unsupported` when there is no cuBLAS, with where it was looked for.
  static Result<std::unique_ptr<Cublas>> create(CUstream stream);
  ~Cublas();
  /// cuBLAS loads each of its kernels when it is first used, which takes as long as thousands of calls. Multiplies
  /// small and middling matrices of every type, beside everything else, and waits for it.
  static Result<void> load_usual_kernels(const CudaContext& context);
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// Whether cuBLAS has a gemm for the type, and these matrices lie as it wants them: one of the strides is 1.
  static bool can_multiply(const Matrix& a, const Matrix& b, const Matrix& c) noexcept;
  /// c = alpha a b + beta c. Needs `can_multiply`.
  Result<void> gemm(const op::Scalar& alpha, const op::Scalar& beta, const Matrix& a, const Matrix& b, const Matrix& c);
  /// The same for each matrix of a batch, from the first of each. Needs `can_multiply`, and distances of 0 or more.
  Result<void> gemm_batched(const op::Scalar& alpha, const op::Scalar& beta, const Matrix& a, const Matrix& b,
                            const Matrix& c, const Batch& batch);

 private:
  explicit Cublas(cublasHandle_t handle) noexcept : handle_(handle) {}
  cublasHandle_t handle_;
};

}  // namespace troupe::cuda
