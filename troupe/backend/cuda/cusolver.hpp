// cuSOLVER, and those functions of cuBLAS that belong to it, opened when they are first needed and never linked. A
// handle belongs to one lane. What cuSOLVER has for any type and 64-bit extents is called by its generic functions; for
// the rest there is a table for each of the four types.
#pragma once

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <complex>
#include <memory>
#include <vector>

#include "troupe/backend/cuda/cuda_context.hpp"
#include "troupe/core/dtype.hpp"
#include "troupe/core/result.hpp"

namespace troupe::cuda {

#define TROUPE_CUSOLVER_FUNCTIONS(each)                                                                              \
  each(cusolverDnCreate) each(cusolverDnDestroy) each(cusolverDnSetStream) each(cusolverDnCreateParams)              \
      each(cusolverDnDestroyParams) each(cusolverDnCreateGesvdjInfo) each(cusolverDnDestroyGesvdjInfo)               \
          each(cusolverDnXgesvdjSetTolerance) each(cusolverDnXgetrf_bufferSize) each(cusolverDnXgetrf)               \
              each(cusolverDnXgetrs) each(cusolverDnXpotrf_bufferSize) each(cusolverDnXpotrf) each(cusolverDnXpotrs) \
                  each(cusolverDnXgeqrf_bufferSize) each(cusolverDnXgeqrf) each(cusolverDnXgesvd_bufferSize)         \
                      each(cusolverDnXgesvd) each(cusolverDnXsyevd_bufferSize) each(cusolverDnXsyevd)

/// The functions for any type, by their names in the header.
struct CusolverTable {
#define TROUPE_CUSOLVER_FUNCTION(function) decltype(&::function) function = nullptr;
  TROUPE_CUSOLVER_FUNCTIONS(TROUPE_CUSOLVER_FUNCTION)
  // Not in every version of the library; null where it lacks them.
  TROUPE_CUSOLVER_FUNCTION(cusolverDnXsyevBatched_bufferSize)
  TROUPE_CUSOLVER_FUNCTION(cusolverDnXsyevBatched)
#undef TROUPE_CUSOLVER_FUNCTION
};

template <class T>
struct NativeOf;
template <>
struct NativeOf<float> {
  using Number = float;
  using Real = float;
  static constexpr cudaDataType_t kType = CUDA_R_32F;
  static constexpr cudaDataType_t kRealType = CUDA_R_32F;
};
template <>
struct NativeOf<double> {
  using Number = double;
  using Real = double;
  static constexpr cudaDataType_t kType = CUDA_R_64F;
  static constexpr cudaDataType_t kRealType = CUDA_R_64F;
};
template <>
struct NativeOf<std::complex<float>> {
  using Number = cuComplex;
  using Real = float;
  static constexpr cudaDataType_t kType = CUDA_C_32F;
  static constexpr cudaDataType_t kRealType = CUDA_R_32F;
};
template <>
struct NativeOf<std::complex<double>> {
  using Number = cuDoubleComplex;
  using Real = double;
  static constexpr cudaDataType_t kType = CUDA_C_64F;
  static constexpr cudaDataType_t kRealType = CUDA_R_64F;
};
template <class T>
using Native = typename NativeOf<T>::Number;
template <class T>
using NativeReal = typename NativeOf<T>::Real;

/// The functions for one type; complex ones have other names for some (`unmqr` for `ormqr`).
template <class T>
struct CusolverFor {
  using N = Native<T>;
  using R = NativeReal<T>;
  using Handle = cusolverDnHandle_t;
  using Status = cusolverStatus_t;

