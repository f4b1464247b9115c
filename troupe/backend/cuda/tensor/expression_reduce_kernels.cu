// The kernels of expressions that end in a reduction: one that takes their steps one after another, for expressions
// that are not compiled, and one that finishes what any of them has begun.
#include "troupe/backend/cuda/tensor/expression_interpreter.cuh"
#include "troupe/backend/cuda/tensor/expression_reduce.cuh"

namespace troupe::cuda {
namespace {

/// Once in the code, not once for each way and function.
template <class C>
__device__ __noinline__ C interpreted_apart(const ExpressionReduceArguments& m, const long long* at) {
  return interpreted<C>(m, at);
}

template <class C>
struct Interpreted {
  using Number = C;
  template <int n>
  __device__ static void load(const ExpressionReduceArguments& m, const InputPlaces& at, const long long* strides,
                              int items, C (&numbers)[n]) {
    InputPlaces place = at;
#pragma unroll 1
    for (int i = 0; i < items; ++i) {
      const C number = interpreted_apart<C>(m, place.at);
#pragma unroll
      for (int j = 0; j < n; ++j)
        if (j == i) numbers[j] = number;
      for (int v = 0; v < m.inputs; ++v) place.at[v] += strides[v];
    }
  }
};

/// For combine_lanes, of any function.
template <class C>
inline constexpr int kMemory = ExpressionReduce<Reduction::sum, Interpreted<C>>::kMemory;

template <class C>
__device__ void interpret_rows(const ExpressionReduceArguments& m) {
  __shared__ Bytes16 memory[kMemory<C>];
  with_reduction<C>(m.function, [&](auto function) {
    ExpressionReduce<decltype(function)::value, Interpreted<C>>::rows(m, memory);
  });
}
template <class C>
__device__ void interpret_columns(const ExpressionReduceArguments& m) {
  __shared__ Bytes16 memory[kMemory<C>];
  with_reduction<C>(m.function, [&](auto function) {
    ExpressionReduce<decltype(function)::value, Interpreted<C>>::columns(m, memory);
  });
}

/// Neighbours take neighbouring outputs; lanes their chunks in turn.
template <Reduction function, class C>
__device__ void finish(const FinishReduceArguments& m, Bytes16* memory) {
  using A = Kept<function, C>;
  using Accumulator = tensor::Accumulator<function, C>;
  const unsigned width = kReduceThreads / m.lanes;
  const unsigned lane = threadIdx.x / width;
  const long long output = static_cast<long long>(blockIdx.x) * width + threadIdx.x % width;
  A all[1] = {tensor::nothing<function, A>()};
#pragma unroll 4
  for (long long chunk = lane; output < m.outputs && chunk < m.chunks; chunk += m.lanes)
    all[0] = tensor::combine<function>(all[0], static_cast<const A*>(m.partials)[chunk * m.outputs + output]);
  if (m.lanes > 1) combine_lanes<function>(all, m.lanes, width, memory);
  if (lane != 0 || output >= m.outputs) return;
  Accumulator result = tensor::finish<function>(Accumulator(all[0]), static_cast<double>(m.terms));
  if constexpr (function == Reduction::sum)
    if (m.function == static_cast<int>(Reduction::mean))
      result = tensor::finish<Reduction::mean>(result, static_cast<double>(m.terms));
  const long long at = offsets_of(m.axes, m.first + output).at[0];
  const auto type = static_cast<DType>(m.out_type);
  if constexpr (detail::kIsComplex<Accumulator>) {
    if (type == DType::f32 || type == DType::f64) return store_as<double>(m.out, at, type, result.real());
  }
  store_as<Accumulator>(m.out, at, type, result);
}

template <class C>
__device__ void finish_any(const FinishReduceArguments& m) {
  __shared__ Bytes16 memory[kReduceThreads / 2];
  with_reduction<C>(m.function, [&](auto function) { finish<decltype(function)::value, C>(m, memory); });
}

}  // namespace
}  // namespace troupe::cuda

#define TROUPE_EXPRESSION_REDUCE(dtype, C)                                                                    \
  extern "C" __global__ void __launch_bounds__(troupe::cuda::kReduceThreads)                                  \
      troupe_interpret_rows_##dtype(const __grid_constant__ troupe::cuda::ExpressionReduceArguments m) {      \
    troupe::cuda::interpret_rows<C>(m);                                                                       \
  }                                                                                                           \
  extern "C" __global__ void __launch_bounds__(troupe::cuda::kReduceThreads)                                  \
      troupe_interpret_columns_##dtype(const __grid_constant__ troupe::cuda::ExpressionReduceArguments m) {   \
    troupe::cuda::interpret_columns<C>(m);                                                                    \
  }                                                                                                           \
  extern "C" __global__ void __launch_bounds__(troupe::cuda::kReduceThreads)                                  \
      troupe_finish_reduce_##dtype(const __grid_constant__ troupe::cuda::FinishReduceArguments m) {           \
    troupe::cuda::finish_any<C>(m);                                                                           \
  }
TROUPE_EXPRESSION_REDUCE(f32, float)
TROUPE_EXPRESSION_REDUCE(f64, double)
TROUPE_EXPRESSION_REDUCE(c64, std::complex<float>)
TROUPE_EXPRESSION_REDUCE(c128, std::complex<double>)
