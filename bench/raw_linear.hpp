// The reference for linear algebra on a GPU: NVIDIA's libraries called directly in this process, on matrices that lie
// as the library likes them, with plans, buffers and handles made before the time counts. Nanoseconds for one op with
// its flag, one at a time (see raw_cuda.hpp).
#pragma once

#include <memory>

#include "bench/raw_cuda.hpp"
#include "bench/sparse_sample.hpp"
#include "troupe/core/shape.hpp"

namespace troupe::bench {

/// All of it in the thread that made the GPU. Throws when a library answers with an error. Exists only where
/// TROUPE_CUDA_BACKEND does.
class RawLinear {
 public:
  explicit RawLinear(std::shared_ptr<RawGpu> gpu);
  ~RawLinear();
  RawLinear(const RawLinear&) = delete;
  RawLinear& operator=(const RawLinear&) = delete;

  double gemm_ns(DType dtype, int n, int count);
  double batched_gemm_ns(int batch, int n, int count);
  double layer_ns(DType dtype, int n, int count);

  // What works in place gets a copy of its matrix each time.
  double lu_ns(int n, int count);
  double cholesky_ns(int n, int count);
  double svd_ns(int n, int count);
  double batched_qr_ns(int batch, int n, int count);

  double sparse_multiply_ns(int columns, int count, int rows = kSparseRows);
  /// Its lower triangle, for one right-hand side; analysed before, and told of the values each time.
  double sparse_solve_ns(int rows, int count);

 private:
  struct Libraries;
  std::shared_ptr<RawGpu> gpu_;
  std::unique_ptr<Libraries> libraries_;
};

}  // namespace troupe::bench
