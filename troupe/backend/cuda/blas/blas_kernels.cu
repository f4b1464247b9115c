// The kernels of Troupe's own that linear algebra needs beside cuBLAS: elements with any strides, and matrices of which
// one half is meant, written out as whole ones where cuBLAS does not take them as they lie.
#include "troupe/backend/cuda/blas/blas_arguments.hpp"
#include "troupe/backend/cuda/kernels/device_math.cuh"

namespace troupe::cuda {
namespace {

template <class T>
__device__ const T& factor(const Bytes16& bytes) {
  return *reinterpret_cast<const T*>(&bytes);
}

/// out = alpha in, or out += alpha in, of the conjugate if wanted.
template <class T>
__device__ void scale(const Bytes16& alpha, const void* in, void* out, bool conjugates, bool adds,
                      const Layout& layout) {
  for (long long i = first_index(); i < layout.count; i += index_step()) {
    const Offsets at = offsets(layout, i);
    T& to = static_cast<T*>(out)[at.b];
    const T number = conjugated_if(conjugates, static_cast<const T*>(in)[at.a]);
    to = plus_product(adds ? to : T{}, factor<T>(alpha), number);
  }
}

template <class T>
__device__ void rotate(const Bytes16& cosine, const Bytes16& sine, bool swaps, void* x, void* y,
                       const Layout& layout) {
  const T c = factor<T>(cosine);
  const T s = factor<T>(sine);
  for (long long i = first_index(); i < layout.count; i += index_step()) {
    const Offsets at = offsets(layout, i);
    T& in_x = static_cast<T*>(x)[at.a];
    T& in_y = static_cast<T*>(y)[at.b];
    const T a = in_x;
    const T b = in_y;
    in_x = swaps ? b : plus_product(plus_product(T{}, c, a), s, b);
    in_y = swaps ? a : plus_product(plus_product(T{}, c, b), -conjugated_if(true, s), a);
  }
}

/// The whole matrix that one half stands for, row-major.
template <class T>
__device__ void write_out(const HalfMatrix& m, void* out) {
  const auto at = [&](long long row, long long column) {
    return static_cast<const T*>(m.matrix.data)[row * m.matrix.row_stride + column * m.matrix.column_stride];
  };
  for (long long i = first_index(); i < m.size * m.size; i += index_step()) {
    const long long row = i / m.size;
    const long long column = i - row * m.size;
    const bool is_there = m.is_lower ? row >= column : row <= column;
    T element{};
    if (row == column && m.meaning == HalfMeaning::unit_triangular)
      element = T(1);
    else if (is_there)
      element = at(row, column);
    else if (m.meaning == HalfMeaning::symmetric)
      element = at(column, row);
    else if (m.meaning == HalfMeaning::hermitian)
      element = conjugated_if(true, at(column, row));
    if (row == column && m.meaning == HalfMeaning::hermitian) element = without_imaginary(element);
    static_cast<T*>(out)[i] = conjugated_if(m.conjugates, element);
  }
}

/// One half of c = product + beta c; the product is whole and row-major.
template <class T>
__device__ void keep_half(const void* product, const Bytes16& beta, bool reads_c, const HalfMatrix& c) {
  for (long long i = first_index(); i < c.size * c.size; i += index_step()) {
    const long long row = i / c.size;
    const long long column = i - row * c.size;
    if (!(c.is_lower ? row >= column : row <= column)) continue;
    T& to = static_cast<T*>(c.matrix.data)[row * c.matrix.row_stride + column * c.matrix.column_stride];
    T sum = static_cast<const T*>(product)[i];
    if (reads_c) sum = plus_product(sum, factor<T>(beta), to);
    to = row == column && c.meaning == HalfMeaning::hermitian ? without_imaginary(sum) : sum;
  }
}

/// The first row with a zero on the diagonal, counted from 1, or 0. One block.
template <class T>
__device__ void find_zero(const StridedMatrix& m, long long size, int* verdict) {
  __shared__ int first;
  if (threadIdx.x == 0) first = 0x7fffffff;
  __syncthreads();
  for (long long i = threadIdx.x; i < size; i += blockDim.x)
    if (static_cast<const T*>(m.data)[i * (m.row_stride + m.column_stride)] == T{})
      atomicMin(&first, static_cast<int>(i < 0x7ffffffe ? i + 1 : 0x7ffffffe));
  __syncthreads();
  if (threadIdx.x == 0) *verdict = first == 0x7fffffff ? 0 : first;
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_BLAS_KERNELS(dtype, T)                                                                                  \
  extern "C" __global__ void troupe_scale_##dtype(Bytes16 alpha, const void* in, void* out, bool conjugates,          \
                                                  bool adds, Layout layout) {                                         \
    scale<T>(alpha, in, out, conjugates, adds, layout);                                                               \
  }                                                                                                                   \
  extern "C" __global__ void troupe_rotate_##dtype(Bytes16 cosine, Bytes16 sine, bool swaps, void* x, void* y,        \
                                                   Layout layout) {                                                   \
    rotate<T>(cosine, sine, swaps, x, y, layout);                                                                     \
  }                                                                                                                   \
  extern "C" __global__ void troupe_write_out_##dtype(HalfMatrix m, void* out) { write_out<T>(m, out); }              \
  extern "C" __global__ void troupe_keep_half_##dtype(const void* product, Bytes16 beta, bool reads_c, HalfMatrix c) { \
    keep_half<T>(product, beta, reads_c, c);                                                                          \
  }                                                                                                                   \
  extern "C" __global__ void troupe_find_zero_##dtype(StridedMatrix m, long long size, int* verdict) {                \
    find_zero<T>(m, size, verdict);                                                                                   \
  }
TROUPE_BLAS_KERNELS(f32, float)
TROUPE_BLAS_KERNELS(f64, double)
TROUPE_BLAS_KERNELS(c64, std::complex<float>)
TROUPE_BLAS_KERNELS(c128, std::complex<double>)

/// cuBLAS counts from 1.
extern "C" __global__ void troupe_from_zero(long long* index) { --*index; }

extern "C" __global__ void troupe_put_pointers(PointerList list, void** out) {
  for (int i = threadIdx.x; i < list.count; i += blockDim.x) out[i] = list.pointers[i];
}

/// For what cuBLAS does not take of 8-bit integers. A thread for each element.
extern "C" __global__ void troupe_gemm_i8(GemmArguments m) {
  const int alpha = *reinterpret_cast<const int*>(&m.alpha);
  const int beta = *reinterpret_cast<const int*>(&m.beta);
  for (long long i = first_index(); i < m.rows * m.columns; i += index_step()) {
    const long long row = i / m.columns;
    const long long column = i - row * m.columns;
    int sum = 0;
    for (long long k = 0; k < m.depth; ++k)
      sum += static_cast<const signed char*>(m.a.data)[row * m.a.row_stride + k * m.a.column_stride] *
             static_cast<const signed char*>(m.b.data)[k * m.b.row_stride + column * m.b.column_stride];
    int& out = static_cast<int*>(m.c.data)[row * m.c.row_stride + column * m.c.column_stride];
    out = alpha * sum + (m.reads_c ? beta * out : 0);
  }
}
