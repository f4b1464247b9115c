// The dnn family on a device: `gpu.dnn()`. Arrays of f32 or f64, with any strides. What does not fit is refused
// before anything is submitted.
//
//   CO_TRY(co_await gpu.dnn().scale(2.0, x, 1.0, y));   // y = 2 x + 1
#pragma once

#include <utility>

#include "troupe/device/device.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// The dnn family on a device: `gpu.dnn()`.
class Dnn {
 public:
  explicit Dnn(Device device) noexcept : device_(std::move(device)) {}

  /// y = alpha x + beta, element by element. Both of one shape and type, in memory that does not overlap.
  Call<void> scale(double alpha, const AnyArray& x, double beta, const AnyArray& y) const;

 private:
  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
