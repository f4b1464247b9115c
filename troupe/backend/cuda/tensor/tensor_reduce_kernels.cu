// The kernels of the tensor family that combine elements: reductions, and contractions for which no product of matrices
// is the fastest way. What is combined, and in which order, depends on the shapes alone: no atomics, the same result
// every time.
#include "troupe/backend/cuda/tensor/tensor_device.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::cuda {
namespace {

template <class T>
__device__ inline tensor::Accumulator<T> to_accumulator(T element) {
  if constexpr (detail::kIsComplex<T>)
    return {element.real(), element.imag()};
  else
    return to_number(element);
}

/// What the output is of where it is not `T`.
template <class T>
struct OtherOutput {
  using type = std::conditional_t<detail::kIsSmallFloat<T>, float, T>;
};
template <class R>
struct OtherOutput<std::complex<R>> {
  using type = R;
};

template <class Out, class A>
__device__ inline void store(void* out, long long at, A value, A beta, bool reads) {
  Out& element = static_cast<Out*>(out)[at];
  if constexpr (detail::kIsComplex<A> && !detail::kIsComplex<Out>) {
    if (reads) value = tensor::plus(value, tensor::times(beta, A(element, 0)));
    element = static_cast<Out>(value.real());
  } else if constexpr (detail::kIsComplex<A>) {
    if (reads) value = tensor::plus(value, tensor::times(beta, A(element.real(), element.imag())));
    using Part = typename Out::value_type;
    element = Out(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
  } else {
    if (reads) value += beta * to_accumulator(element);
    element = static_cast<Out>(value);
  }
}

/// The last step: from what all terms of an output were combined to, to the output.
template <Reduction function, class T>
__device__ void write_result(const ReduceArguments& m, long long output, tensor::Accumulator<T> all) {
  using A = tensor::Accumulator<T>;
  A result = tensor::finish<function>(all, static_cast<double>(m.reduced.count));
  const A alpha = *reinterpret_cast<const A*>(&m.alpha);
  const A beta = *reinterpret_cast<const A*>(&m.beta);
  if (alpha != A(1)) result = tensor::times(alpha, result);
  const long long at = offsets_of(m.kept, output).at[2];
  if (m.out_differs)
    store<typename OtherOutput<T>::type>(m.out, at, result, beta, m.reads_out);
  else
    store<T>(m.out, at, result, beta, m.reads_out);
}

/// The term with these offsets from the output's first.
template <Reduction function, bool multiplies, class T>
__device__ inline tensor::Accumulator<T> term_at(const ReduceArguments& m, long long in_a, long long in_b) {
  tensor::Accumulator<T> element = to_accumulator(static_cast<const T*>(m.a)[in_a]);
  if constexpr (multiplies) element = tensor::times(element, to_accumulator(static_cast<const T*>(m.b)[in_b]));
  return tensor::term<function>(element);
}

/// Every `step`th term of a chunk, from `first` on.
template <Reduction function, bool multiplies, class T>
__device__ tensor::Accumulator<T> reduce_some(const ReduceArguments& m, const ArrayOffsets<3>& base, long long chunk,
                                              int first, int step) {
  using A = tensor::Accumulator<T>;
  A all = tensor::nothing<function, A>();
  const long long end = min(m.reduced.count, (chunk + 1) * m.chunk_terms);
  const long long begin = chunk * m.chunk_terms + first;
  if (m.reduced.rank == 1) {
    const long long step_a = m.reduced.strides[0][0];
    const long long step_b = m.reduced.strides[1][0];
#pragma unroll 4
    for (long long i = begin; i < end; i += step)
      all = tensor::combine<function>(
          all, term_at<function, multiplies, T>(m, base.at[0] + i * step_a, base.at[1] + i * step_b));
    return all;
  }
#pragma unroll 1
  for (long long i = begin; i < end; i += step) {
    const ArrayOffsets<2> at = offsets_of(m.reduced, i);
    all = tensor::combine<function>(all,
                                    term_at<function, multiplies, T>(m, base.at[0] + at.at[0], base.at[1] + at.at[1]));
  }
  return all;
}

template <Reduction function, class T>
__device__ void give(const ReduceArguments& m, long long chunk, long long output, tensor::Accumulator<T> all) {
  if (m.chunks == 1)
    write_result<function, T>(m, output, all);
  else
    static_cast<tensor::Accumulator<T>*>(m.partials)[chunk * m.kept.count + output] = all;
}

/// A thread for each output and chunk: for outputs that are neighbours in the input, or have few terms.
template <Reduction function, bool multiplies, class T>
__device__ void reduce_by_threads(const ReduceArguments& m) {
  for (long long i = first_index(); i < m.kept.count * m.chunks; i += index_step()) {
    const long long chunk = i / m.kept.count;
    const long long output = i - chunk * m.kept.count;
    give<function, T>(m, chunk, output,
                      reduce_some<function, multiplies, T>(m, offsets_of(m.kept, output), chunk, 0, 1));
  }
}

/// What the threads of a block have, combined in pairs. Needs shared memory for an accumulator of each.
template <Reduction function, class A>
__device__ A combine_block(A mine, Bytes16* memory) {
  A* const shared = reinterpret_cast<A*>(memory);
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = kReduceThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      shared[threadIdx.x] = tensor::combine<function>(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  const A combined = shared[0];
  __syncthreads();  // before the next one writes there
  return combined;
}

/// A block of threads for each output and chunk.
template <Reduction function, bool multiplies, class T>
__device__ void reduce_by_blocks(const ReduceArguments& m, Bytes16* memory) {
  for (long long i = blockIdx.x; i < m.kept.count * m.chunks; i += gridDim.x) {
    const long long chunk = i / m.kept.count;
    const long long output = i - chunk * m.kept.count;
    const auto mine = reduce_some<function, multiplies, T>(m, offsets_of(m.kept, output), chunk,
                                                           static_cast<int>(threadIdx.x), kReduceThreads);
    const auto all = combine_block<function>(mine, memory);
    if (threadIdx.x == 0) give<function, T>(m, chunk, output, all);
  }
}

/// A block of threads for each output: its chunks.
template <Reduction function, class T>
__device__ void combine_chunks(const ReduceArguments& m, Bytes16* memory) {
  using A = tensor::Accumulator<T>;
  for (long long output = blockIdx.x; output < m.kept.count; output += gridDim.x) {
    A mine = tensor::nothing<function, A>();
    for (long long chunk = threadIdx.x; chunk < m.chunks; chunk += kReduceThreads)
      mine = tensor::combine<function>(mine, static_cast<const A*>(m.partials)[chunk * m.kept.count + output]);
    const A all = combine_block<function>(mine, memory);
    if (threadIdx.x == 0) write_result<function, T>(m, output, all);
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe;  // for the names that the worker looks up
using namespace troupe::cuda;

#define TROUPE_EACH_TYPE(each)                                                                                      \
  each(f64, double) each(f32, float) each(f16, troupe::f16) each(bf16, troupe::bf16) each(c64, std::complex<float>) \
      each(c128, std::complex<double>)

#define TROUPE_REDUCE(dtype, T)                                                                    \
  extern "C" __global__ void troupe_reduce_threads_##dtype(ReduceArguments m) {                    \
    tensor::with_function<!detail::kIsComplex<T>>(static_cast<Reduction>(m.function), [&](auto function) { \
      reduce_by_threads<decltype(function)::value, false, T>(m);                                   \
    });                                                                                            \
  }                                                                                                \
  extern "C" __global__ void troupe_reduce_blocks_##dtype(ReduceArguments m) {                     \
    __shared__ Bytes16 memory[kReduceThreads];                                                     \
    tensor::with_function<!detail::kIsComplex<T>>(static_cast<Reduction>(m.function), [&](auto function) { \
      reduce_by_blocks<decltype(function)::value, false, T>(m, memory);                            \
    });                                                                                            \
  }                                                                                                \
  extern "C" __global__ void troupe_reduce_chunks_##dtype(ReduceArguments m) {                     \
    __shared__ Bytes16 memory[kReduceThreads];                                                     \
    tensor::with_function<!detail::kIsComplex<T>>(static_cast<Reduction>(m.function), [&](auto function) { \
      combine_chunks<decltype(function)::value, T>(m, memory);                                     \
    });                                                                                            \
  }                                                                                                \
  extern "C" __global__ void troupe_contract_threads_##dtype(ReduceArguments m) {                  \
    reduce_by_threads<Reduction::sum, true, T>(m);                                                 \
  }                                                                                                \
  extern "C" __global__ void troupe_contract_blocks_##dtype(ReduceArguments m) {                   \
    __shared__ Bytes16 memory[kReduceThreads];                                                     \
    reduce_by_blocks<Reduction::sum, true, T>(m, memory);                                          \
  }
TROUPE_EACH_TYPE(TROUPE_REDUCE)
