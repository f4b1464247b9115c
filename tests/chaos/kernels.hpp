// The kernels of a run on a GPU: those that do for callers what a plugin does on the CPU, and those that fault. What a
// bad kernel may write it fills with rubbish first, so that nobody takes it for whole afterwards.
#pragma once

#include "tests/chaos/plan.hpp"
#include "troupe/troupe.hpp"

namespace troupe::chaos {

class Kernels {
 public:
  /// Compiles them. Throws `Exception`.
  explicit Kernels(const Device& device);

  // All arrays are of floats side by side, but for `total`, which is one double.

  Call<void> scale(const AnyArray& array, float factor) const;
  Call<void> copy(const AnyArray& from, const AnyArray& to) const;
  Call<void> sum(const AnyArray& from, const AnyArray& total) const;
  /// A fault that is in a kernel; `array` is used unless the fault touches nothing, `sealed` if it writes there.
  Call<void> commit(const Fault& fault, const AnyArray& array, const AnyArray& sealed) const;

 private:
  Device device_;
  Program program_;
};

/// What the driver answers after a fault in a kernel; 0 for one that ends otherwise.
std::int64_t code_of(FaultKind kind) noexcept;

}  // namespace troupe::chaos
