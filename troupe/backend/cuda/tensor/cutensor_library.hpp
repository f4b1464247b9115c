// cuTENSOR: what it is, and the functions of it that we call, found at run time: nothing links it. The CUDA toolkit
// does not have its header, so what we use of version 2 is declared here; a worker is built without cuTENSOR, and uses
// the one that it finds.
#pragma once

#include "troupe/backend/cuda/driver/vendor_declaration.hpp"

namespace troupe::cuda {

inline constexpr VendorDeclaration kCutensor{.name = "cuTENSOR",
                                             .files = {"libcutensor.so.2"},
                                             .versions = {.oldest = {2, 0}, .newest_major = 2},
                                             .version_symbol = "cutensorGetVersion",
                                             .read_version = version_by_number,
                                             .install = "cuTENSOR (libcutensor2, or cutensor-cu13 from PyPI)"};

}  // namespace troupe::cuda

#if TROUPE_CUDA_BACKEND

#include <cuda.h>
#include <library_types.h>

#include "troupe/backend/cuda/driver/function_table.hpp"

// ---- as cuTENSOR has it ----

// NOLINTBEGIN(readability-identifier-naming): the names are NVIDIA's
using cutensorHandle_t = struct cutensorHandle*;
using cutensorTensorDescriptor_t = struct cutensorTensorDescriptor*;
using cutensorOperationDescriptor_t = struct cutensorOperationDescriptor*;
using cutensorComputeDescriptor_t = struct cutensorComputeDescriptor*;
using cutensorPlanPreference_t = struct cutensorPlanPreference*;
using cutensorPlan_t = struct cutensorPlan*;

enum cutensorStatus_t : int {
  CUTENSOR_STATUS_SUCCESS = 0,
  CUTENSOR_STATUS_NOT_INITIALIZED = 1,
  CUTENSOR_STATUS_ALLOC_FAILED = 3,
  CUTENSOR_STATUS_INVALID_VALUE = 7,
  CUTENSOR_STATUS_ARCH_MISMATCH = 8,
  CUTENSOR_STATUS_MAPPING_ERROR = 11,
  CUTENSOR_STATUS_EXECUTION_FAILED = 13,
  CUTENSOR_STATUS_INTERNAL_ERROR = 14,
  CUTENSOR_STATUS_NOT_SUPPORTED = 15,
  CUTENSOR_STATUS_LICENSE_ERROR = 16,
  CUTENSOR_STATUS_CUBLAS_ERROR = 17,
  CUTENSOR_STATUS_CUDA_ERROR = 18,
  CUTENSOR_STATUS_INSUFFICIENT_WORKSPACE = 19,
  CUTENSOR_STATUS_INSUFFICIENT_DRIVER = 20,
  CUTENSOR_STATUS_IO_ERROR = 21
};
enum cutensorOperator_t : int { CUTENSOR_OP_IDENTITY = 1 };
enum cutensorAlgo_t : int {
  CUTENSOR_ALGO_DEFAULT_PATIENT = -6,
  CUTENSOR_ALGO_GETT = -4,
  CUTENSOR_ALGO_TGETT = -3,
  CUTENSOR_ALGO_TTGT = -2,
  CUTENSOR_ALGO_DEFAULT = -1
};
enum cutensorJitMode_t : int { CUTENSOR_JIT_MODE_NONE = 0 };
enum cutensorWorksizePreference_t : int { CUTENSOR_WORKSPACE_DEFAULT = 2 };
enum cutensorPlanAttribute_t : int { CUTENSOR_PLAN_REQUIRED_WORKSPACE = 0 };

