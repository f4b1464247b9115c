// PyTorch, for what its users would compare us with. In a process of its own: whoever has no Python, or no PyTorch,
// still has the benchmark.
#pragma once

#include <optional>

#include "troupe/wire/child.hpp"

namespace troupe::bench {

/// The process waits between two measurements, as ours does.
class Torch {
 public:
  Torch();

  /// Nanoseconds for torch.einsum("abcd,cdef->abef") of floats on the first GPU, every extent of that size, one at a
  /// time: the median of so many. NaN where there is no Python with PyTorch that sees a GPU.
  double einsum_ns(int extent, int count);

 private:
  wire::Descriptor talk_;
  std::optional<wire::Child> child_;
};

}  // namespace troupe::bench
