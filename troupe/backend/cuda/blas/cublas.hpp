// A handle of cuBLAS, which belongs to one lane (two lanes must not use its workspace at once), and matrices as cuBLAS
// takes them. cuBLAS is column-major and views need not be, so most of this is about whether and how the two agree.
#pragma once

#include <cuda.h>

#include <array>
#include <memory>
#include <optional>

#include "troupe/backend/cuda/blas/cublas_library.hpp"
#include "troupe/backend/cuda/driver/cuda_context.hpp"
#include "troupe/backend/cuda/driver/cuda_types.hpp"
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

  Matrix transposed() const noexcept { return {data, dtype, columns, rows, column_stride, row_stride}; }
};

/// The description for cuBLAS of a matrix that is column-major, or whose transpose is.
struct ByColumns {
  bool transposes = false;
  std::int64_t leading = 0;
};
/// None when no two neighbours lie side by side. A matrix that lies both ways (a vector) is not transposed.
std::optional<ByColumns> by_columns(const Matrix& m) noexcept;
/// Whether the matrix, or its transpose, can be described as column-major.
bool lies_by_columns(const Matrix& m) noexcept;

/// Whether and how operands are conjugated, and what is computed in.
struct ProductKind {
  Compute compute = Compute::standard;
  bool conjugates_a = false;
  bool conjugates_b = false;
};

/// A batch of products: how many, and how many elements lie from one matrix to the next.
struct Batch {
  std::int64_t count = 1;
  std::int64_t stride_a = 0;
  std::int64_t stride_b = 0;
  std::int64_t stride_c = 0;
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

  cublasHandle_t handle() const noexcept { return handle_; }

  /// Whether cuBLAS has a gemm for the type, and these matrices lie as it wants them: one of the strides is 1, and what
  /// is conjugated can be told as a transpose.
  static bool can_multiply(const Matrix& a, const Matrix& b, const Matrix& c, const ProductKind& kind = {}) noexcept;
  /// c = alpha a b + beta c, or a batch of such products. Needs `can_multiply`.
  Result<void> gemm(const op::Scalar& alpha, const op::Scalar& beta, const Matrix& a, const Matrix& b, const Matrix& c,
                    const ProductKind& kind = {}, const Batch& batch = {});
  /// Products of matrices that lie alike, each where the pointers on the GPU say.
  Result<void> gemm_at(const op::Scalar& alpha, const op::Scalar& beta, const Matrix& a, const Matrix& b,
                       const Matrix& c, Compute compute, CUdeviceptr pointers_a, CUdeviceptr pointers_b,
                       CUdeviceptr pointers_c, std::int64_t count);

  /// While it lives, results are written where the GPU finds them.
  class ResultsOnGpu {
   public:
    explicit ResultsOnGpu(const Cublas& blas) noexcept : handle_(blas.handle_) {
      (void)cublas().cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_DEVICE);
    }
    ~ResultsOnGpu() { (void)cublas().cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_HOST); }
    ResultsOnGpu(const ResultsOnGpu&) = delete;
    ResultsOnGpu& operator=(const ResultsOnGpu&) = delete;

   private:
    cublasHandle_t handle_;
  };

 private:
  explicit Cublas(cublasHandle_t handle) noexcept : handle_(handle) {}
  cublasHandle_t handle_;
};

}  // namespace troupe::cuda
