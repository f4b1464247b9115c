// libcuda.so.1, the fake: devices, contexts, streams, events. Memory is in driver_memory.cpp, modules and kernels in
// driver_modules.cpp. A device pointer is an address of this process.
#include "tests/fake_cuda/driver.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "troupe/backend/cuda/driver/driver.hpp"

namespace fake_cuda {
namespace {

thread_local CUcontext current_context = nullptr;
thread_local std::vector<CUcontext> contexts_before;  // those that `cuCtxPushCurrent` put aside

std::shared_ptr<Event>& event_of(CUevent event) { return *reinterpret_cast<std::shared_ptr<Event>*>(event); }

}  // namespace

bool has_context() noexcept { return current_context != nullptr; }
CUcontext context_of_this_thread() noexcept { return current_context; }

}  // namespace fake_cuda

using namespace fake_cuda;

// ---- devices and contexts ----

CUresult cuInit(unsigned) { FAKE_BEGIN("cuInit") return CUDA_SUCCESS; }

CUresult cuDriverGetVersion(int* version) {
  FAKE_BEGIN("cuDriverGetVersion")
  const int told = page().version;
  *version = told != 0 ? told : 13000;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  FAKE_BEGIN("cuDeviceGetCount")
  *count = page().gpus_less_1 + 1;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  FAKE_BEGIN("cuDeviceGet")
  *device = ordinal;
  return ordinal <= page().gpus_less_1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  FAKE_BEGIN("cuDeviceGetName")
  constexpr std::string_view kName = "Fake GPU";
  if (size <= static_cast<int>(kName.size())) return CUDA_ERROR_INVALID_VALUE;
  *std::ranges::copy(kName, name).out = '\0';
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  FAKE_BEGIN("cuDeviceGetUuid")
  std::ranges::fill(uuid->bytes, static_cast<char>(0xfa));
  uuid->bytes[15] = static_cast<char>(device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  FAKE_BEGIN("cuDeviceTotalMem")
  *bytes = total_bytes();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  FAKE_BEGIN("cuDeviceGetAttribute")
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = kMultiprocessors; break;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: *value = page().loses_memory == 0; break;
    default: *value = 0; break;
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned, CUdevice) {
  FAKE_BEGIN("cuCtxCreate")
  current_context = *context = reinterpret_cast<CUcontext>(new int);
  fake_cuda_alive(Kind::context, 1);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice, unsigned) {
  FAKE_BEGIN("cuDevicePrimaryCtxSetFlags")
  return CUDA_SUCCESS;
}

/// The context that libraries of one process share. It is the process's, and not counted.
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  FAKE_BEGIN("cuDevicePrimaryCtxRetain")
  static int primary = 0;
  *context = reinterpret_cast<CUcontext>(&primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  FAKE_END("cuDevicePrimaryCtxRelease")
  return answer;
}

CUresult cuCtxDestroy(CUcontext context) {
  FAKE_END("cuCtxDestroy")
  if (current_context == context) current_context = nullptr;
  unload_modules_of(context);
  delete reinterpret_cast<int*>(context);
  fake_cuda_alive(Kind::context, -1);
  return answer;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  FAKE_BEGIN("cuCtxSetCurrent")
  current_context = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
  FAKE_BEGIN("cuCtxPushCurrent")
  contexts_before.push_back(current_context);
  current_context = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  FAKE_END("cuCtxPopCurrent")
  *context = current_context;
  current_context = contexts_before.back();
  contexts_before.pop_back();
  return answer;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  FAKE_BEGIN_IN_CONTEXT("cuCtxGetDevice")
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  FAKE_BEGIN_IN_CONTEXT("cuCtxSynchronize")
  wait_for_all_streams();
  write_what_kernels_printed();
  return static_cast<CUresult>(poison_code());
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  FAKE_BEGIN_IN_CONTEXT("cuCtxGetStreamPriorityRange")
  *least = 0;
  *greatest = -5;
  return CUDA_SUCCESS;
}

// ---- streams and events ----

/// Of the default stream, whose work is done at once (see `cuMemcpyAsync`).
CUresult cuStreamSynchronize(CUstream stream) {
  FAKE_BEGIN_IN_CONTEXT("cuStreamSynchronize")
  return stream == CU_STREAM_LEGACY ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned, int) {
  FAKE_BEGIN_IN_CONTEXT("cuStreamCreateWithPriority")
  *stream = reinterpret_cast<CUstream>(new Stream);
  fake_cuda_alive(Kind::stream, 1);
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream) {
  FAKE_END("cuStreamDestroy")
  delete &stream_of(stream);
  fake_cuda_alive(Kind::stream, -1);
  return answer;
}

CUresult cuStreamQuery(CUstream stream) {
  FAKE_ASK("cuStreamQuery")
  return stream_of(stream).is_idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned) {
  FAKE_BEGIN_IN_CONTEXT("cuStreamWriteValue64")
  stream_of(stream).add(
      [word = at<std::uint64_t>(address), value] { __atomic_store_n(word, value, __ATOMIC_RELEASE); });
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  FAKE_BEGIN_IN_CONTEXT("cuStreamWaitValue32")
  if (flags != CU_STREAM_WAIT_VALUE_GEQ) return CUDA_ERROR_NOT_SUPPORTED;
  stream_of(stream).add_wait(at<std::uint32_t>(address), value);
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  FAKE_BEGIN_IN_CONTEXT("cuLaunchHostFunc")
  stream_of(stream).add([function, data] { function(data); });
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  FAKE_BEGIN_IN_CONTEXT("cuEventCreate")
  *event = reinterpret_cast<CUevent>(new std::shared_ptr<Event>(std::make_shared<Event>()));
  fake_cuda_alive(Kind::event, 1);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
  FAKE_END("cuEventDestroy")
  delete &event_of(event);
  fake_cuda_alive(Kind::event, -1);
  return answer;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  FAKE_BEGIN_IN_CONTEXT("cuEventRecord")
  event_of(event)->add_to(stream_of(stream), event_of(event));
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  FAKE_BEGIN_IN_CONTEXT("cuStreamWaitEvent")
  stream_of(stream).add([waited_for = event_of(event)] { waited_for->wait(); });
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  FAKE_ASK("cuEventQuery")
  return event_of(event)->is_done() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event) {
  FAKE_BEGIN("cuEventSynchronize")
  event_of(event)->wait();
  return static_cast<CUresult>(poison_code());
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
  FAKE_BEGIN("cuEventElapsedTime")
  *milliseconds = 1;
  return CUDA_SUCCESS;
}

// ---- how all of them are found ----

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult* status) {
  if (status) *status = CU_GET_PROC_ADDRESS_SUCCESS;
  *function = nullptr;
  const std::string_view wanted = symbol;
  if (page().lacks == hash_of(wanted)) return CUDA_ERROR_NOT_FOUND;
#define FAKE_FUNCTION(name) \
  if (wanted == #name) *function = reinterpret_cast<void*>(&::name);
  TROUPE_DRIVER_FUNCTIONS(FAKE_FUNCTION)  // a function that the backend calls and this file lacks does not compile
#undef FAKE_FUNCTION
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
