#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/driver/cuda_context.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace troupe::cuda {
namespace {

std::string text_of(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    text += digits.data();
  }
  return text;
}

/// What was scratch memory of one op is that of the next one: so much of it is kept, instead of none, whenever somebody
/// waits for the GPU. Without memory pools there is nothing to keep.
void keep_scratch_memory(const Driver& driver, CUdevice device) {
  constexpr cuuint64_t kKeptBytes = cuuint64_t{512} << 20;
  cuuint64_t kept = kKeptBytes;
  CUmemoryPool pool = nullptr;
  if (driver.table().cuDeviceGetDefaultMemPool(&pool, device) != CUDA_SUCCESS) return;
  (void)driver.table().cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept);
}

Result<GpuInfo> describe(const Driver& driver, CUdevice device) {
  GpuInfo info;
  CUuuid uuid{};
  TROUPE_TRY(TROUPE_CUDA(driver, cuDeviceGetUuid, &uuid, device));
  info.uuid = text_of(uuid);
  std::array<char, 256> name{};
  TROUPE_TRY(TROUPE_CUDA(driver, cuDeviceGetName, name.data(), static_cast<int>(name.size()), device));
  info.name = name.data();
  std::size_t bytes = 0;
  TROUPE_TRY(TROUPE_CUDA(driver, cuDeviceTotalMem, &bytes, device));
  info.memory_bytes = bytes;
  const auto attribute = [&](CUdevice_attribute which, int& value) {
    return TROUPE_CUDA(driver, cuDeviceGetAttribute, &value, which, device);
  };
  TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, info.capability_major));
  TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, info.capability_minor));
  int can_export = 0;
  TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, can_export));
  info.can_export_memory = can_export != 0;
  int mode = 0;
  TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, mode));
  info.is_exclusive = mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
  return info;
}

/// Libraries of CUDA's runtime, such as PyTorch, always use a GPU's primary context. A worker that runs their functions
/// has that, too, so that they can use its lanes.
bool wants_primary_context() noexcept {
  return std::getenv("TROUPE_CUDA_PRIMARY_CONTEXT") != nullptr;  // NOLINT(concurrency-mt-unsafe): nobody changes it
}

Result<CUcontext> primary_context(const Driver& driver, CUdevice device) {
  CUcontext context = nullptr;
  TROUPE_TRY(TROUPE_CUDA(driver, cuDevicePrimaryCtxSetFlags, device, CU_CTX_SCHED_SPIN));
  TROUPE_TRY(TROUPE_CUDA(driver, cuDevicePrimaryCtxRetain, &context, device));
  TROUPE_TRY(TROUPE_CUDA(driver, cuCtxSetCurrent, context));
  return context;
}

Result<CUcontext> own_context(const Driver& driver, CUdevice device) {
  CUctxCreateParams parameters{};
  CUcontext context = nullptr;
  TROUPE_TRY(TROUPE_CUDA(driver, cuCtxCreate, &context, &parameters, CU_CTX_SCHED_SPIN, device));
  return context;
}

}  // namespace

Result<std::vector<GpuInfo>> list_gpus(const Driver& driver) {
  int count = 0;
  TROUPE_TRY(TROUPE_CUDA(driver, cuDeviceGetCount, &count));
  std::vector<GpuInfo> gpus;
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    TROUPE_TRY(TROUPE_CUDA(driver, cuDeviceGet, &device, i));
    gpus.push_back(TROUPE_TRY(describe(driver, device)));
  }
  return gpus;
}

Result<std::unique_ptr<CudaContext>> CudaContext::create(const std::string& uuid) {
  const Driver& driver = *TROUPE_TRY(Driver::load());
  const std::vector<GpuInfo> gpus = TROUPE_TRY(list_gpus(driver));
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (!uuid.empty() && gpus[i].uuid != uuid) continue;
    CUdevice device = 0;
    TROUPE_TRY(TROUPE_CUDA(driver, cuDeviceGet, &device, static_cast<int>(i)));
    const bool is_primary = wants_primary_context();
    const CUcontext context = TROUPE_TRY(is_primary ? primary_context(driver, device) : own_context(driver, device));
    keep_scratch_memory(driver, device);
    return std::unique_ptr<CudaContext>(new CudaContext(driver, device, context, is_primary));
  }
  return fail(ErrorKind::unsupported,
              gpus.empty() ? "there is no GPU, or none is visible" : "there is no GPU with the UUID " + uuid);
}

CudaContext::~CudaContext() {
  if (is_primary_)
    (void)TROUPE_CUDA(driver_, cuDevicePrimaryCtxRelease, device_);
  else
    (void)TROUPE_CUDA(driver_, cuCtxDestroy, context_);
}

Result<void> CudaContext::make_current() const { return TROUPE_CUDA(driver_, cuCtxSetCurrent, context_); }

}  // namespace troupe::cuda

#endif
