#if TROUPE_CUDA_BACKEND

#include "bench/raw_cuda_parts.hpp"

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "troupe/backend/cuda/driver/driver_library.hpp"

namespace troupe::bench {
namespace {

constexpr std::size_t kAlignBytes = std::size_t{2} << 20;  // so that the kernel may use large pages

std::size_t page_up(std::size_t bytes) {
  constexpr std::size_t kPageBytes = 4096;
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace

MoreDriver MoreDriver::load() {
  const cuda::Library library = value(cuda::open(cuda::kDriver)).library;
  auto* const get =
      library.find_function<CUresult(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*)>(
          "cuGetProcAddress_v2");
  if (!get) throw std::runtime_error("the NVIDIA driver is older than 12.0");
  MoreDriver driver;
#define TROUPE_BENCH_DRIVER_FUNCTION(function)                                                             \
  if (void* found = nullptr;                                                                               \
      get(#function, &found, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, nullptr) == CUDA_SUCCESS && found) \
    driver.function = reinterpret_cast<decltype(driver.function)>(found);                                  \
  else                                                                                                     \
    throw std::runtime_error("the NVIDIA driver lacks " #function);
  TROUPE_BENCH_DRIVER_FUNCTIONS(TROUPE_BENCH_DRIVER_FUNCTION)
#undef TROUPE_BENCH_DRIVER_FUNCTION
  return driver;
}

HostBytes::HostBytes(std::size_t size_bytes)
    : size_(page_up(size_bytes)),
      bytes_(static_cast<std::byte*>(
          std::aligned_alloc(kAlignBytes, (size_ + kAlignBytes - 1) / kAlignBytes * kAlignBytes))) {
  if (!bytes_) throw std::bad_alloc();
  std::memset(bytes_.get(), 1, size_);
}

void Flag::look_for_errors(CUstream stream) const {
  const CUresult answer = driver_.table().cuStreamQuery(stream);
  if (answer != CUDA_ERROR_NOT_READY) check(answer, "cuStreamQuery");
}

CUfunction load_raw_kernel(const cuda::Driver& driver, const char* name) {
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  TROUPE_RAW(driver, cuModuleLoadData, &module, kRawKernels);
  TROUPE_RAW(driver, cuModuleGetFunction, &kernel, module, name);
  return kernel;
}

}  // namespace troupe::bench

#endif
