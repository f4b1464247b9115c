// cuBLAS as raw CUDA is measured with: f32 products on one stream. For the raw_*.cpp only, and only where
// TROUPE_CUDA_BACKEND is.
#pragma once

#include <cublas_v2.h>

#include <stdexcept>
#include <string>

#include "bench/raw_cuda_parts.hpp"
#include "troupe/backend/cuda/blas/cublas_library.hpp"

namespace troupe::bench {

/// cuBLAS on one stream, opened at run time.
class RawBlas {
 public:
  explicit RawBlas(CUstream stream) {
    const cuda::Library library = value(cuda::open(cuda::kCublas)).library;
    const auto create = find<decltype(cublasCreate_v2)>(library, "cublasCreate_v2");
    const auto set_stream = find<decltype(cublasSetStream_v2)>(library, "cublasSetStream_v2");
    destroy_ = find<decltype(cublasDestroy_v2)>(library, "cublasDestroy_v2");
    sgemm_ = find<decltype(cublasSgemm_v2)>(library, "cublasSgemm_v2");
    check_blas(create(&handle_), "cublasCreate");
    check_blas(set_stream(handle_, stream), "cublasSetStream");
  }
  ~RawBlas() { (void)destroy_(handle_); }
  RawBlas(const RawBlas&) = delete;
  RawBlas& operator=(const RawBlas&) = delete;

  /// c = a b, where a has `rows` by `inner` elements and b `inner` by `columns`.
  struct Product {
    int rows, columns, inner;
    bool a_is_transposed = false;  // it lies as its transpose, likewise b
    bool b_is_transposed = false;
  };

  /// Row by row as our arrays lie: for cuBLAS, which thinks in columns, that is c^T = b^T a^T.
  void multiply(const Product& m, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) {
    const float one = 1, zero = 0;
    const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<float*>(address); };
    const auto way = [](bool is_transposed) { return is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    check_blas(sgemm_(handle_, way(m.b_is_transposed), way(m.a_is_transposed), m.columns, m.rows, m.inner, &one,
                      pointer(b), m.b_is_transposed ? m.inner : m.columns, pointer(a),
                      m.a_is_transposed ? m.rows : m.inner, &zero, pointer(c), m.columns),
               "cublasSgemm");
  }

 private:
  template <class Function>
  static Function* find(const cuda::Library& library, const char* name) {
    Function* const found = library.find_function<Function>(name);
    if (!found) throw std::runtime_error(library.path() + " lacks " + name);
    return found;
  }
  static void check_blas(cublasStatus_t status, const char* call) {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw std::runtime_error(std::string(call) + " answered " + std::to_string(status));
  }

  cublasHandle_t handle_ = nullptr;
  decltype(&cublasDestroy_v2) destroy_ = nullptr;
  decltype(&cublasSgemm_v2) sgemm_ = nullptr;
};

}  // namespace troupe::bench
