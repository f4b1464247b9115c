// cuFFT: what it is, and the functions of it that we call, found at run time: nothing links it. A transform of each
// pair of types has a function of its own to run it, and one to plan them all.
#pragma once

#include "troupe/backend/cuda/driver/vendor_declaration.hpp"

namespace troupe::cuda {

/// CUDA 12 comes with 11, CUDA 13 with 12.
inline constexpr VendorDeclaration kCufft{.name = "cuFFT",
                                          .files = {"libcufft.so.12", "libcufft.so.11"},
                                          .versions = {.oldest = {11, 0}, .newest_major = 12},
                                          .version_symbol = "cufftGetProperty",
                                          .read_version = version_by_property,
                                          .install = "the CUDA toolkit"};

}  // namespace troupe::cuda

#if TROUPE_CUDA_BACKEND

#include <cufft.h>
#include <cufftXt.h>

#include "troupe/backend/cuda/driver/function_table.hpp"

namespace troupe::cuda {

// Those that every version that we take has a name for.
inline constexpr std::array kCufftCodes{
    TROUPE_STATUS_CODE(CUFFT_INVALID_PLAN, library_error),   TROUPE_STATUS_CODE(CUFFT_ALLOC_FAILED, out_of_memory),
    TROUPE_STATUS_CODE(CUFFT_INVALID_TYPE, library_error),   TROUPE_STATUS_CODE(CUFFT_INVALID_VALUE, library_error),
    TROUPE_STATUS_CODE(CUFFT_INTERNAL_ERROR, library_error), TROUPE_STATUS_CODE(CUFFT_EXEC_FAILED, library_error),
    TROUPE_STATUS_CODE(CUFFT_SETUP_FAILED, library_error),   TROUPE_STATUS_CODE(CUFFT_INVALID_SIZE, unsupported),
    TROUPE_STATUS_CODE(CUFFT_INVALID_DEVICE, library_error), TROUPE_STATUS_CODE(CUFFT_NO_WORKSPACE, library_error),
    TROUPE_STATUS_CODE(CUFFT_NOT_IMPLEMENTED, unsupported),  TROUPE_STATUS_CODE(CUFFT_NOT_SUPPORTED, unsupported)};

#define TROUPE_CUFFT_FUNCTIONS(required, optional)                                                            \
  required(cufftCreate) required(cufftDestroy) required(cufftSetAutoAllocation) required(cufftMakePlanMany64) \
      required(cufftSetStream) required(cufftSetWorkArea) required(cufftExecC2C) required(cufftExecR2C)       \
          required(cufftExecC2R) required(cufftExecZ2Z) required(cufftExecD2Z) required(cufftExecZ2D)         \
              required(cufftXtMakePlanMany) required(cufftXtExec)

TROUPE_FUNCTION_TABLE(CufftTable, kCufft, cufftResult, kCufftCodes, TROUPE_CUFFT_FUNCTIONS)

}  // namespace troupe::cuda

#endif
