// The kernels of contractions for which no product of matrices is the fastest way: sums of products, one by one, with
// any strides.
#include "troupe/backend/cuda/kernels/kernel_index.cuh"
#include "troupe/backend/cuda/tensor/tensor_reduce.cuh"

namespace troupe::cuda {
namespace {

template <class T>
using Sum = tensor::Accumulator<Reduction::sum, T>;

/// Every `step`th product of a chunk, from `first` on, added up.
template <class T>
__device__ Sum<T> add_products(const ContractArguments& m, const ArrayOffsets<3>& base, long long chunk, int first,
                               int step) {
  const auto at = [](const void* array, long long place) {
    return to_kept<Reduction::sum>(static_cast<const T*>(array)[place]);
  };
  Sum<T> all{};
  const long long end = min(m.reduced.count, (chunk + 1) * m.chunk_terms);
  const long long begin = chunk * m.chunk_terms + first;
  if (m.reduced.rank <= 1) {
    const long long step_a = m.reduced.strides[0][0];
    const long long step_b = m.reduced.strides[1][0];
#pragma unroll 4
    for (long long i = begin; i < end; i += step)
      all = tensor::plus(all, tensor::times(at(m.a, base.at[0] + i * step_a), at(m.b, base.at[1] + i * step_b)));
    return all;
  }
#pragma unroll 1
  for (long long i = begin; i < end; i += step) {
    const ArrayOffsets<2> term = offsets_of(m.reduced, i);
    all = tensor::plus(all, tensor::times(at(m.a, base.at[0] + term.at[0]), at(m.b, base.at[1] + term.at[1])));
  }
  return all;
}

/// A thread for each output and chunk: for outputs that are neighbours in an array, or have few terms.
template <class T>
__device__ void contract_threads(const ContractArguments& m) {
  for (long long i = first_index(); i < m.kept.count * m.end.chunks; i += index_step()) {
    const long long chunk = i / m.kept.count;
    const long long output = i - chunk * m.kept.count;
    const ArrayOffsets<3> base = offsets_of(m.kept, output);
    give<Reduction::sum, T>(m.end, chunk, output, base.at[2], add_products<T>(m, base, chunk, 0, 1));
  }
}

/// A block of threads for each output and chunk.
template <class T>
__device__ void contract_blocks(const ContractArguments& m) {
  __shared__ Bytes16 memory[kReduceThreads / 2];
  for (long long i = blockIdx.x; i < m.kept.count * m.end.chunks; i += gridDim.x) {
    const long long chunk = i / m.kept.count;
    const long long output = i - chunk * m.kept.count;
    const ArrayOffsets<3> base = offsets_of(m.kept, output);
    Sum<T> all[1] = {add_products<T>(m, base, chunk, static_cast<int>(threadIdx.x), kReduceThreads)};
    combine_lanes<Reduction::sum>(all, kReduceThreads, 1, memory);
    if (threadIdx.x == 0) give<Reduction::sum, T>(m.end, chunk, output, base.at[2], all[0]);
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe;  // for the names that the worker looks up
using namespace troupe::cuda;

#define TROUPE_CONTRACT(dtype, T)                                                                                    \
  extern "C" __global__ void troupe_contract_threads_##dtype(ContractArguments m) { contract_threads<T>(m); }        \
  extern "C" __global__ void __launch_bounds__(kReduceThreads) troupe_contract_blocks_##dtype(ContractArguments m) { \
    contract_blocks<T>(m);                                                                                           \
  }
TROUPE_EACH_TENSOR_TYPE(TROUPE_CONTRACT)
