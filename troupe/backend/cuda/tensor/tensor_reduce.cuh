// What the kernels that combine terms share: the types that they keep, how threads put together what each has, and how
// an output is written. Which terms are combined, and in which order, depends on the shapes alone: no atomics, the same
// result every time.
#pragma once

#include "troupe/backend/cuda/kernels/group_access.cuh"
#include "troupe/backend/cuda/tensor/tensor_arguments.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::cuda {

template <Reduction function>
inline constexpr bool kSelects = function == Reduction::min || function == Reduction::max;

/// What is kept of terms: what all terms would be but for rounding, so of selections a number as it was.
template <Reduction function, class T>
using Kept = std::conditional_t<!kSelects<function>, tensor::Accumulator<function, T>,
                                std::conditional_t<std::is_integral_v<T>, T, detail::ComputeType<T>>>;

template <Reduction function, class T>
__device__ inline Kept<function, T> to_kept(T element) {
  if constexpr (detail::kIsComplex<T>)
    return {element.real(), element.imag()};
  else if constexpr (std::is_integral_v<T>)
    return element;
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
template <std::integral T>
struct OtherOutput<T> {
  using type = tensor::Accumulator<Reduction::sum, T>;
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
  } else if constexpr (std::is_integral_v<Out>) {
    if (reads) value = tensor::plus(value, tensor::times(beta, static_cast<A>(element)));
    element = static_cast<Out>(value);
  } else {
    if (reads) value += beta * static_cast<A>(to_number(element));
    element = static_cast<Out>(value);
  }
}

/// From what all terms of an output were combined to, to the output. A mean of floats is a sum until here.
template <Reduction function, class T>
__device__ void write_result(const ReduceEnd& end, long long at, Kept<function, T> all) {
  using A = tensor::Accumulator<function, T>;
  A result = tensor::finish<function>(A(all), static_cast<double>(end.terms));
  if constexpr (function == Reduction::sum && !std::is_integral_v<T>)
    if (end.function == static_cast<int>(Reduction::mean))
      result = tensor::finish<Reduction::mean>(result, static_cast<double>(end.terms));
  const A alpha = *reinterpret_cast<const A*>(&end.alpha);
  const A beta = *reinterpret_cast<const A*>(&end.beta);
  if (alpha != A(1)) result = tensor::times(alpha, result);
  if constexpr (std::is_integral_v<T> && std::is_same_v<A, double>)
    store<double>(end.out, at, result, beta, end.reads_out);
  else if (end.out_differs)
    store<typename OtherOutput<T>::type>(end.out, at, result, beta, end.reads_out);
  else
    store<T>(end.out, at, result, beta, end.reads_out);
}

/// What a chunk gives for an output, which lies `at` there.
template <Reduction function, class T>
__device__ void give(const ReduceEnd& end, long long chunk, long long output, long long at, Kept<function, T> all) {
  if (end.chunks == 1)
    write_result<function, T>(end, at, all);
  else
    static_cast<Kept<function, T>*>(end.partials)[chunk * end.outputs + output] = all;
}

/// What `lanes` threads have that are `apart` from one another in the block, combined in pairs: the first of them gets
/// it. `n` numbers each. All threads of the block must call it; needs memory for half of them.
template <Reduction function, int n, class A>
__device__ void combine_lanes(A (&mine)[n], unsigned lanes, unsigned apart, Bytes16* memory) {
  A* const shared = reinterpret_cast<A*>(memory);
  const unsigned lane = threadIdx.x / apart % lanes;
  const unsigned others = threadIdx.x % apart + threadIdx.x / (apart * lanes) * apart * lanes / 2;
#pragma unroll 1
  for (unsigned half = lanes / 2; half > 0; half /= 2) {
    const unsigned place = others + lane % half * apart;
    if (lane >= half && lane < 2 * half) {
#pragma unroll
      for (int i = 0; i < n; ++i) shared[i * (kReduceThreads / 2) + place] = mine[i];
    }
    __syncthreads();
    if (lane < half) {
#pragma unroll
      for (int i = 0; i < n; ++i)
        mine[i] = tensor::combine<function>(mine[i], shared[i * (kReduceThreads / 2) + place]);
    }
    __syncthreads();
  }
}

template <class A>
__device__ inline A from_lane(A mine, unsigned other) {
  if constexpr (detail::kIsComplex<A>)
    return A(__shfl_xor_sync(~0U, mine.real(), other), __shfl_xor_sync(~0U, mine.imag(), other));
  else
    return __shfl_xor_sync(~0U, mine, other);
}

/// The same for neighbours in a warp, at most 32, without memory. All threads of the warp must call it.
template <Reduction function, class A>
__device__ inline A combine_neighbours(A mine, unsigned lanes) {
#pragma unroll 1
  for (unsigned half = lanes / 2; half > 0; half /= 2) mine = tensor::combine<function>(mine, from_lane(mine, half));
  return mine;
}

/// Calls `call` with the function as a constant; of a mean of floats with the sum, which it is until the end.
template <class T, class Call>
__device__ void with_reduction(int number, Call&& call) {
  const auto function = static_cast<Reduction>(number);
  if constexpr (std::is_integral_v<T>) {
    if (function == Reduction::mean) call(std::integral_constant<Reduction, Reduction::mean>{});
    tensor::with_function<std::int64_t>(function, call);
  } else {
    tensor::with_function<T>(function == Reduction::mean ? Reduction::sum : function, [&](auto known) {
      if constexpr (decltype(known)::value != Reduction::mean) call(known);
    });
  }
}

}  // namespace troupe::cuda

#define TROUPE_EACH_TENSOR_TYPE(each)                                                                               \
  each(f64, double) each(f32, float) each(f16, troupe::f16) each(bf16, troupe::bf16) each(c64, std::complex<float>) \
      each(c128, std::complex<double>)
