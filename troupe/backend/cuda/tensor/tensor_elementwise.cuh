// What the kernels of the tensor family that take element by element do: a function of one to three arrays of any
// strides, or of numbers. What each function computes is the host's own code, op/tensor_functions.hpp. A kernel for
// each function: so each needs no more registers than its own, and short ones are not slowed down by long ones.
#pragma once

#include "troupe/backend/cuda/kernels/group_access.cuh"
#include "troupe/backend/cuda/tensor/tensor_arguments.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::cuda {

template <auto function>
inline constexpr int kInputsOf = std::is_same_v<decltype(function), Unary>    ? 1
                                 : std::is_same_v<decltype(function), Binary> ? 2
                                                                              : 3;

/// Whether the input is not of the type that is computed with, but bool.
template <auto function, int input>
constexpr bool is_condition() {
  if constexpr (std::is_same_v<decltype(function), Ternary>)
    return function == Ternary::select && input == 0;
  else
    return false;
}

template <auto function, class C>
__device__ inline C applied(const C* in) {
  if constexpr (kInputsOf<function> == 1)
    return tensor::apply<function>(in[0]);
  else if constexpr (kInputsOf<function> == 2)
    return tensor::apply<function>(in[0], in[1]);
  else
    return tensor::apply<function>(in[0], in[1], in[2]);
}

/// Blocks that an SM shall have room for: all that it can run, but fewer where a group of each input is many numbers,
/// and as it comes where a thread reads more than 16 bytes of an array or functions need many registers.
template <auto function, class T>
inline constexpr int kBlocksAtOnce = sizeof(T) > 4                                ? 1
                                     : sizeof(T) == 2 && kInputsOf<function> == 3 ? 6
                                                                                  : 8;

/// The groups of one thread.
template <auto function, class T>
class ElementwiseThread {
 public:
  static constexpr int kInputs = kInputsOf<function>;
  static constexpr int kItems = group_items(sizeof(T));
  static constexpr int kGroups = groups_of_thread(sizeof(T));
  using Arguments = ElementwiseArguments<kInputs>;

  /// Where all lies side by side, there is next to nothing to find out, and next to nothing is done for it.
  __device__ void run(const Arguments& m) {
    constexpr int kBlock = kGroupThreads * kGroups;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const unsigned thread = threadIdx.x + g * kGroupThreads;
      numbers_[g] = blockIdx.x * kBlock + thread;
      places_[g].items = kItems;
      if (numbers_[g] < m.plain) {
        load_plain<0>(m, g);
      } else {
        numbers_[g] = ~0U;
        places_[g] = place_of_thread<kItems, kBlock>(m.axes, blockIdx.x, thread);
        if (places_[g].items > 0) load<0>(m, g);
      }
    }
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
      if (places_[g].items > 0) compute(m, g);
  }

 private:
  using C = detail::ComputeType<T>;

  template <int i>
  __device__ void load_plain(const Arguments& m, int g) {
    if constexpr (i < kInputs) {
      if (m.axes.ways[i] != Way::number) {
        if constexpr (is_condition<function, i>())
          condition_[g].raw = static_cast<const decltype(condition_[g].raw)*>(m.in[i])[numbers_[g]];
        else
          in_[g][i].raw = static_cast<const decltype(in_[g][i].raw)*>(m.in[i])[numbers_[g]];
      }
      load_plain<i + 1>(m, g);
    }
  }

  template <int i>
  __device__ void load(const Arguments& m, int g) {
    if constexpr (i < kInputs) {
      if (m.axes.ways[i] != Way::number) {
        if constexpr (is_condition<function, i>())
          condition_[g] = loaded<unsigned char>(m, i, g);
        else
          in_[g][i] = loaded<T>(m, i, g);
      }
      load<i + 1>(m, g);
    }
  }
  template <class E>
  __device__ Group<E, kItems> loaded(const Arguments& m, int i, int g) const {
    return load_group<E, kItems>(m.in[i], places_[g].at[i], m.axes.strides[i], m.axes.ways[i], places_[g].items);
  }

  template <int i>
  __device__ void to_numbers(const Arguments& m, int g, C (&numbers)[kItems][kInputs]) const {
    if constexpr (i < kInputs) {
      const C factor = *reinterpret_cast<const C*>(&m.factors[i]);
      if (m.axes.ways[i] == Way::number) {
#pragma unroll
        for (int item = 0; item < kItems; ++item) numbers[item][i] = factor;
      } else if constexpr (is_condition<function, i>()) {
#pragma unroll
        for (int item = 0; item < kItems; ++item) numbers[item][i] = condition_[g].items[item] != 0 ? C(1) : C(0);
      } else {
#pragma unroll
        for (int item = 0; item < kItems; ++item) numbers[item][i] = to_number(in_[g][i].items[item]);
        if ((m.scaled >> i & 1) != 0) {
#pragma unroll
          for (int item = 0; item < kItems; ++item) numbers[item][i] = tensor::times(factor, numbers[item][i]);
        }
      }
      to_numbers<i + 1>(m, g, numbers);
    }
  }

  __device__ void compute(const Arguments& m, int g) const {
    C numbers[kItems][kInputs];
    to_numbers<0>(m, g, numbers);
    Group<T, kItems> out;
#pragma unroll
    for (int item = 0; item < kItems; ++item) out.items[item] = from_number<T>(applied<function>(numbers[item]));
    if (numbers_[g] != ~0U)
      static_cast<decltype(out.raw)*>(m.out)[numbers_[g]] = out.raw;
    else
      store_group(out, m.out, places_[g].at[kInputs], m.axes.strides[kInputs], m.axes.ways[kInputs], places_[g].items);
  }

  unsigned numbers_[kGroups];  // of plain groups; else none
  GroupPlace<kInputs + 1> places_[kGroups];
  Group<T, kItems> in_[kGroups][kInputs];
  Group<unsigned char, kItems> condition_[kGroups];
};

}  // namespace troupe::cuda

/// `troupe_exp_f32` and its like.
#define TROUPE_ELEMENTWISE(name, function, dtype, T)                                                                  \
  extern "C" __global__ void __launch_bounds__(troupe::cuda::kGroupThreads, troupe::cuda::kBlocksAtOnce<function, T>) \
      troupe_##name##_##dtype(troupe::cuda::ElementwiseArguments<troupe::cuda::kInputsOf<function>> m) {              \
    troupe::cuda::ElementwiseThread<function, T>().run(m);                                                            \
  }
#define TROUPE_FOR_REAL(name, function)                \
  TROUPE_ELEMENTWISE(name, function, f64, double)      \
  TROUPE_ELEMENTWISE(name, function, f32, float)       \
  TROUPE_ELEMENTWISE(name, function, f16, troupe::f16) \
  TROUPE_ELEMENTWISE(name, function, bf16, troupe::bf16)
#define TROUPE_FOR_ALL(name, function)                         \
  TROUPE_FOR_REAL(name, function)                              \
  TROUPE_ELEMENTWISE(name, function, c64, std::complex<float>) \
  TROUPE_ELEMENTWISE(name, function, c128, std::complex<double>)