  Status (*potrf_batched)(Handle, cublasFillMode_t, int n, N* a[], int lda, int* info, int batch);
  Status (*orgqr_size)(Handle, int m, int n, int k, const N* a, int lda, const N* tau, int* lwork);
  Status (*orgqr)(Handle, int m, int n, int k, N* a, int lda, const N* tau, N* work, int lwork, int* info);
  Status (*ormqr_size)(Handle, cublasSideMode_t, cublasOperation_t, int m, int n, int k, const N* a, int lda,
                       const N* tau, const N* c, int ldc, int* lwork);
  Status (*ormqr)(Handle, cublasSideMode_t, cublasOperation_t, int m, int n, int k, const N* a, int lda, const N* tau,
                  N* c, int ldc, N* work, int lwork, int* info);
  Status (*gesvdj_size)(Handle, cusolverEigMode_t, int econ, int m, int n, const N* a, int lda, const R* s, const N* u,
                        int ldu, const N* v, int ldv, int* lwork, gesvdjInfo_t);
  Status (*gesvdj)(Handle, cusolverEigMode_t, int econ, int m, int n, N* a, int lda, R* s, N* u, int ldu, N* v, int ldv,
                   N* work, int lwork, int* info, gesvdjInfo_t);
  Status (*gesvdj_batched_size)(Handle, cusolverEigMode_t, int m, int n, const N* a, int lda, const R* s, const N* u,
                                int ldu, const N* v, int ldv, int* lwork, gesvdjInfo_t, int batch);
  Status (*gesvdj_batched)(Handle, cusolverEigMode_t, int m, int n, N* a, int lda, R* s, N* u, int ldu, N* v, int ldv,
                           N* work, int lwork, int* info, gesvdjInfo_t, int batch);
  Status (*sygvd_size)(Handle, cusolverEigType_t, cusolverEigMode_t, cublasFillMode_t, int n, const N* a, int lda,
                       const N* b, int ldb, const R* w, int* lwork);
  Status (*sygvd)(Handle, cusolverEigType_t, cusolverEigMode_t, cublasFillMode_t, int n, N* a, int lda, N* b, int ldb,
                  R* w, N* work, int lwork, int* info);

  cublasStatus_t (*getrf_batched)(cublasHandle_t, int n, N* const a[], int lda, int* pivots, int* info, int batch);
  cublasStatus_t (*getrs_batched)(cublasHandle_t, cublasOperation_t, int n, int sides, const N* const a[], int lda,
                                  const int* pivots, N* const b[], int ldb, int* info, int batch);
  cublasStatus_t (*geqrf_batched)(cublasHandle_t, int m, int n, N* const a[], int lda, N* const tau[], int* info,
                                  int batch);
  cublasStatus_t (*trsm)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t,
                         std::int64_t m, std::int64_t n, const N* alpha, const N* a, std::int64_t lda, N* b,
                         std::int64_t ldb);
};

/// `unsupported` when a library is not there or lacks a function.
Result<const CusolverTable*> cusolver_table();
template <class T>
Result<const CusolverFor<T>*> cusolver_for();

Result<void> checked(cusolverStatus_t status, const char* call);
Result<void> checked_cublas(cublasStatus_t status, const char* call);

/// A lane's handle, and what else cuSOLVER wants beside it.
class Cusolver {
 public:
  static Result<std::unique_ptr<Cusolver>> create(CUstream stream);
  ~Cusolver();
  Cusolver(const Cusolver&) = delete;
  Cusolver& operator=(const Cusolver&) = delete;

  cusolverDnHandle_t handle() const noexcept { return handle_; }
  cusolverDnParams_t params() const noexcept { return params_; }
  gesvdjInfo_t jacobi() const noexcept { return jacobi_; }
  /// Some functions want memory of the host, too, and may use it after they have returned: it stays as long as the
  /// handle, and grows at least by half, so that little is kept for nothing.
  void* host_memory(std::size_t size_bytes);

 private:
  explicit Cusolver(const CusolverTable& table) noexcept : table_(table) {}

  const CusolverTable& table_;
  cusolverDnHandle_t handle_ = nullptr;
  cusolverDnParams_t params_ = nullptr;
  gesvdjInfo_t jacobi_ = nullptr;
  std::vector<std::unique_ptr<std::byte[]>> host_memory_;
  std::size_t host_bytes_ = 0;
};

}  // namespace troupe::cuda
