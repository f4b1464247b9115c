// One GPU, as one worker has it: the driver and a context. Everything else of this backend stands on it, and dies with
// it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "troupe/backend/cuda/driver/driver.hpp"

namespace troupe::cuda {

struct GpuInfo {
  std::string uuid;  // "GPU-12345678-..."
  std::string name;
  std::uint64_t memory_bytes = 0;
  int capability_major = 0;
  int capability_minor = 0;
  /// Whether memory made here can outlive the process that made it.
  bool can_export_memory = false;
  /// Whether only one process at a time may have a context there.
  bool is_exclusive = false;
};

/// The GPUs that the driver shows, $CUDA_VISIBLE_DEVICES respected.
Result<std::vector<GpuInfo>> list_gpus(const Driver& driver);

class CudaContext {
 public:
  /// A context on the GPU with that UUID; empty: the first one. It is one of our own, or the GPU's primary one where
  /// $TROUPE_CUDA_PRIMARY_CONTEXT is set.
  static Result<std::unique_ptr<CudaContext>> create(const std::string& uuid);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const Driver& driver() const noexcept { return driver_; }
  CUdevice device() const noexcept { return device_; }
  /// Each thread that calls the driver needs this once.
  Result<void> make_current() const;

 private:
  CudaContext(const Driver& driver, CUdevice device, CUcontext context, bool is_primary) noexcept
      : driver_(driver), device_(device), context_(context), is_primary_(is_primary) {}

  const Driver& driver_;
  const CUdevice device_;
  const CUcontext context_;
  const bool is_primary_;
};

}  // namespace troupe::cuda
