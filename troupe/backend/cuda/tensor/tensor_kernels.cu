// The kernels of the tensor family that take element by element: arithmetic with any strides, and permutations. What
// each function computes is the host's own code, op/tensor_functions.hpp.
#include "troupe/backend/cuda/tensor/tensor_device.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::cuda {
namespace {

template <class C>
__device__ inline C factor_of(const ElementwiseArguments& m, int i) {
  return *reinterpret_cast<const C*>(&m.factors[i]);
}

/// An input's number from its element.
template <class T>
__device__ inline detail::ComputeType<T> scaled(const ElementwiseArguments& m, int i, T element) {
  const detail::ComputeType<T> number = to_number(element);
  return (m.scaled >> i & 1) != 0 ? tensor::times(factor_of<detail::ComputeType<T>>(m, i), number) : number;
}

template <class T>
__device__ inline detail::ComputeType<T> load(const ElementwiseArguments& m, int i, long long at) {
  using C = detail::ComputeType<T>;
  if ((m.numbers >> i & 1) != 0) return factor_of<C>(m, i);
  if (i == 0 && m.has_condition) return static_cast<const unsigned char*>(m.in[0])[at] != 0 ? C(1) : C(0);
  return scaled(m, i, static_cast<const T*>(m.in[i])[at]);
}

template <auto function, int n, class C>
__device__ inline C applied(const C* in) {
  if constexpr (n == 1)
    return tensor::apply<function>(in[0]);
  else if constexpr (n == 2)
    return tensor::apply<function>(in[0], in[1]);
  else
    return tensor::apply<function>(in[0], in[1], in[2]);
}

/// 16 bytes of each array at a time. Needs arrays that lie side by side and are aligned to that; a rest stays.
template <auto function, int n, class T>
__device__ void apply_vectors(const ElementwiseArguments& m) {
  using C = detail::ComputeType<T>;
  constexpr int kItems = 16 / sizeof(T);
  union Vector {
    __device__ Vector() {}
    Bytes16 raw;
    T items[kItems];
  };
  for (long long i = first_index(); i < m.axes.count / kItems; i += index_step()) {
    Vector in[n];
    Vector out;
    for (int v = 0; v < n; ++v)
      if ((m.numbers >> v & 1) == 0) in[v].raw = static_cast<const Bytes16*>(m.in[v])[i];
    for (int item = 0; item < kItems; ++item) {
      C numbers[n];
      for (int v = 0; v < n; ++v)
        numbers[v] = (m.numbers >> v & 1) != 0 ? factor_of<C>(m, v) : scaled(m, v, in[v].items[item]);
      out.items[item] = from_number<T>(applied<function, n>(numbers));
    }
    static_cast<Bytes16*>(m.out)[i] = out.raw;
  }
}

template <auto function, int n, class T>
__device__ void apply_all(const ElementwiseArguments& m) {
  using C = detail::ComputeType<T>;
  long long done = 0;
  if (m.is_aligned) {
    apply_vectors<function, n, T>(m);
    done = m.axes.count / (16 / sizeof(T)) * (16 / sizeof(T));
  }
  for (long long i = done + first_index(); i < m.axes.count; i += index_step()) {
    ArrayOffsets<4> at;
    if (m.is_dense)
      at = {i, i, i, i};
    else
      at = offsets_of(m.axes, i);
    C numbers[n];
    for (int v = 0; v < n; ++v) numbers[v] = load<T>(m, v, at.at[v]);
    static_cast<T*>(m.out)[at.at[3]] = from_number<T>(applied<function, n>(numbers));
  }
}

template <class F, int n, class T>
__device__ void elementwise(const ElementwiseArguments& m) {
  tensor::with_function<!detail::kIsComplex<T>>(static_cast<F>(m.function),
                                        [&](auto function) { apply_all<decltype(function)::value, n, T>(m); });
}

/// A block of threads for each tile: its rows are read along the input's dense axis, and written along the output's.
template <class T>
__device__ void permute(const PermuteArguments& m) {
  __shared__ T tile[kPermuteTile][kPermuteTile + 1];
  const int across = threadIdx.x % kPermuteTile;
  const int first = threadIdx.x / kPermuteTile;
  const long long x_tiles = (m.x_extent + kPermuteTile - 1) / kPermuteTile;
  const long long y_tiles = (m.y_extent + kPermuteTile - 1) / kPermuteTile;
  for (long long block = blockIdx.x; block < m.outer.count * x_tiles * y_tiles; block += gridDim.x) {
    const long long outer = block / (x_tiles * y_tiles);
    const long long inside = block - outer * x_tiles * y_tiles;
    const long long x0 = inside % x_tiles * kPermuteTile;
    const long long y0 = inside / x_tiles * kPermuteTile;
    const ArrayOffsets<2> at = offsets_of(m.outer, outer);
    for (int row = first; row < kPermuteTile; row += kPermuteRows)
      if (x0 + row < m.x_extent && y0 + across < m.y_extent)
        tile[row][across] = static_cast<const T*>(m.in)[at.at[0] + (x0 + row) * m.x_in + (y0 + across) * m.y_in];
    __syncthreads();
    for (int row = first; row < kPermuteTile; row += kPermuteRows)
      if (x0 + across < m.x_extent && y0 + row < m.y_extent)
        static_cast<T*>(m.out)[at.at[1] + (x0 + across) * m.x_out + (y0 + row) * m.y_out] = tile[across][row];
    __syncthreads();
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe;  // for the names that the worker looks up
using namespace troupe::cuda;

#define TROUPE_EACH_TYPE(each)                                                                                      \
  each(f64, double) each(f32, float) each(f16, troupe::f16) each(bf16, troupe::bf16) each(c64, std::complex<float>) \
      each(c128, std::complex<double>)

#define TROUPE_ELEMENTWISE(dtype, T)                                                                         \
  extern "C" __global__ void troupe_unary_##dtype(ElementwiseArguments m) { elementwise<Unary, 1, T>(m); }   \
  extern "C" __global__ void troupe_binary_##dtype(ElementwiseArguments m) { elementwise<Binary, 2, T>(m); } \
  extern "C" __global__ void troupe_ternary_##dtype(ElementwiseArguments m) { elementwise<Ternary, 3, T>(m); }
TROUPE_EACH_TYPE(TROUPE_ELEMENTWISE)

#define TROUPE_PERMUTE(size, T) \
  extern "C" __global__ void troupe_permute_##size(PermuteArguments m) { permute<T>(m); }
TROUPE_PERMUTE(2, unsigned short)
TROUPE_PERMUTE(4, unsigned int)
TROUPE_PERMUTE(8, unsigned long long)
TROUPE_PERMUTE(16, Bytes16)