extern "C" {
std::size_t cutensorGetVersion();
cutensorStatus_t cutensorCreate(cutensorHandle_t* handle);
cutensorStatus_t cutensorDestroy(cutensorHandle_t handle);
cutensorStatus_t cutensorCreateTensorDescriptor(cutensorHandle_t handle, cutensorTensorDescriptor_t* made,
                                                std::uint32_t axes, const std::int64_t* extents,
                                                const std::int64_t* strides, cudaDataType_t type,
                                                std::uint32_t alignment_bytes);
cutensorStatus_t cutensorDestroyTensorDescriptor(cutensorTensorDescriptor_t tensor);
cutensorStatus_t cutensorCreateContraction(cutensorHandle_t handle, cutensorOperationDescriptor_t* made,
                                           cutensorTensorDescriptor_t a, const std::int32_t* names_a,
                                           cutensorOperator_t of_a, cutensorTensorDescriptor_t b,
                                           const std::int32_t* names_b, cutensorOperator_t of_b,
                                           cutensorTensorDescriptor_t c, const std::int32_t* names_c,
                                           cutensorOperator_t of_c, cutensorTensorDescriptor_t d,
                                           const std::int32_t* names_d, cutensorComputeDescriptor_t compute);
cutensorStatus_t cutensorDestroyOperationDescriptor(cutensorOperationDescriptor_t operation);
cutensorStatus_t cutensorCreatePlanPreference(cutensorHandle_t handle, cutensorPlanPreference_t* made,
                                              cutensorAlgo_t algorithm, cutensorJitMode_t jit);
cutensorStatus_t cutensorDestroyPlanPreference(cutensorPlanPreference_t preference);
cutensorStatus_t cutensorEstimateWorkspaceSize(cutensorHandle_t handle, cutensorOperationDescriptor_t operation,
                                               cutensorPlanPreference_t preference, cutensorWorksizePreference_t wanted,
                                               std::uint64_t* size_bytes);
cutensorStatus_t cutensorCreatePlan(cutensorHandle_t handle, cutensorPlan_t* made,
                                    cutensorOperationDescriptor_t operation, cutensorPlanPreference_t preference,
                                    std::uint64_t workspace_limit_bytes);
cutensorStatus_t cutensorDestroyPlan(cutensorPlan_t plan);
cutensorStatus_t cutensorPlanGetAttribute(cutensorHandle_t handle, cutensorPlan_t plan,
                                          cutensorPlanAttribute_t attribute, void* value, std::size_t size_bytes);
cutensorStatus_t cutensorContract(cutensorHandle_t handle, cutensorPlan_t plan, const void* alpha, const void* a,
                                  const void* b, const void* beta, const void* c, void* d, void* workspace,
                                  std::uint64_t workspace_bytes, CUstream stream);
}
// NOLINTEND(readability-identifier-naming)

// ---- as we find it ----

namespace troupe::cuda {

inline constexpr std::array kCutensorCodes{TROUPE_STATUS_CODE(CUTENSOR_STATUS_NOT_INITIALIZED, library_error),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_ALLOC_FAILED, out_of_memory),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_INVALID_VALUE, library_error),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_ARCH_MISMATCH, unsupported),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_MAPPING_ERROR, library_error),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_EXECUTION_FAILED, library_error),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_INTERNAL_ERROR, library_error),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_NOT_SUPPORTED, unsupported),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_LICENSE_ERROR, library_error),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_CUBLAS_ERROR, library_error),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_CUDA_ERROR, library_error),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_INSUFFICIENT_WORKSPACE, out_of_memory),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_INSUFFICIENT_DRIVER, unsupported),
                                           TROUPE_STATUS_CODE(CUTENSOR_STATUS_IO_ERROR, library_error)};

#define TROUPE_CUTENSOR_FUNCTIONS(required, optional)                                                                \
  required(cutensorGetVersion) required(cutensorCreate) required(cutensorDestroy)                                    \
      required(cutensorCreateTensorDescriptor) required(cutensorDestroyTensorDescriptor)                             \
          required(cutensorCreateContraction) required(cutensorDestroyOperationDescriptor)                           \
              required(cutensorCreatePlanPreference) required(cutensorDestroyPlanPreference)                         \
                  required(cutensorEstimateWorkspaceSize) required(cutensorCreatePlan) required(cutensorDestroyPlan) \
                      required(cutensorPlanGetAttribute) required(cutensorContract)

TROUPE_FUNCTION_TABLE(CutensorFunctions, kCutensor, cutensorStatus_t, kCutensorCodes, TROUPE_CUTENSOR_FUNCTIONS)

/// With the variables that say what is computed in.
struct CutensorTable : CutensorFunctions {
  cutensorComputeDescriptor_t in_f32 = nullptr;
  cutensorComputeDescriptor_t in_f64 = nullptr;

  void find_all(FunctionFinder& finder) {
    CutensorFunctions::find_all(finder);
    finder.find_variable("CUTENSOR_COMPUTE_DESC_32F", in_f32);
    finder.find_variable("CUTENSOR_COMPUTE_DESC_64F", in_f64);
  }
};

}  // namespace troupe::cuda

#endif
