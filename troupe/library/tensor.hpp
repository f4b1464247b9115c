// Tensors on a device: `gpu.tensor()`. Arrays of any rank and strides; broadcasting and permuting copy nothing.
//
#pragma once

#include "troupe/device/device.hpp"

namespace troupe {

class Tensor {
 public:
  explicit Tensor(Device device) noexcept : device_(std::move(device)) {}

 private:
  Device device_;
};

}  // namespace troupe
