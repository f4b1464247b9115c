// What measuring algorithms on a GPU takes: a stopwatch on a stream, and where what was measured came from and is kept.
// Waiting for the stopwatch is the one thing that ops do not do otherwise.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "troupe/backend/cuda/driver/driver.hpp"
#include "troupe/core/result.hpp"

namespace troupe::cuda {

/// Two events around work on a stream.
class GpuStopwatch {
 public:
  static Result<GpuStopwatch> make(const Driver& driver) {
    GpuStopwatch made(driver);
    TROUPE_TRY(TROUPE_CUDA(driver, cuEventCreate, &made.begin_, CU_EVENT_DEFAULT));
    TROUPE_TRY(TROUPE_CUDA(driver, cuEventCreate, &made.end_, CU_EVENT_DEFAULT));
    return made;
  }
  ~GpuStopwatch() {
    if (begin_) (void)TROUPE_CUDA(*driver_, cuEventDestroy, begin_);
    if (end_) (void)TROUPE_CUDA(*driver_, cuEventDestroy, end_);
  }
  GpuStopwatch(GpuStopwatch&& other) noexcept
      : driver_(other.driver_),
        begin_(std::exchange(other.begin_, nullptr)),
        end_(std::exchange(other.end_, nullptr)) {}
  GpuStopwatch& operator=(GpuStopwatch&&) = delete;

  Result<void> start(CUstream stream) const { return TROUPE_CUDA(*driver_, cuEventRecord, begin_, stream); }
  /// Waits, and gives milliseconds.
  Result<float> stop(CUstream stream) const {
    TROUPE_TRY(TROUPE_CUDA(*driver_, cuEventRecord, end_, stream));
    TROUPE_TRY(TROUPE_CUDA(*driver_, cuEventSynchronize, end_));
    float milliseconds = 0;
    TROUPE_TRY(TROUPE_CUDA(*driver_, cuEventElapsedTime, &milliseconds, begin_, end_));
    return milliseconds;
  }

 private:
  explicit GpuStopwatch(const Driver& driver) noexcept : driver_(&driver) {}
  const Driver* driver_;
  CUevent begin_ = nullptr;
  CUevent end_ = nullptr;
};

/// Whose measurements they are: "cuBLASLt 130100 on NVIDIA H200".
inline std::string tuning_origin(const std::string& library, std::size_t version) {
  std::array<char, 256> name{};
  CUdevice device = 0;
  const Result<const Driver*> driver = Driver::load();
  if (driver && TROUPE_CUDA(**driver, cuCtxGetDevice, &device))
    (void)TROUPE_CUDA(**driver, cuDeviceGetName, name.data(), static_cast<int>(name.size()) - 1, device);
  return library + " " + std::to_string(version) + " on " + name.data();
}

/// The file that an environment variable names; empty when it names none.
inline std::string tuning_path(const char* variable) {
  const char* const path = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): workers set nothing
  return path ? path : "";
}

}  // namespace troupe::cuda
