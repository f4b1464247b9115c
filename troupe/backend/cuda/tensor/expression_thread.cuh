// What a compiled expression is made of: how a thread of its kernel takes a group of elements of each input and writes
// one of the output. The steps themselves are written by expression_source.cpp, and what each of them computes is the
// host's own code, op/tensor_functions.hpp. NVRTC compiles it in the worker.
#pragma once

#include "troupe/backend/cuda/kernels/converted.cuh"
#include "troupe/backend/cuda/tensor/expression_arguments.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::cuda {

/// Where a thread's group lies when all arrays lie side by side, or are one element: it has a number, and nothing else
/// is to be found out.
template <int items_of_group>
struct PlainGroup {
  static constexpr int kItems = items_of_group;
  unsigned number;
  int items;

  __device__ static PlainGroup of_thread(const CompiledArguments& m) {
    const unsigned number = blockIdx.x * kGroupThreads + threadIdx.x;
    const long long left = m.axes.row_items - static_cast<long long>(number) * kItems;
    return {number, left < kItems ? (left < 0 ? 0 : static_cast<int>(left)) : kItems};
  }
  template <class T>
  __device__ Group<T, kItems> load(const CompiledArguments& m, int input) const {
    Group<T, kItems> group;
    if (items == kItems) {
      group.raw = static_cast<const decltype(group.raw)*>(m.in[input])[number];
    } else {
#pragma unroll
      for (int i = 0; i < kItems; ++i)
        if (i < items) group.items[i] = static_cast<const T*>(m.in[input])[static_cast<long long>(number) * kItems + i];
    }
    return group;
  }
  template <class T>
  __device__ void store(const CompiledArguments& m, const Group<T, kItems>& group) const {
    if (items == kItems) {
      static_cast<decltype(Group<T, kItems>::raw)*>(m.out)[number] = group.raw;
    } else {
#pragma unroll
      for (int i = 0; i < kItems; ++i)
        if (i < items) static_cast<T*>(m.out)[static_cast<long long>(number) * kItems + i] = group.items[i];
    }
  }
};

/// The same for arrays of any strides.
template <int items_of_group>
struct StridedGroup {
  static constexpr int kItems = items_of_group;
  static constexpr int kOut = CompiledArguments::kMaxInputs;
  GroupPlace<kOut + 1> place;
  int items;

  __device__ static StridedGroup of_thread(const CompiledArguments& m) {
    const auto place = place_of_thread<kItems, kGroupThreads>(m.axes, blockIdx.x, threadIdx.x);
    return {place, place.items};
  }
  template <class T>
  __device__ Group<T, kItems> load(const CompiledArguments& m, int input) const {
    return load_group<T, kItems>(m.in[input], place.at[input], m.axes.strides[input], m.axes.ways[input], items);
  }
  template <class T>
  __device__ void store(const CompiledArguments& m, const Group<T, kItems>& group) const {
    store_group(group, m.out, place.at[kOut], m.axes.strides[kOut], m.axes.ways[kOut], items);
  }
};

/// A number of the expression. It comes with the arguments, so that an expression is compiled once for all numbers.
template <class C, class Arguments>
__device__ inline C number_of(const Arguments& m, int which) {
  return *reinterpret_cast<const C*>(&m.numbers[which]);
}

/// What a step gives, as it is rounded: no compiler may make a step's product part of the next step's sum, which would
/// round once instead of twice. So an expression is what its steps are one after another. `zero` comes with the
/// arguments, so that no compiler knows it; and what was done twice cannot be undone, as an exclusive or could.
__device__ inline float rounded(float number, unsigned zero) {
  return __uint_as_float(__float_as_uint(number) | zero);
}
__device__ inline double rounded(double number, unsigned zero) {
  return __hiloint2double(__double2hiint(number), __double2loint(number) | static_cast<int>(zero));
}
template <class R>
__device__ inline std::complex<R> rounded(const std::complex<R>& number, unsigned zero) {
  return {rounded(number.real(), zero), rounded(number.imag(), zero)};
}

template <class Out, class C>
__device__ inline Out written(C number) {
  if constexpr (std::is_same_v<Out, bool>)
    return !tensor::is_equal(number, C(0));
  else if constexpr (detail::kIsComplex<Out>)
    return Out(static_cast<typename Out::value_type>(number.real()),
               static_cast<typename Out::value_type>(number.imag()));
  else
    return converted<Out>(number);
}

}  // namespace troupe::cuda
