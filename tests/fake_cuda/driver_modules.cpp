// The fake driver's modules, and what is launched of them: most kernels do nothing (kernels.hpp), those whose names say
// so fault or print. Programs of the fake NVRTC are texts, in which their kernels and variables are found.
#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fake_cuda/driver.hpp"
#include "tests/fake_cuda/kernels.hpp"

namespace fake_cuda {
namespace {

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
  std::map<std::string, std::vector<float>> variables;
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

/// Of `__constant__ float name[4];` or `__device__ float name;`, and 0 where there is none.
std::size_t floats_of_variable(const std::string& source, const std::string& name) {
  const std::size_t begin = source.find(" float " + name);
  if (begin == std::string::npos) return 0;
  const std::size_t behind = begin + name.size() + 7;
  return source[behind] == '[' ? std::stoul(source.substr(behind + 1)) : source[behind] == ';' ? 1 : 0;
}

struct Printed {
  std::mutex mutex;
  std::string text;  // by kernels, and not written yet
};
Printed& printed() {
  static Printed printed;
  return printed;
}

CUresult put_on(CUstream stream, const Function& kernel, unsigned blocks, unsigned threads, void** arguments) {
  constexpr unsigned kMostThreads = 1024;
  if (blocks == 0 || threads == 0 || threads > kMostThreads) return CUDA_ERROR_INVALID_VALUE;
  if (CallCount* const count = count_of(page(), hash_of("launch " + kernel.name))) ++count->count;
  if (!kernel.argument_sizes.empty())  // one of a program
    if (CallCount* const count = count_of(page(), hash_of("blocks of " + kernel.name))) count->count += blocks;
  if (kernel.fault != 0) stream_of(stream).add([fault = kernel.fault] { poison(fault); });
  std::function<void()> work = work_of_kernel(kernel.name, arguments, blocks);
  if (!work) work = [] {};  // one that computes nothing has its turn in the stream, too
  if (kernel.name == "prints")
    work = [] {
      const std::lock_guard lock(printed().mutex);
      printed().text += "one line\nand another\n";
    };
  stream_of(stream).add(std::move(work));
  return CUDA_SUCCESS;
}

}  // namespace

void unload_modules_of(CUcontext context) {
  modules().unload([&](const auto& module) { return module->context == context; });
}

void write_what_kernels_printed() {
  const std::lock_guard lock(printed().mutex);
  std::fwrite(printed().text.data(), 1, printed().text.size(), stdout);
  printed().text.clear();
}

}  // namespace fake_cuda

using namespace fake_cuda;

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
  loaded->context = context_of_this_thread();
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

CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* size, CUmodule module, const char* name) {
  FAKE_BEGIN_IN_CONTEXT("cuModuleGetGlobal")
  auto& loaded = *reinterpret_cast<Module*>(module);
  const std::size_t floats = floats_of_variable(loaded.source, name);
  if (floats == 0) return CUDA_ERROR_NOT_FOUND;
  const std::lock_guard lock(modules().mutex);
  std::vector<float>& memory = loaded.variables[name];
  memory.resize(floats);
  *address = reinterpret_cast<CUdeviceptr>(memory.data());
  *size = memory.size() * sizeof(float);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int threads, std::size_t) {
  FAKE_BEGIN_IN_CONTEXT("cuOccupancyMaxActiveBlocksPerMultiprocessor")
  *blocks = 2048 / threads;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                        unsigned, CUstream stream, void** arguments, void**) {
  FAKE_BEGIN_IN_CONTEXT("cuLaunchKernel")
  return put_on(stream, *reinterpret_cast<Function*>(function), blocks, threads, arguments);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void**) {
  FAKE_BEGIN_IN_CONTEXT("cuLaunchKernelEx")
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
        config->gridDimX > kMultiprocessors * 2048 / config->blockDimX)
      return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && attribute.value.clusterDim.x > 8)
      return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  }
  return put_on(config->hStream, *reinterpret_cast<Function*>(function), config->gridDimX, config->blockDimX,
                arguments);
}
