// The primitives family on a device: `gpu.primitives()`. Arrays of f32 or f64, with any strides. What does not fit is
// refused before anything is submitted.
//
//   CO_TRY(co_await gpu.primitives().scale(2.0, x, 1.0, y));   // y = 2 x + 1
#pragma once

#include <utility>

#include "troupe/device/device.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// The primitives family on a device: `gpu.primitives()`.
class Primitives {
 public:
  explicit Primitives(Device device) noexcept : device_(std::move(device)) {}

  /// y = alpha x + beta, element by element. Both of one shape and type, in memory that does not overlap.
  Call<void> scale(double alpha, const AnyArray& x, double beta, const AnyArray& y) const;

 private:
  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
