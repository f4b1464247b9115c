// What our kernels share: which elements a thread takes, where they lie, and arithmetic that complex numbers do without
// detours.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_arguments.hpp"
#include "troupe/backend/cuda/kernels/kernel_index.cuh"
#include "troupe/core/element.hpp"

namespace troupe::cuda {
namespace {

/// Where element `index`, in row-major order, lies in each of two arrays, in elements.
struct Offsets {
  long long a;
  long long b;
};
__device__ inline Offsets offsets(const Layout& layout, long long index) {
  if (layout.rank == 0) return {index, index};  // both lie side by side
  Offsets at{0, 0};
  for (int i = layout.rank - 1; i >= 0; --i) {
    const long long rest = index / layout.shape[i];
    const long long place = index - rest * layout.shape[i];
    at.a += place * layout.strides_a[i];
    at.b += place * layout.strides_b[i];
    index = rest;
  }
  return at;
}

/// a + b c, without the detour for infinities that the product of complex numbers takes.
template <class T>
__device__ T plus_product(T a, T b, T c) {
  if constexpr (detail::kIsComplex<T>)
    return T(a.real() + (b.real() * c.real() - b.imag() * c.imag()),
             a.imag() + (b.real() * c.imag() + b.imag() * c.real()));
  else
    return a + b * c;
}

template <class T>
__device__ T conjugated_if(bool conjugates, T number) {
  if constexpr (detail::kIsComplex<T>)
    return conjugates ? T(number.real(), -number.imag()) : number;
  else
    return number;
}

template <class T>
__device__ T without_imaginary(T number) {
  if constexpr (detail::kIsComplex<T>)
    return T(number.real(), 0);
  else
    return number;
}

}  // namespace
}  // namespace troupe::cuda
