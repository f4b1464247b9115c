// PyTorch, for what its users would compare us with. In a process of its own: whoever has no Python, or no PyTorch,
// still has the benchmark.
#pragma once

namespace troupe::bench {

/// Nanoseconds for torch.einsum("abcd,cdef->abef") of floats on the first GPU, every extent of that size, one at a
/// time. NaN where there is no Python with PyTorch that sees a GPU.
double torch_einsum_ns(int extent, int count);

}  // namespace troupe::bench
