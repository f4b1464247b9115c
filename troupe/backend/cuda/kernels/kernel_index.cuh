// Which elements a thread of our kernels takes: the first one, and the distance to its next. So that a kernel is right
// for any number of threads.
#pragma once

namespace troupe::cuda {
namespace {

__device__ inline long long first_index() { return blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; }
__device__ inline long long index_step() { return gridDim.x * static_cast<long long>(blockDim.x); }

}  // namespace
}  // namespace troupe::cuda
