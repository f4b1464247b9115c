// Convolutions and their gradients as products of matrices of which one is looked up element by element: right for all
// shapes, strides and types. A block makes a tile of the result; its threads keep 4 by 4 sums each, and take their
// terms in an order that depends on the depth alone, so a sample has the same bits in any batch.
#include "troupe/backend/cuda/dnn/dnn_arguments.hpp"
#include "troupe/backend/cuda/kernels/group_access.cuh"
#include "troupe/op/dnn_functions.hpp"

namespace troupe::cuda {
namespace {

/// Where an index of the depth or of the columns leads.
struct ProductPlace {
  long long first;   // in the first factor, or in the result
  long long second;  // in the second factor, without space
  long long space[3];
  bool is_there;
};

__device__ inline ProductPlace place_of(const DnnProductAxis& axis, long long index) {
  ProductPlace place;
  place.is_there = index < axis.count;
  long long rest = place.is_there ? index : 0;
  place.first = 0;
#pragma unroll
  for (int i = 2; i >= 0; --i) {
    const long long next = rest / axis.extents[i];
    const long long at = rest - next * axis.extents[i];
    place.first += at * axis.strides[i + 1];
    place.space[i] = at * axis.factor[i] + axis.offset[i];
    rest = next;
  }
  place.first += rest * axis.strides[0];
  place.second = rest * axis.outer_stride;
  return place;
}

/// Of the addend, along the columns.
__device__ inline long long addend_offset(const DnnProductAxis& axis, long long index) {
  long long at = 0;
#pragma unroll
  for (int i = 2; i >= 0; --i) {
    const long long next = index / axis.extents[i];
    at += (index - next * axis.extents[i]) * axis.addend_strides[i + 1];
    index = next;
  }
  return at + index * axis.addend_strides[0];
}

/// Element (k, n) of the second factor; 0 in padding.
template <class T>
__device__ detail::ComputeType<T> look_up(const DnnProductArguments& m, const T* b, const ProductPlace& k,
                                          const ProductPlace& n) {
  if (!k.is_there || !n.is_there) return 0;
  long long at = k.second + n.second;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    long long place = m.divides ? n.space[i] - k.space[i] : n.space[i] + k.space[i];
    if (place < 0) return 0;
    if (m.divides) {
      const long long whole = place / m.step[i];
      if (whole * m.step[i] != place) return 0;
      place = whole;
    }
    if (place >= m.extents[i]) return 0;
    at += place * m.strides[i];
  }
  return to_number(b[at]);
}

template <class T>
__device__ void multiply(const DnnProductArguments& m) {
  using C = detail::ComputeType<T>;
  constexpr int kSide = kDnnTile / 16;  // of the sums of a thread
  __shared__ C tile_a[kDnnTileDepth][kDnnTile + 1];
  __shared__ C tile_b[kDnnTileDepth][kDnnTile + 1];
  __shared__ ProductPlace depth[kDnnTileDepth];
  __shared__ ProductPlace columns[kDnnTile];
  const long long group = m.group + blockIdx.y;
  const T* const a = static_cast<const T*>(m.a) + group * m.group_a;
  const T* const b = static_cast<const T*>(m.b) + group * m.group_b;
  const long long first_row = static_cast<long long>(blockIdx.x) % m.row_tiles * kDnnTile;
  const long long first_column = static_cast<long long>(blockIdx.x) / m.row_tiles * kDnnTile;
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / 16, column = thread % 16;
  if (thread < kDnnTile) columns[thread] = place_of(m.columns, first_column + thread);
  C sums[kSide][kSide] = {};
  for (long long begin = 0; begin < m.depth.count; begin += kDnnTileDepth) {
    __syncthreads();  // the tiles were used, and on the first turn the columns are there
    if (thread < kDnnTileDepth) depth[thread] = place_of(m.depth, begin + thread);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDnnTile * kDnnTileDepth / kDnnProductThreads; ++i) {
      const int at = thread + i * kDnnProductThreads;
      const int k = at % kDnnTileDepth, r = at / kDnnTileDepth;
      const bool is_there = depth[k].is_there && first_row + r < m.rows;
      tile_a[k][r] = is_there ? to_number(a[depth[k].first + (first_row + r) * m.row_stride_a]) : C(0);
      const int n = at % kDnnTile, l = at / kDnnTile;
      tile_b[l][n] = look_up(m, b, depth[l], columns[n]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDnnTileDepth; ++k) {
      C of_a[kSide], of_b[kSide];
#pragma unroll
      for (int i = 0; i < kSide; ++i) {
        of_a[i] = tile_a[k][row + i * 16];
        of_b[i] = tile_b[k][column + i * 16];
      }
#pragma unroll
      for (int i = 0; i < kSide; ++i)
#pragma unroll
        for (int j = 0; j < kSide; ++j) sums[i][j] += of_a[i] * of_b[j];
    }
  }
  __syncthreads();  // without any depth, the columns were not waited for yet
  T* const out = static_cast<T*>(m.out) + group * m.group_out;
  const auto activation = static_cast<DnnActivation>(m.activation);
#pragma unroll
  for (int j = 0; j < kSide; ++j) {
    const int n = column + j * 16;
    if (!columns[n].is_there) continue;
    const long long addend_at = m.addend ? addend_offset(m.columns, first_column + n) + group * m.group_addend : 0;
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
      const long long r = first_row + row + i * 16;
      if (r >= m.rows) continue;
      C sum = sums[i][j];
      if (m.bias) sum += to_number(static_cast<const T*>(m.bias)[(group * m.rows + r) * m.bias_stride]);
      if (m.addend) sum += to_number(static_cast<const T*>(m.addend)[addend_at + r * m.row_stride_addend]);
      if (activation != DnnActivation::none) sum = dnn::activated(activation, sum, static_cast<C>(m.alpha));
      out[columns[n].first + r * m.row_stride_out] = from_number<T>(sum);
    }
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_DNN_PRODUCT(dtype, T)                                                                                   \
  extern "C" __global__ void __launch_bounds__(kDnnProductThreads) troupe_dnn_product_##dtype(DnnProductArguments m) { \
    multiply<T>(m);                                                                                                    \
  }
TROUPE_DNN_PRODUCT(f32, float)
TROUPE_DNN_PRODUCT(f64, double)
TROUPE_DNN_PRODUCT(f16, troupe::f16)
TROUPE_DNN_PRODUCT(bf16, troupe::bf16)
