// NVRTC, the compiler for kernels: what it is, and the functions of it that we call, found at run time: nothing links
// it.
#pragma once

#include "troupe/backend/cuda/driver/vendor_declaration.hpp"

namespace troupe::cuda {

inline constexpr VendorDeclaration kNvrtc{.name = "NVRTC",
                                          .files = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"},
                                          .versions = {.oldest = {12, 0}, .newest_major = 13},
                                          .version_symbol = "nvrtcVersion",
                                          .read_version = version_by_major_and_minor,
                                          .install = "the CUDA toolkit, or the Python package nvidia-cuda-nvrtc"};

}  // namespace troupe::cuda

#if TROUPE_CUDA_BACKEND

#include <nvrtc.h>

#include "troupe/backend/cuda/driver/function_table.hpp"

namespace troupe::cuda {

// Most of what it answers is about the source, which the user wrote.
inline constexpr std::array kNvrtcCodes{TROUPE_STATUS_CODE(NVRTC_ERROR_OUT_OF_MEMORY, out_of_memory),
                                        TROUPE_STATUS_CODE(NVRTC_ERROR_PROGRAM_CREATION_FAILURE, library_error),
                                        TROUPE_STATUS_CODE(NVRTC_ERROR_INVALID_INPUT, invalid_argument),
                                        TROUPE_STATUS_CODE(NVRTC_ERROR_INVALID_OPTION, invalid_argument),
                                        TROUPE_STATUS_CODE(NVRTC_ERROR_COMPILATION, invalid_argument),
                                        TROUPE_STATUS_CODE(NVRTC_ERROR_INTERNAL_ERROR, library_error)};

#define TROUPE_NVRTC_FUNCTIONS(required, optional)                                               \
  required(nvrtcCreateProgram) required(nvrtcDestroyProgram) required(nvrtcCompileProgram)       \
      required(nvrtcGetProgramLogSize) required(nvrtcGetProgramLog) required(nvrtcGetCUBINSize)  \
          required(nvrtcGetCUBIN) required(nvrtcGetErrorString) required(nvrtcAddNameExpression) \
              required(nvrtcGetLoweredName)

TROUPE_FUNCTION_TABLE(NvrtcTable, kNvrtc, nvrtcResult, kNvrtcCodes, TROUPE_NVRTC_FUNCTIONS)

}  // namespace troupe::cuda

#endif
