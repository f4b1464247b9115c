// Multiplication with an epilogue on a device: `gpu.matmul()`. One pass over the result instead of several.
//
#pragma once

#include "troupe/device/device.hpp"

namespace troupe {

class Matmul {
 public:
  explicit Matmul(Device device) noexcept : device_(std::move(device)) {}

 private:
  Device device_;
};

}  // namespace troupe
