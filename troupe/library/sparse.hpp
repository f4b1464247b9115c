// Sparse matrices on a device: `gpu.sparse()`. A matrix is checked once, when it is made; then it computes.
//
#pragma once

#include "troupe/device/device.hpp"

namespace troupe {

class Sparse {
 public:
  explicit Sparse(Device device) noexcept : device_(std::move(device)) {}

 private:
  Device device_;
};

}  // namespace troupe
