// How a thread reads and writes a group of elements: in one access where they lie so, else one by one. Only for code on
// the GPU.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "troupe/backend/cuda/kernels/group_axes.hpp"
#include "troupe/core/element.hpp"

namespace troupe::cuda {

template <int size_bytes>
struct RawOf;
template <>
struct RawOf<1> {
  using type = unsigned char;
};
template <>
struct RawOf<2> {
  using type = unsigned short;
};
template <>
struct RawOf<4> {
  using type = unsigned;
};
template <>
struct RawOf<8> {
  using type = unsigned long long;
};
template <>
struct RawOf<16> {
  using type = Bytes16;
};

/// Elements side by side, as many as one access takes: 16 bytes at most.
template <class T, int n>
union Group {
  __device__ Group() {}
  typename RawOf<static_cast<int>(sizeof(T)) * n>::type raw;
  T items[n];
};

template <class T, int n>
__device__ inline Group<T, n> load_group(const void* in, long long at, long long stride, Way way, int items) {
  Group<T, n> group;
  const T* const from = static_cast<const T*>(in) + at;
  if (way == Way::whole && items == n) {
    group.raw = *reinterpret_cast<const decltype(group.raw)*>(from);
  } else if (way == Way::single) {
    const T element = *from;
#pragma unroll
    for (int i = 0; i < n; ++i) group.items[i] = element;
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i)
      if (i < items) group.items[i] = from[i * stride];
  }
  return group;
}

template <class T, int n>
__device__ inline void store_group(const Group<T, n>& group, void* out, long long at, long long stride, Way way,
                                   int items) {
  T* const to = static_cast<T*>(out) + at;
  if (way == Way::whole && items == n) {
    *reinterpret_cast<decltype(Group<T, n>::raw)*>(to) = group.raw;
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i)
      if (i < items) to[i * stride] = group.items[i];
  }
}

/// By the GPU's own instructions, which give what the conversions of f16 and bf16 give.
template <class T>
__device__ inline detail::ComputeType<T> to_number(T element) {
  if constexpr (std::is_same_v<T, f16>)
    return __half2float(__ushort_as_half(element.bits));
  else if constexpr (std::is_same_v<T, bf16>)
    return __bfloat162float(__ushort_as_bfloat16(element.bits));
  else
    return element;
}
template <class T>
__device__ inline T from_number(detail::ComputeType<T> number) {
  if constexpr (std::is_same_v<T, f16>) {
    T element;
    element.bits = __half_as_ushort(__float2half_rn(number));
    return element;
  } else if constexpr (std::is_same_v<T, bf16>) {
    T element;
    element.bits = __bfloat16_as_ushort(__float2bfloat16_rn(number));
    return element;
  } else {
    return number;
  }
}

/// Rounded once. A NaN becomes that of `from_number`; the instruction keeps its payload.
template <class T>
__device__ inline T from_double(double number) {
  T element;
  if constexpr (std::is_same_v<T, f16>)
    element.bits = __half_as_ushort(__double2half(number));
  else
    element.bits = __bfloat16_as_ushort(__double2bfloat16(number));
  if (number != number) element.bits = 0x7FFF;
  return element;
}

}  // namespace troupe::cuda
