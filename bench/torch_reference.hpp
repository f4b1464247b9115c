// PyTorch, for what its users would compare us with. In a process of its own: whoever has no Python, or no PyTorch,
// still has the benchmark.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bench/einsum_cases.hpp"
#include "troupe/wire/child.hpp"

namespace troupe::bench {

/// The process waits between two measurements, as ours does.
class Torch {
 public:
  Torch();

  // Nanoseconds on the first GPU, one at a time: the median of so many. NaN where there is no Python with PyTorch that
  // sees a GPU.

  /// torch.einsum of floats, which PyTorch does not round to tf32 by itself.
  double einsum_ns(const EinsumCase& einsum, int count) { return ns("einsum", einsum.to_string(), count); }
  /// A layer of a network in bf16, by one of the names in network_rows.cpp.
  double network_ns(const std::string& layer, int count) { return ns("network", layer, count); }
  /// torch.mm of floats, into a matrix that is there.
  double gemm_ns(std::size_t extent, int count) { return ns("gemm", extent, count); }
  /// copy_ between pinned memory and the GPU.
  double copy_in_ns(std::size_t size_bytes, int count) { return ns("copy_in", size_bytes, count); }
  double copy_out_ns(std::size_t size_bytes, int count) { return ns("copy_out", size_bytes, count); }

 private:
  double ns(const std::string& what, std::size_t size, int count) { return ns(what, std::to_string(size), count); }
  double ns(const std::string& what, const std::string& size, int count);

  wire::Descriptor talk_;
  std::optional<wire::Child> child_;
};

/// Milliseconds from the start of a process that imports PyTorch until its first op is done; NaN as above.
double torch_first_op_ms();

}  // namespace troupe::bench
