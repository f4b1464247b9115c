// What every kernel of the tensor family begins with: which elements are this thread's, where they lie, and what they
// are as numbers. Only for code on the GPU.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "troupe/backend/cuda/kernels/kernel_index.cuh"
#include "troupe/backend/cuda/tensor/tensor_arguments.hpp"
#include "troupe/core/element.hpp"

namespace troupe::cuda {

/// Where element `index` lies in each of the arrays. 32-bit divisions where they do: they take a fraction of the time.
template <int n>
struct ArrayOffsets {
  long long at[n];
};
template <int n>
__device__ inline ArrayOffsets<n> offsets_of(const KernelAxes<n>& axes, long long index) {
  ArrayOffsets<n> offsets{};
  const bool is_small = axes.count <= 0x7fffffffLL;
#pragma unroll 1
  for (int i = axes.rank - 1; i >= 0; --i) {
    long long here = index;
    if (i > 0) {
      const long long rest =
          is_small ? static_cast<unsigned>(index) / static_cast<unsigned>(axes.shape[i]) : index / axes.shape[i];
      here = index - rest * axes.shape[i];
      index = rest;
    }
    for (int v = 0; v < n; ++v) offsets.at[v] += here * axes.strides[v][i];
  }
  return offsets;
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

}  // namespace troupe::cuda
