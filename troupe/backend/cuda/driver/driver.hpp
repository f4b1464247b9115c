// The CUDA driver: its functions as a table of pointers, found at run time, under the driver's own names. Every call is
// made through `Driver::call`, so no answer goes unread.
//
//   const Driver& driver = TROUPE_TRY(Driver::load());
//   TROUPE_TRY(TROUPE_CUDA(driver, cuMemGetInfo, &free, &total));
#pragma once

#include <cuda.h>

#include <string_view>

#include "troupe/backend/cuda/driver/codes.hpp"
#include "troupe/core/result.hpp"

namespace troupe::cuda {

// Every function of the driver that Troupe calls. (cuda.h makes some of the names macros for their newest version.)
// clang-format off: it would indent each line more than the one before
#define TROUPE_DRIVER_FUNCTIONS(each) \
  each(cuInit) each(cuDriverGetVersion) each(cuDeviceGetCount) each(cuDeviceGet) each(cuDeviceGetName) \
  each(cuDeviceGetUuid) each(cuDeviceTotalMem) each(cuDeviceGetAttribute) each(cuCtxCreate) each(cuCtxDestroy) \
  each(cuCtxSetCurrent) each(cuMemGetInfo) each(cuMemCreate) each(cuMemRelease) each(cuMemExportToShareableHandle) \
  each(cuMemImportFromShareableHandle) each(cuMemAddressReserve) each(cuMemAddressFree) each(cuMemMap) \
  each(cuMemUnmap) each(cuMemSetAccess) each(cuMemHostRegister) each(cuMemHostUnregister) \
  each(cuMemHostGetDevicePointer) each(cuMemcpyAsync) each(cuMemcpy2DAsync) each(cuMemsetD8Async) \
  each(cuMemsetD16Async) each(cuMemsetD32Async) each(cuStreamCreateWithPriority) each(cuStreamDestroy) \
  each(cuStreamQuery) each(cuStreamWriteValue64) each(cuStreamWaitValue32) each(cuModuleLoadData) \
  each(cuModuleUnload) each(cuModuleGetFunction) each(cuLaunchKernel) each(cuCtxSynchronize) \
  each(cuCtxGetStreamPriorityRange) each(cuFuncGetParamInfo) each(cuFuncSetAttribute) each(cuEventCreate) \
  each(cuEventDestroy) each(cuEventRecord) each(cuEventQuery) each(cuEventSynchronize) each(cuEventElapsedTime) \
  each(cuCtxGetDevice) each(cuLaunchHostFunc) each(cuMemAlloc) each(cuMemAllocManaged) each(cuMemFree) \
  each(cuMemAllocAsync) each(cuMemFreeAsync) each(cuDeviceGetDefaultMemPool) each(cuMemPoolSetAttribute) \
  each(cuModuleGetGlobal) each(cuStreamWaitEvent) each(cuLaunchKernelEx) \
  each(cuOccupancyMaxActiveBlocksPerMultiprocessor) each(cuDevicePrimaryCtxRetain) each(cuDevicePrimaryCtxRelease) \
  each(cuDevicePrimaryCtxSetFlags)
// clang-format on

struct DriverTable {
#define TROUPE_DRIVER_FUNCTION(function) decltype(&::function) function = nullptr;
  TROUPE_DRIVER_FUNCTIONS(TROUPE_DRIVER_FUNCTION)
#undef TROUPE_DRIVER_FUNCTION
};

class Driver {
 public:
  /// Opens the driver and initializes it, once per process. `unsupported` when there is none or it is too old, with
  /// what to do about it; the driver's own error when it cannot start.
  static Result<const Driver*> load();

  const DriverTable& table() const noexcept { return table_; }
  /// As the driver says it: 13000 is 13.0.
  int version() const noexcept { return version_; }

 private:
  Driver() = default;
  static Result<const Driver*> open();

  DriverTable table_;
  int version_ = 0;
};

/// What a call answered.
inline Result<void> checked(CUresult answer, std::string_view call) {
  if (answer == CUDA_SUCCESS) [[likely]]
    return {};
  return fail(error_of(static_cast<int>(answer), call));
}

/// One call of the driver, checked.
#define TROUPE_CUDA(driver, function, ...) ::troupe::cuda::checked((driver).table().function(__VA_ARGS__), #function)

}  // namespace troupe::cuda
