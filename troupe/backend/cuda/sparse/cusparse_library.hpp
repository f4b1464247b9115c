// cuSPARSE: what it is, and the functions of its generic interface that we call, found at run time: nothing links
// it.
#pragma once

#include "troupe/backend/cuda/driver/vendor_declaration.hpp"

namespace troupe::cuda {

/// CUDA 12 and CUDA 13 both come with 12.
inline constexpr VendorDeclaration kCusparse{.name = "cuSPARSE",
                                             .files = {"libcusparse.so.13", "libcusparse.so.12", "libcusparse.so.11"},
                                             .versions = {.oldest = {12, 0}, .newest_major = 13},
                                             .version_symbol = "cusparseGetProperty",
                                             .read_version = version_by_property,
                                             .install = "the CUDA toolkit"};

}  // namespace troupe::cuda

#if TROUPE_CUDA_BACKEND

#include <cusparse.h>

#include "troupe/backend/cuda/driver/function_table.hpp"

namespace troupe::cuda {

inline constexpr std::array kCusparseCodes{TROUPE_STATUS_CODE(CUSPARSE_STATUS_NOT_INITIALIZED, library_error),
                                           TROUPE_STATUS_CODE(CUSPARSE_STATUS_ALLOC_FAILED, out_of_memory),
                                           TROUPE_STATUS_CODE(CUSPARSE_STATUS_INVALID_VALUE, library_error),
                                           TROUPE_STATUS_CODE(CUSPARSE_STATUS_ARCH_MISMATCH, library_error),
                                           TROUPE_STATUS_CODE(CUSPARSE_STATUS_MAPPING_ERROR, library_error),
                                           TROUPE_STATUS_CODE(CUSPARSE_STATUS_EXECUTION_FAILED, library_error),
                                           TROUPE_STATUS_CODE(CUSPARSE_STATUS_INTERNAL_ERROR, library_error),
                                           TROUPE_STATUS_CODE(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, library_error),
                                           TROUPE_STATUS_CODE(CUSPARSE_STATUS_ZERO_PIVOT, library_error),
                                           TROUPE_STATUS_CODE(CUSPARSE_STATUS_NOT_SUPPORTED, unsupported),
                                           TROUPE_STATUS_CODE(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, out_of_memory)};

// The optional ones came with later versions of CUDA 12.
#define TROUPE_CUSPARSE_FUNCTIONS(required, optional)                                                               \
  required(cusparseCreate) required(cusparseDestroy) required(cusparseSetStream) required(cusparseCreateCsr)        \
      required(cusparseCsrSetPointers) required(cusparseSpMatSetValues) required(cusparseSpMatSetAttribute)         \
          required(cusparseSpMatGetSize) required(cusparseDestroySpMat) required(cusparseCreateDnVec)               \
              required(cusparseDnVecSetValues) required(cusparseDestroyDnVec) required(cusparseCreateDnMat)         \
                  required(cusparseDnMatSetValues) required(cusparseDestroyDnMat) required(cusparseSpMV_bufferSize) \
                      required(cusparseSpMV) optional(cusparseSpMV_preprocess) required(cusparseSpMM_bufferSize)    \
                          required(cusparseSpMM) required(cusparseSpSV_createDescr)                                 \
                              required(cusparseSpSV_destroyDescr) required(cusparseSpSV_bufferSize)                 \
                                  required(cusparseSpSV_analysis) required(cusparseSpSV_solve)                      \
                                      optional(cusparseSpSV_updateMatrix) required(cusparseSpSM_createDescr)        \
                                          required(cusparseSpSM_destroyDescr) required(cusparseSpSM_bufferSize)     \
                                              required(cusparseSpSM_analysis) required(cusparseSpSM_solve)          \
                                                  optional(cusparseSpSM_updateMatrix)                               \
                                                      required(cusparseSDDMM_bufferSize) required(cusparseSDDMM)    \
                                                          required(cusparseCsr2cscEx2_bufferSize)                   \
                                                              required(cusparseCsr2cscEx2)                          \
                                                                  required(cusparseSpGEMM_createDescr)              \
                                                                      required(cusparseSpGEMM_destroyDescr)         \
                                                                          required(cusparseSpGEMM_workEstimation)   \
                                                                              required(cusparseSpGEMM_compute)      \
                                                                                  required(cusparseSpGEMM_copy)

TROUPE_FUNCTION_TABLE(CusparseTable, kCusparse, cusparseStatus_t, kCusparseCodes, TROUPE_CUSPARSE_FUNCTIONS)

/// For those who have a handle.
inline const CusparseTable& cusparse() noexcept { return table<CusparseTable>(); }

}  // namespace troupe::cuda

#endif
