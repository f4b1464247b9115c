// cuSOLVER: what it is, and the functions of it that we call, found at run time: nothing links it. What it has for any
// type and 64-bit extents is called by its generic functions; the rest is reached by type: `orgqr<double>(table)`.
#pragma once

#include "troupe/backend/cuda/driver/vendor_declaration.hpp"

namespace troupe::cuda {

/// CUDA 12 comes with 11, CUDA 13 with 12.
inline constexpr VendorDeclaration kCusolver{.name = "cuSOLVER",
                                             .files = {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so.10"},
                                             .versions = {.oldest = {11, 4}, .newest_major = 12},
                                             .version_symbol = "cusolverGetProperty",
                                             .read_version = version_by_property,
                                             .install = "the CUDA toolkit"};

}  // namespace troupe::cuda

#if TROUPE_CUDA_BACKEND

#include <cusolverDn.h>

#include "troupe/backend/cuda/driver/function_table.hpp"

namespace troupe::cuda {

inline constexpr std::array kCusolverCodes{TROUPE_STATUS_CODE(CUSOLVER_STATUS_NOT_INITIALIZED, library_error),
                                           TROUPE_STATUS_CODE(CUSOLVER_STATUS_ALLOC_FAILED, out_of_memory),
                                           TROUPE_STATUS_CODE(CUSOLVER_STATUS_INVALID_VALUE, library_error),
                                           TROUPE_STATUS_CODE(CUSOLVER_STATUS_ARCH_MISMATCH, library_error),
                                           TROUPE_STATUS_CODE(CUSOLVER_STATUS_MAPPING_ERROR, library_error),
                                           TROUPE_STATUS_CODE(CUSOLVER_STATUS_EXECUTION_FAILED, library_error),
                                           TROUPE_STATUS_CODE(CUSOLVER_STATUS_INTERNAL_ERROR, library_error),
                                           TROUPE_STATUS_CODE(CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, library_error),
                                           TROUPE_STATUS_CODE(CUSOLVER_STATUS_NOT_SUPPORTED, unsupported),
                                           TROUPE_STATUS_CODE(CUSOLVER_STATUS_ZERO_PIVOT, library_error),
                                           TROUPE_STATUS_CODE(CUSOLVER_STATUS_INVALID_LICENSE, library_error),
                                           TROUPE_STATUS_CODE(CUSOLVER_STATUS_INVALID_WORKSPACE, library_error)};

#define TROUPE_CUSOLVER_TYPED(required, name) \
  required(cusolverDnS##name) required(cusolverDnD##name) required(cusolverDnC##name) required(cusolverDnZ##name)
// Complex numbers have other names for some: `ungqr` for `orgqr`.
#define TROUPE_CUSOLVER_NAMED(required, real, complex) \
  required(cusolverDnS##real) required(cusolverDnD##real) required(cusolverDnC##complex) required(cusolverDnZ##complex)
#define TROUPE_CUSOLVER_FUNCTIONS(required, optional)                                                                  \
  required(cusolverDnCreate) required(cusolverDnDestroy) required(cusolverDnSetStream) required(                       \
      cusolverDnCreateParams) required(cusolverDnDestroyParams) required(cusolverDnCreateGesvdjInfo)                   \
      required(cusolverDnDestroyGesvdjInfo) required(cusolverDnXgesvdjSetTolerance) required(                          \
          cusolverDnXgetrf_bufferSize) required(cusolverDnXgetrf) required(cusolverDnXgetrs)                           \
          required(cusolverDnXpotrf_bufferSize) required(cusolverDnXpotrf) required(cusolverDnXpotrs) required(        \
              cusolverDnXgeqrf_bufferSize) required(cusolverDnXgeqrf) required(cusolverDnXgesvd_bufferSize)            \
              required(cusolverDnXgesvd) required(cusolverDnXsyevd_bufferSize) required(cusolverDnXsyevd)              \
                  optional(cusolverDnXsyevBatched_bufferSize) optional(cusolverDnXsyevBatched)                         \
                      TROUPE_CUSOLVER_TYPED(required, potrfBatched) TROUPE_CUSOLVER_TYPED(required, gesvdj_bufferSize) \
                          TROUPE_CUSOLVER_TYPED(required, gesvdj) TROUPE_CUSOLVER_TYPED(                               \
                              required, gesvdjBatched_bufferSize) TROUPE_CUSOLVER_TYPED(required, gesvdjBatched)       \
                              TROUPE_CUSOLVER_NAMED(required, orgqr_bufferSize, ungqr_bufferSize)                      \
                                  TROUPE_CUSOLVER_NAMED(required, orgqr, ungqr)                                        \
                                      TROUPE_CUSOLVER_NAMED(required, ormqr_bufferSize, unmqr_bufferSize)              \
                                          TROUPE_CUSOLVER_NAMED(required, ormqr, unmqr)                                \
                                              TROUPE_CUSOLVER_NAMED(required, sygvd_bufferSize, hegvd_bufferSize)      \
                                                  TROUPE_CUSOLVER_NAMED(required, sygvd, hegvd)

TROUPE_FUNCTION_TABLE(CusolverTable, kCusolver, cusolverStatus_t, kCusolverCodes, TROUPE_CUSOLVER_FUNCTIONS)

#define TROUPE_CUSOLVER_TYPED_FUNCTION(name, real, complex)                                    \
  template <class T>                                                                           \
  const auto& name(const CusolverTable& all) noexcept {                                        \
    return for_type<T>(all.cusolverDnS##real, all.cusolverDnD##real, all.cusolverDnC##complex, \
                       all.cusolverDnZ##complex);                                              \
  }
TROUPE_CUSOLVER_TYPED_FUNCTION(potrf_batched, potrfBatched, potrfBatched)
TROUPE_CUSOLVER_TYPED_FUNCTION(orgqr_size, orgqr_bufferSize, ungqr_bufferSize)
TROUPE_CUSOLVER_TYPED_FUNCTION(orgqr, orgqr, ungqr)
TROUPE_CUSOLVER_TYPED_FUNCTION(ormqr_size, ormqr_bufferSize, unmqr_bufferSize)
TROUPE_CUSOLVER_TYPED_FUNCTION(ormqr, ormqr, unmqr)
TROUPE_CUSOLVER_TYPED_FUNCTION(gesvdj_size, gesvdj_bufferSize, gesvdj_bufferSize)
TROUPE_CUSOLVER_TYPED_FUNCTION(gesvdj, gesvdj, gesvdj)
TROUPE_CUSOLVER_TYPED_FUNCTION(gesvdj_batched_size, gesvdjBatched_bufferSize, gesvdjBatched_bufferSize)
TROUPE_CUSOLVER_TYPED_FUNCTION(gesvdj_batched, gesvdjBatched, gesvdjBatched)
TROUPE_CUSOLVER_TYPED_FUNCTION(sygvd_size, sygvd_bufferSize, hegvd_bufferSize)
TROUPE_CUSOLVER_TYPED_FUNCTION(sygvd, sygvd, hegvd)
#undef TROUPE_CUSOLVER_TYPED_FUNCTION

}  // namespace troupe::cuda

#endif
