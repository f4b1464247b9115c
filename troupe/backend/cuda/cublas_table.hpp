// The functions of cuBLAS that we call, found at run time: nothing links it. Typed ones are reached by their type:
// `symm<float>(table)` is `table.cublasSsymm_64`.
#pragma once

#include <cublas_v2.h>

#include <complex>
#include <concepts>

#include "troupe/core/dtype.hpp"
#include "troupe/core/result.hpp"

namespace troupe::cuda {

#define TROUPE_CUBLAS_COMPLEX(each, name) each(cublasC##name##_64) each(cublasZ##name##_64)
#define TROUPE_CUBLAS_TYPED(each, name) \
  each(cublasS##name##_64) each(cublasD##name##_64) TROUPE_CUBLAS_COMPLEX(each, name)
// (The header makes macros of some of these names, for their newest version.)
#define TROUPE_CUBLAS_FUNCTIONS(each)                                                                                 \
  each(cublasCreate) each(cublasDestroy) each(cublasSetStream) each(cublasSetPointerMode) each(cublasGemmEx_64)       \
      each(cublasGemmStridedBatchedEx_64) each(cublasGemmBatchedEx_64) each(cublasDotEx_64) each(cublasDotcEx_64)     \
          each(cublasNrm2Ex_64) each(cublasSasum_64) each(cublasDasum_64) each(cublasScasum_64) each(cublasDzasum_64) \
              each(cublasIamaxEx_64) each(cublasIaminEx_64) each(cublasScalEx_64) TROUPE_CUBLAS_TYPED(each, gemm)     \
                  TROUPE_CUBLAS_TYPED(each, symm) TROUPE_CUBLAS_TYPED(each, syrk) TROUPE_CUBLAS_TYPED(each, syr2k)    \
                      TROUPE_CUBLAS_TYPED(each, trmm) TROUPE_CUBLAS_TYPED(each, trsm) TROUPE_CUBLAS_TYPED(each, geam) \
                          TROUPE_CUBLAS_COMPLEX(each, hemm) TROUPE_CUBLAS_COMPLEX(each, herk)                         \
                              TROUPE_CUBLAS_COMPLEX(each, her2k) TROUPE_CUBLAS_TYPED(each, gemmStridedBatched)

struct CublasTable {
#define TROUPE_CUBLAS_FUNCTION(function) decltype(&::function) function = nullptr;
  TROUPE_CUBLAS_FUNCTIONS(TROUPE_CUBLAS_FUNCTION)
#undef TROUPE_CUBLAS_FUNCTION
};

/// Opened once, and never closed. When that fails, for want of memory perhaps, the next call tries again.
/// `unsupported` when there is no cuBLAS, with where it was looked for.
Result<const CublasTable*> find_cublas();
/// For those who have a handle.
const CublasTable& cublas() noexcept;

/// What a call answered.
Result<void> checked(cublasStatus_t status, const char* call);

#define TROUPE_CUBLAS_TYPED_FUNCTION(name)                   \
  template <class T>                                         \
  auto name(const CublasTable& table) noexcept {             \
    if constexpr (std::same_as<T, float>)                    \
      return table.cublasS##name##_64;                       \
    else if constexpr (std::same_as<T, double>)              \
      return table.cublasD##name##_64;                       \
    else if constexpr (std::same_as<T, std::complex<float>>) \
      return table.cublasC##name##_64;                       \
    else                                                     \
      return table.cublasZ##name##_64;                       \
  }
template <class T>  // named after both types, and cublasAsumEx takes no complex numbers
auto asum(const CublasTable& table) noexcept {
  if constexpr (std::same_as<T, float>)
    return table.cublasSasum_64;
  else if constexpr (std::same_as<T, double>)
    return table.cublasDasum_64;
  else if constexpr (std::same_as<T, std::complex<float>>)
    return table.cublasScasum_64;
  else
    return table.cublasDzasum_64;
}
template <class T>
auto gemm_strided_batched(const CublasTable& table) noexcept {
  if constexpr (std::same_as<T, float>)
    return table.cublasSgemmStridedBatched_64;
  else if constexpr (std::same_as<T, double>)
    return table.cublasDgemmStridedBatched_64;
  else if constexpr (std::same_as<T, std::complex<float>>)
    return table.cublasCgemmStridedBatched_64;
  else
    return table.cublasZgemmStridedBatched_64;
}

#define TROUPE_CUBLAS_COMPLEX_FUNCTION(name)            \
  template <class T>                                    \
  auto name(const CublasTable& table) noexcept {        \
    if constexpr (std::same_as<T, std::complex<float>>) \
      return table.cublasC##name##_64;                  \
    else                                                \
      return table.cublasZ##name##_64;                  \
  }
TROUPE_CUBLAS_TYPED_FUNCTION(gemm)
TROUPE_CUBLAS_TYPED_FUNCTION(symm)
TROUPE_CUBLAS_TYPED_FUNCTION(syrk)
TROUPE_CUBLAS_TYPED_FUNCTION(syr2k)
TROUPE_CUBLAS_TYPED_FUNCTION(trmm)
TROUPE_CUBLAS_TYPED_FUNCTION(trsm)
TROUPE_CUBLAS_TYPED_FUNCTION(geam)
TROUPE_CUBLAS_COMPLEX_FUNCTION(hemm)
TROUPE_CUBLAS_COMPLEX_FUNCTION(herk)
TROUPE_CUBLAS_COMPLEX_FUNCTION(her2k)
#undef TROUPE_CUBLAS_TYPED_FUNCTION
#undef TROUPE_CUBLAS_COMPLEX_FUNCTION

/// CUDA's name for an element type, and its C type: its complex numbers are its own.
constexpr cudaDataType_t data_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::f64: return CUDA_R_64F;
    case DType::f32: return CUDA_R_32F;
    case DType::f16: return CUDA_R_16F;
    case DType::bf16: return CUDA_R_16BF;
    case DType::f8e4m3: return CUDA_R_8F_E4M3;
    case DType::f8e5m2: return CUDA_R_8F_E5M2;
    case DType::i8: return CUDA_R_8I;
    case DType::u8: return CUDA_R_8U;
    case DType::i16: return CUDA_R_16I;
    case DType::i32: return CUDA_R_32I;
    case DType::u32: return CUDA_R_32U;
    case DType::i64: return CUDA_R_64I;
    case DType::u64: return CUDA_R_64U;
    case DType::c64: return CUDA_C_32F;
    case DType::c128: return CUDA_C_64F;
    case DType::boolean: return CUDA_R_8U;
  }
  return CUDA_R_8U;
}
template <class T>
struct CudaTypeOf {
  using type = T;
};
template <>
struct CudaTypeOf<std::complex<float>> {
  using type = cuComplex;
};
template <>
struct CudaTypeOf<std::complex<double>> {
  using type = cuDoubleComplex;
};
template <class T>
using CudaType = typename CudaTypeOf<T>::type;

}  // namespace troupe::cuda
