// cuBLASLt, which multiplies with an epilogue: what it is, and the functions of it that we call, found at run time:
// nothing links it.
#pragma once

#include "troupe/backend/cuda/driver/vendor_declaration.hpp"

namespace troupe::cuda {

inline constexpr VendorDeclaration kCublasLt{.name = "cuBLASLt",
                                             .files = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"},
                                             .versions = {.oldest = {12, 0}, .newest_major = 13},
                                             .version_symbol = "cublasLtGetVersion",
                                             .read_version = version_by_number,
                                             .install = "the CUDA toolkit"};

}  // namespace troupe::cuda

#if TROUPE_CUDA_BACKEND

#include <cublasLt.h>

#include "troupe/backend/cuda/blas/cublas_library.hpp"  // their codes are the same

namespace troupe::cuda {

#define TROUPE_LT_FUNCTIONS(required, optional)                                                                  \
  required(cublasLtCreate) required(cublasLtDestroy) required(cublasLtMatmul) required(cublasLtMatmulDescCreate) \
      required(cublasLtMatmulDescDestroy) required(cublasLtMatmulDescSetAttribute)                               \
          required(cublasLtMatrixLayoutCreate) required(cublasLtMatrixLayoutDestroy)                             \
              required(cublasLtMatmulPreferenceCreate) required(cublasLtMatmulPreferenceDestroy)                 \
                  required(cublasLtMatmulPreferenceSetAttribute) required(cublasLtMatmulAlgoGetHeuristic)        \
                      required(cublasLtMatmulAlgoCheck) required(cublasLtGetVersion)                             \
                          required(cublasLtMatrixLayoutSetAttribute)

TROUPE_FUNCTION_TABLE(CublasLtTable, kCublasLt, cublasStatus_t, kCublasCodes, TROUPE_LT_FUNCTIONS)

}  // namespace troupe::cuda

#endif
