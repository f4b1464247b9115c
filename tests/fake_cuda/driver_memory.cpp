// The memory of the fake GPU. What is made to be exported is a memfd, and what is exported its descriptor: so it
// outlives the process that made it for as long as somebody holds one, as that of a real GPU does.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "tests/fake_cuda/driver.hpp"

namespace fake_cuda {
namespace {

struct Exportable {
  int descriptor;
  std::size_t size_bytes;
};

/// What this process has, in bytes, and how much each piece is of it. Other processes are not counted.
class Usage {
 public:
  /// False when there is not as much left.
  bool take(std::size_t bytes) noexcept {
    if (used_.fetch_add(bytes) + bytes <= total_bytes()) return true;
    used_.fetch_sub(bytes);
    return false;
  }
  void give_back(std::size_t bytes) noexcept { used_.fetch_sub(bytes); }
  std::size_t used() const noexcept { return used_.load(); }

 private:
  std::atomic<std::size_t> used_{0};
};
Usage& usage() {
  static Usage usage;
  return usage;
}

/// What is mapped by descriptor, and how. Access is set for a whole mapping and for no part of it, as the real driver
/// has it.
class Mappings {
 public:
  void add(CUdeviceptr address, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    all_[address] = {bytes, false};
  }
  void remove(CUdeviceptr address) {
    const std::lock_guard lock(mutex_);
    if (const auto found = all_.find(address); found != all_.end() && found->second.read_only)
      fake_cuda_alive(Kind::sealed, -1);
    all_.erase(address);
  }
  bool set_access(CUdeviceptr address, std::size_t bytes, bool read_only) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(address);
    if (found == all_.end() || found->second.bytes != bytes) return false;
    if (mprotect(at<void>(address), bytes, read_only ? PROT_READ : PROT_READ | PROT_WRITE) != 0) return false;
    fake_cuda_alive(Kind::sealed, static_cast<int>(read_only) - static_cast<int>(found->second.read_only));
    found->second.read_only = read_only;
    return true;
  }
  bool is_read_only(CUdeviceptr address) {
    const std::lock_guard lock(mutex_);
    const auto after = all_.upper_bound(address);
    if (after == all_.begin()) return false;
    const auto& [begin, mapping] = *std::prev(after);
    return address - begin < mapping.bytes && mapping.read_only;
  }

 private:
  struct Mapping {
    std::size_t bytes = 0;
    bool read_only = false;
  };
  std::mutex mutex_;
  std::map<CUdeviceptr, Mapping> all_;
};
Mappings& mappings() {
  static Mappings& mappings = *new Mappings;  // streams of a process that ends may still run
  return mappings;
}

constexpr std::size_t kHeadBytes = 256;  // before a piece: its size. Pieces are aligned as the driver aligns them

CUresult allocate(CUdeviceptr* address, std::size_t bytes, Kind kind) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (!usage().take(bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kHeadBytes, kHeadBytes + (bytes + 255) / 256 * 256));
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memcpy(memory, &bytes, sizeof bytes);
  *address = reinterpret_cast<CUdeviceptr>(memory + kHeadBytes);
  fake_cuda_alive(kind, 1);
  return CUDA_SUCCESS;
}

void release(CUdeviceptr address, Kind kind) {
  std::size_t bytes = 0;
  std::memcpy(&bytes, at<std::byte>(address) - kHeadBytes, sizeof bytes);
  usage().give_back(bytes);
  std::free(at<std::byte>(address) - kHeadBytes);
  fake_cuda_alive(kind, -1);
}

template <class T>
CUresult set_async(const char* function, CUdeviceptr to, T value, std::size_t count, CUstream stream) {
  FAKE_BEGIN_IN_CONTEXT(function)
  reinterpret_cast<Stream*>(stream)->add([=] { std::fill_n(at<T>(to), count, value); });
  return CUDA_SUCCESS;
}

}  // namespace

std::uint64_t total_bytes() noexcept {
  const std::uint64_t told = page().memory_bytes;
  return told != 0 ? told : kDefaultMemoryBytes;
}

bool is_read_only(CUdeviceptr address) { return mappings().is_read_only(address); }

}  // namespace fake_cuda

using namespace fake_cuda;

CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  FAKE_BEGIN_IN_CONTEXT("cuMemGetInfo")
  *total = total_bytes();
  *free = *total - usage().used();
  return CUDA_SUCCESS;
}

