// Dense solvers on a device: `gpu.solver()`. Matrices are two-dimensional arrays with any strides.
//
#pragma once

#include "troupe/device/device.hpp"

namespace troupe {

class Solver {
 public:
  explicit Solver(Device device) noexcept : device_(std::move(device)) {}

 private:
  Device device_;
};

}  // namespace troupe
