// libcuda.so.1, the fake: devices, contexts, streams, events, modules. Memory is in driver_memory.cpp. A device pointer
// is an address of this process; most kernels do nothing (kernels.hpp); those whose names say so fault.
#include "tests/fake_cuda/driver.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fake_cuda/kernels.hpp"
#include "troupe/backend/cuda/driver/driver.hpp"

namespace fake_cuda {
namespace {

thread_local CUcontext current_context = nullptr;

constexpr std::string_view kProgramMark = "FAKE CUBIN\n";  // what the fake NVRTC puts before the source
constexpr std::uint32_t kFatbinMark = 0xBA55ED50;

struct Function {
  std::string name;
  int fault = 0;
  std::vector<std::size_t> argument_sizes;
};
struct Module {
  CUcontext context = nullptr;
  std::string source;  // empty: an image of ours, which has every kernel
  std::vector<std::unique_ptr<Function>> functions;
};

/// All that are loaded; with their contexts they go.
struct Modules {
  std::mutex mutex;
  std::vector<std::unique_ptr<Module>> loaded;

  void unload(const auto& which) {
    const std::lock_guard lock(mutex);
    fake_cuda_alive(Kind::module, -static_cast<int>(std::erase_if(loaded, which)));
  }
};
Modules& modules() {
  static Modules modules;
  return modules;
}

Stream& stream_of(CUstream stream) { return *reinterpret_cast<Stream*>(stream); }
std::shared_ptr<Event>& event_of(CUevent event) { return *reinterpret_cast<std::shared_ptr<Event>*>(event); }

/// A kernel of one of these names poisons the process when it is run.
int fault_of(std::string_view kernel) {
  if (kernel == "illegal") return CUDA_ERROR_ILLEGAL_ADDRESS;
  if (kernel == "misaligned") return CUDA_ERROR_MISALIGNED_ADDRESS;
  if (kernel == "trap") return CUDA_ERROR_LAUNCH_FAILED;
  if (kernel == "failed_assert") return CUDA_ERROR_ASSERT;
  return 0;
}

std::size_t size_of_parameter(std::string_view declared) {
  const auto has = [&](std::string_view word) { return declared.find(word) != std::string_view::npos; };
  if (has("*") || has("long long") || has("double")) return 8;
  if (has("char")) return 1;
  return 4;
}

/// By the text: `name(float* a, int b)`. False when it is not there.
bool read_parameters(const std::string& source, const std::string& name, std::vector<std::size_t>& sizes) {
  const std::size_t begin = source.find(" " + name + "(");
  if (begin == std::string::npos) return false;
  const std::size_t open = begin + name.size() + 2;
  std::string list = source.substr(open, source.find(')', open) - open);
  while (list.find_first_not_of(' ') != std::string::npos) {
    const std::size_t comma = std::min(list.find(','), list.size());
    sizes.push_back(size_of_parameter(std::string_view(list).substr(0, comma)));
    list.erase(0, comma + 1);
  }
  return true;
}

}  // namespace

bool has_context() noexcept { return current_context != nullptr; }

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

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  FAKE_BEGIN("cuDevicePrimaryCtxRetain")
  static int primary = 0;
  *context = reinterpret_cast<CUcontext>(&primary);
  fake_cuda_alive(Kind::context, 1);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  FAKE_END("cuDevicePrimaryCtxRelease")
  fake_cuda_alive(Kind::context, -1);
  return answer;
}

CUresult cuCtxDestroy(CUcontext context) {
  FAKE_END("cuCtxDestroy")
  if (current_context == context) current_context = nullptr;
  modules().unload([&](const auto& module) { return module->context == context; });
  delete reinterpret_cast<int*>(context);
  fake_cuda_alive(Kind::context, -1);
  return answer;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  FAKE_BEGIN("cuCtxSetCurrent")
  current_context = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  FAKE_BEGIN_IN_CONTEXT("cuCtxGetDevice")
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  FAKE_BEGIN_IN_CONTEXT("cuCtxSynchronize")
  wait_for_all_streams();
  return static_cast<CUresult>(poison_code());
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  FAKE_BEGIN_IN_CONTEXT("cuCtxGetStreamPriorityRange")
  *least = 0;
  *greatest = -5;
  return CUDA_SUCCESS;
}

// ---- streams and events ----

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

// ---- modules ----

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  FAKE_BEGIN_IN_CONTEXT("cuModuleLoadData")
  const auto* const text = static_cast<const char*>(image);
  std::uint32_t mark = 0;
  std::memcpy(&mark, image, sizeof mark);
  auto loaded = std::make_unique<Module>();
  if (std::string_view(text, sizeof mark) == kProgramMark.substr(0, sizeof mark))
    loaded->source = text;
  else if (mark != kFatbinMark)
    return CUDA_ERROR_INVALID_IMAGE;
  loaded->context = current_context;
  *module = reinterpret_cast<CUmodule>(loaded.get());
  const std::lock_guard lock(modules().mutex);
  modules().loaded.push_back(std::move(loaded));
  fake_cuda_alive(Kind::module, 1);
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  FAKE_END("cuModuleUnload")
  modules().unload([&](const auto& loaded) { return loaded.get() == reinterpret_cast<Module*>(module); });
  return answer;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  FAKE_BEGIN_IN_CONTEXT("cuModuleGetFunction")
  auto& loaded = *reinterpret_cast<Module*>(module);
  auto found = std::make_unique<Function>();
  found->name = name;
  found->fault = fault_of(name);
  if (!loaded.source.empty() && !read_parameters(loaded.source, name, found->argument_sizes))
    return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(found.get());
  const std::lock_guard lock(modules().mutex);
  loaded.functions.push_back(std::move(found));
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* size) {
  FAKE_BEGIN("cuFuncGetParamInfo")
  const auto& sizes = reinterpret_cast<Function*>(function)->argument_sizes;
  if (index >= sizes.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = 8 * index;
  *size = sizes[index];
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int value) {
  FAKE_BEGIN("cuFuncSetAttribute")
  constexpr int kMostSharedBytes = 227 << 10;
  return value <= kMostSharedBytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchKernel(CUfunction function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                        unsigned, CUstream stream, void** arguments, void**) {
  FAKE_BEGIN_IN_CONTEXT("cuLaunchKernel")
  constexpr unsigned kMostThreads = 1024;
  if (blocks == 0 || threads == 0 || threads > kMostThreads) return CUDA_ERROR_INVALID_VALUE;
  const auto& kernel = *reinterpret_cast<Function*>(function);
  if (CallCount* const count = count_of(page(), hash_of("launch " + kernel.name))) ++count->count;
  if (kernel.fault != 0) stream_of(stream).add([fault = kernel.fault] { poison(fault); });
  std::function<void()> work = work_of_kernel(kernel.name, arguments);
  if (!work) work = [] {};  // one that computes nothing has its turn in the stream, too
  stream_of(stream).add(std::move(work));
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