// ---- memory by descriptor ----

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp*,
                     unsigned long long) {
  FAKE_BEGIN_IN_CONTEXT("cuMemCreate")
  if (bytes > total_bytes()) return CUDA_ERROR_OUT_OF_MEMORY;
  const int descriptor = memfd_create("fake_vram", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(new Exportable{descriptor, bytes});
  fake_cuda_alive(Kind::descriptor, 1);
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  FAKE_END("cuMemRelease")
  const auto* const memory = at<Exportable>(handle);
  close(memory->descriptor);
  delete memory;
  fake_cuda_alive(Kind::descriptor, -1);
  return answer;
}

CUresult cuMemExportToShareableHandle(void* number, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType,
                                      unsigned long long) {
  FAKE_BEGIN("cuMemExportToShareableHandle")
  const int copy = dup(at<Exportable>(handle)->descriptor);
  if (copy < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  std::memcpy(number, &copy, sizeof copy);
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* number, CUmemAllocationHandleType) {
  FAKE_BEGIN_IN_CONTEXT("cuMemImportFromShareableHandle")
  const int copy = dup(static_cast<int>(reinterpret_cast<std::intptr_t>(number)));
  if (copy < 0) return CUDA_ERROR_INVALID_VALUE;
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(new Exportable{copy, 0});
  fake_cuda_alive(Kind::descriptor, 1);
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t, CUdeviceptr wanted,
                             unsigned long long) {
  FAKE_BEGIN("cuMemAddressReserve")
  void* const place = mmap(at<void>(wanted), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(place);
  fake_cuda_alive(Kind::memory, 1);
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  FAKE_END("cuMemAddressFree")
  munmap(at<void>(address), bytes);
  fake_cuda_alive(Kind::memory, -1);
  return answer;
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t, CUmemGenericAllocationHandle handle,
                  unsigned long long) {
  FAKE_BEGIN("cuMemMap")
  const int descriptor = at<Exportable>(handle)->descriptor;
  void* const mapped = mmap(at<void>(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, descriptor, 0);
  if (mapped == MAP_FAILED) return CUDA_ERROR_MAP_FAILED;
  mappings().add(address, bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access, std::size_t) {
  FAKE_BEGIN("cuMemSetAccess")
  const bool read_only = access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ;
  return mappings().set_access(address, bytes, read_only) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  FAKE_END("cuMemUnmap")
  wait_for_all_streams();
  mappings().remove(address);
  void* const place =
      mmap(at<void>(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return place == MAP_FAILED ? CUDA_ERROR_UNMAP_FAILED : answer;
}

// ---- memory of the host's ----

CUresult cuMemHostRegister(void*, std::size_t, unsigned) {
  FAKE_BEGIN_IN_CONTEXT("cuMemHostRegister")
  fake_cuda_alive(Kind::memory, 1);
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void*) {
  FAKE_END("cuMemHostUnregister")
  fake_cuda_alive(Kind::memory, -1);
  return answer;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* memory, unsigned) {
  FAKE_BEGIN("cuMemHostGetDevicePointer")
  *address = reinterpret_cast<CUdeviceptr>(memory);
  return CUDA_SUCCESS;
}

// ---- memory of the context's ----

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  FAKE_BEGIN_IN_CONTEXT("cuMemAlloc")
  return allocate(address, bytes, Kind::memory);
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned) {
  FAKE_BEGIN_IN_CONTEXT("cuMemAllocManaged")
  return allocate(address, bytes, Kind::memory);
}

CUresult cuMemFree(CUdeviceptr address) {
  FAKE_END("cuMemFree")
  wait_for_all_streams();
  release(address, Kind::memory);
  return answer;
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream) {
  FAKE_BEGIN_IN_CONTEXT("cuMemAllocAsync")
  return allocate(address, bytes, Kind::scratch);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  FAKE_END("cuMemFreeAsync")
  reinterpret_cast<Stream*>(stream)->add_cleanup([address] { release(address, Kind::scratch); });
  return answer;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice) {
  FAKE_BEGIN("cuDeviceGetDefaultMemPool")
  *pool = nullptr;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void*) {
  FAKE_BEGIN("cuMemPoolSetAttribute")
  return CUDA_SUCCESS;
}

// ---- copies ----

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  FAKE_BEGIN_IN_CONTEXT("cuMemcpyAsync")
  if (stream == CU_STREAM_LEGACY) {
    std::memcpy(at<void>(to), at<void>(from), bytes);
    return CUDA_SUCCESS;
  }
  reinterpret_cast<Stream*>(stream)->add([=] { std::memcpy(at<void>(to), at<void>(from), bytes); });
  return CUDA_SUCCESS;
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* asked, CUstream stream) {
  FAKE_BEGIN_IN_CONTEXT("cuMemcpy2DAsync")
  reinterpret_cast<Stream*>(stream)->add([copy = *asked] {
    for (std::size_t row = 0; row < copy.Height; ++row)
      std::memcpy(at<std::byte>(copy.dstDevice) + row * copy.dstPitch,
                  at<std::byte>(copy.srcDevice) + row * copy.srcPitch, copy.WidthInBytes);
  });
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return set_async("cuMemsetD8Async", to, value, count, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
  return set_async("cuMemsetD16Async", to, value, count, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return set_async("cuMemsetD32Async", to, value, count, stream);
}
