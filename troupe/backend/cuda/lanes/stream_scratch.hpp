// Scratch memory of an op, or of a plan that is kept: taken and given back in the order of a stream, so nobody waits
// for what still uses it.
#pragma once

#include <utility>

#include "troupe/backend/cuda/driver/driver.hpp"

namespace troupe::cuda {

/// Memory of the GPU from one point of a stream to another: what is put on the stream in between may use it.
class StreamScratch {
 public:
  StreamScratch(const Driver& driver, CUdeviceptr memory, CUstream stream) noexcept
      : driver_(&driver), memory_(memory), stream_(stream) {}
  ~StreamScratch() {
    if (memory_ != 0) (void)TROUPE_CUDA(*driver_, cuMemFreeAsync, memory_, stream_);
  }
  StreamScratch(StreamScratch&& other) noexcept
      : driver_(other.driver_), memory_(std::exchange(other.memory_, 0)), stream_(other.stream_) {}
  StreamScratch& operator=(StreamScratch&&) = delete;

  CUdeviceptr address() const noexcept { return memory_; }
  template <class T = void>
  T* data() const noexcept {
    return reinterpret_cast<T*>(memory_);
  }

 private:
  const Driver* driver_;
  CUdeviceptr memory_;
  CUstream stream_;
};

}  // namespace troupe::cuda
