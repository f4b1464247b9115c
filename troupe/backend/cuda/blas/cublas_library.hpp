// cuBLAS: what it is, and the functions of it that we call, found at run time: nothing links it. Typed ones are reached
// by their type: `symm<float>(cublas())` is `cublas().cublasSsymm_64`.
#pragma once

#include "troupe/backend/cuda/driver/vendor_declaration.hpp"

namespace troupe::cuda {

inline constexpr VendorDeclaration kCublas{.name = "cuBLAS",
                                           .files = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"},
                                           .versions = {.oldest = {12, 0}, .newest_major = 13},
                                           .version_symbol = "cublasGetProperty",
                                           .read_version = version_by_property,
                                           .install = "the CUDA toolkit"};

}  // namespace troupe::cuda

#if TROUPE_CUDA_BACKEND

#include <cublas_v2.h>

#include "troupe/backend/cuda/driver/function_table.hpp"

namespace troupe::cuda {

inline constexpr std::array kCublasCodes{TROUPE_STATUS_CODE(CUBLAS_STATUS_NOT_INITIALIZED, library_error),
                                         TROUPE_STATUS_CODE(CUBLAS_STATUS_ALLOC_FAILED, out_of_memory),
                                         TROUPE_STATUS_CODE(CUBLAS_STATUS_INVALID_VALUE, library_error),
                                         TROUPE_STATUS_CODE(CUBLAS_STATUS_ARCH_MISMATCH, library_error),
                                         TROUPE_STATUS_CODE(CUBLAS_STATUS_MAPPING_ERROR, library_error),
                                         TROUPE_STATUS_CODE(CUBLAS_STATUS_EXECUTION_FAILED, library_error),
                                         TROUPE_STATUS_CODE(CUBLAS_STATUS_INTERNAL_ERROR, library_error),
                                         TROUPE_STATUS_CODE(CUBLAS_STATUS_NOT_SUPPORTED, unsupported),
                                         TROUPE_STATUS_CODE(CUBLAS_STATUS_LICENSE_ERROR, library_error)};

#define TROUPE_CUBLAS_COMPLEX(required, name) required(cublasC##name) required(cublasZ##name)
#define TROUPE_CUBLAS_TYPED(required, name) \
  required(cublasS##name) required(cublasD##name) TROUPE_CUBLAS_COMPLEX(required, name)
// (The header makes macros of some of these names, for their newest version.)
#define TROUPE_CUBLAS_FUNCTIONS(required, optional)                                                                   \
  required(cublasCreate) required(cublasDestroy) required(cublasSetStream) required(cublasSetPointerMode)             \
      required(cublasSetMathMode) required(cublasGemmEx_64) required(cublasGemmStridedBatchedEx_64)                   \
          required(cublasGemmBatchedEx_64) required(cublasDotEx_64) required(cublasDotcEx_64)                         \
              required(cublasNrm2Ex_64) required(cublasIamaxEx_64) required(cublasIaminEx_64)                         \
                  required(cublasScalEx_64) required(cublasSasum_64) required(cublasDasum_64)                         \
                      required(cublasScasum_64) required(cublasDzasum_64) TROUPE_CUBLAS_TYPED(required, gemm_64)      \
                          TROUPE_CUBLAS_TYPED(required, gemmStridedBatched_64) TROUPE_CUBLAS_TYPED(required, symm_64) \
                              TROUPE_CUBLAS_TYPED(required, syrk_64) TROUPE_CUBLAS_TYPED(required, syr2k_64)          \
                                  TROUPE_CUBLAS_TYPED(required, trmm_64) TROUPE_CUBLAS_TYPED(required, trsm_64)       \
                                      TROUPE_CUBLAS_TYPED(required, geam_64) TROUPE_CUBLAS_COMPLEX(required, hemm_64) \
                                          TROUPE_CUBLAS_COMPLEX(required, herk_64)                                    \
                                              TROUPE_CUBLAS_COMPLEX(required, her2k_64)                               \
                                                  TROUPE_CUBLAS_TYPED(required, getrfBatched)                         \
                                                      TROUPE_CUBLAS_TYPED(required, getrsBatched)                     \
                                                          TROUPE_CUBLAS_TYPED(required, geqrfBatched)

TROUPE_FUNCTION_TABLE(CublasTable, kCublas, cublasStatus_t, kCublasCodes, TROUPE_CUBLAS_FUNCTIONS)

/// For those who have a handle.
inline const CublasTable& cublas() noexcept { return table<CublasTable>(); }

#define TROUPE_CUBLAS_TYPED_FUNCTION(name, function)                                                                \
  template <class T>                                                                                                \
  const auto& name(const CublasTable& all) noexcept {                                                               \
    return for_type<T>(all.cublasS##function, all.cublasD##function, all.cublasC##function, all.cublasZ##function); \
  }
#define TROUPE_CUBLAS_COMPLEX_FUNCTION(name, function)                                                              \
  template <class T>                                                                                                \
  const auto& name(const CublasTable& all) noexcept {                                                               \
    return for_type<T>(all.cublasC##function, all.cublasZ##function, all.cublasC##function, all.cublasZ##function); \
  }
TROUPE_CUBLAS_TYPED_FUNCTION(gemm, gemm_64)
TROUPE_CUBLAS_TYPED_FUNCTION(gemm_strided_batched, gemmStridedBatched_64)
TROUPE_CUBLAS_TYPED_FUNCTION(symm, symm_64)
TROUPE_CUBLAS_TYPED_FUNCTION(syrk, syrk_64)
TROUPE_CUBLAS_TYPED_FUNCTION(syr2k, syr2k_64)
TROUPE_CUBLAS_TYPED_FUNCTION(trmm, trmm_64)
TROUPE_CUBLAS_TYPED_FUNCTION(trsm, trsm_64)
TROUPE_CUBLAS_TYPED_FUNCTION(geam, geam_64)
TROUPE_CUBLAS_TYPED_FUNCTION(getrf_batched, getrfBatched)
TROUPE_CUBLAS_TYPED_FUNCTION(getrs_batched, getrsBatched)
TROUPE_CUBLAS_TYPED_FUNCTION(geqrf_batched, geqrfBatched)
TROUPE_CUBLAS_COMPLEX_FUNCTION(hemm, hemm_64)
TROUPE_CUBLAS_COMPLEX_FUNCTION(herk, herk_64)
TROUPE_CUBLAS_COMPLEX_FUNCTION(her2k, her2k_64)
#undef TROUPE_CUBLAS_TYPED_FUNCTION
#undef TROUPE_CUBLAS_COMPLEX_FUNCTION
template <class T>  // named after both types, and cublasAsumEx takes no complex numbers
const auto& asum(const CublasTable& all) noexcept {
  return for_type<T>(all.cublasSasum_64, all.cublasDasum_64, all.cublasScasum_64, all.cublasDzasum_64);
}

}  // namespace troupe::cuda

#endif
