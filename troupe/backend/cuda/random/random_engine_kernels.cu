// The kernels that make the bits of engines which have no counter. What a thread or a block does is in
// random_engine_groups.hpp.
#include "troupe/backend/cuda/kernels/kernel_index.cuh"
#include "troupe/backend/cuda/random/random_engine_groups.hpp"

using namespace troupe::cuda;  // for the names that the worker looks up

namespace {

/// The threads of a block, which wait for each other.
struct TogetherInBlock {
  template <class F>
  __device__ void operator()(int count, const F& f) const {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) f(i);
    __syncthreads();
  }
};

}  // namespace

extern "C" __global__ void troupe_xorwow_words(const __grid_constant__ XorwowArguments of, long long segments) {
  for (long long segment = first_index(); segment < segments; segment += index_step()) make_segment(of, segment);
}
extern "C" __global__ void troupe_mrg32k3a_words(const __grid_constant__ MrgArguments of, long long segments) {
  for (long long segment = first_index(); segment < segments; segment += index_step()) make_segment(of, segment);
}
extern "C" __global__ void troupe_sobol_words(const SobolArguments of, long long count) {
  for (long long index = first_index(); index < count; index += index_step()) make_sobol(of, index);
}
extern "C" __global__ void troupe_put_numbers(const __grid_constant__ PutArguments of, long long count) {
  for (long long index = first_index(); index < count; index += index_step()) put_number(of, index);
}

extern "C" __global__ void troupe_start_mt19937(const __grid_constant__ Mt19937StartArguments of) {
  start_mt19937(of, TogetherInBlock{});
}
extern "C" __global__ void troupe_jump_mt19937(const __grid_constant__ Mt19937JumpArguments of) {
  jump_mt19937(of, blockIdx.x, TogetherInBlock{});
}
extern "C" __global__ void troupe_mt19937_words(const Mt19937WordsArguments of) {
  __shared__ unsigned shared[kMt19937Shared];
  make_mt19937_segment(of, blockIdx.x, shared, TogetherInBlock{});
}
