// The kernels that move elements of a size, whatever they are: copies with any strides, and permutations by tiles.
#include "troupe/backend/cuda/kernels/group_access.cuh"
#include "troupe/backend/cuda/memory/memory_arguments.hpp"

namespace troupe::cuda {
namespace {

template <class T>
__device__ void copy(const MoveArguments& m) {
  constexpr int kItems = moved_items(sizeof(T));
  const GroupPlace<2> place = place_of_thread<kItems, kGroupThreads>(m.axes, blockIdx.x, threadIdx.x);
  if (place.items <= 0) return;
  const Group<T, kItems> group =
      load_group<T, kItems>(m.in, place.at[0], m.axes.strides[0], m.axes.ways[0], place.items);
  store_group(group, m.out, place.at[1], m.axes.strides[1], m.axes.ways[1], place.items);
}

/// Elements that are read and written `n` at a time, in words, which then must be side by side in both arrays.
template <class T, class Word>
union Packed {
  __device__ Packed() {}
  Word word;
  T items[sizeof(Word) / sizeof(T)];
};

/// A block of threads for each tile: its rows are read along the input's dense axis, and written along the output's.
template <class T, class Word>
__device__ void permute(const PermuteArguments& m) {
  constexpr int n = sizeof(Word) / sizeof(T);
  __shared__ Word tile[kPermuteTile * n][kPermuteTile + 1];
  const int across = threadIdx.x % kPermuteTile;
  const int first = threadIdx.x / kPermuteTile;
  const unsigned upper = divided(blockIdx.x, m.by_x_tiles);
  const unsigned outer = divided(upper, m.by_y_tiles);
  const long long x0 = static_cast<long long>(blockIdx.x - upper * m.x_tiles) * (kPermuteTile * n);
  const long long y0 = static_cast<long long>(upper - outer * m.y_tiles) * (kPermuteTile * n);
  const ArrayOffsets<2> at = offsets_of(m.outer, outer);
  const T* const in = static_cast<const T*>(m.in) + at.at[0] + x0 * m.x_in + (y0 + across * n) * m.y_in;
  T* const out = static_cast<T*>(m.out) + at.at[1] + (x0 + across * n) * m.x_out + y0 * m.y_out;
  if (y0 + across * n < m.y_extent) {
#pragma unroll
    for (int row = first; row < kPermuteTile * n; row += kPermuteRows)
      if (x0 + row < m.x_extent) tile[row][across] = *reinterpret_cast<const Word*>(in + row * m.x_in);
  }
  __syncthreads();
  if (x0 + across * n >= m.x_extent) return;
#pragma unroll
  for (int column = first; column < kPermuteTile; column += kPermuteRows) {
    if (y0 + column * n >= m.y_extent) return;
    Packed<T, Word> from[n];
#pragma unroll
    for (int i = 0; i < n; ++i) from[i].word = tile[across * n + i][column];
#pragma unroll
    for (int j = 0; j < n; ++j) {
      Packed<T, Word> to;
#pragma unroll
      for (int i = 0; i < n; ++i) to.items[i] = from[i].items[j];
      *reinterpret_cast<Word*>(out + (column * n + j) * m.y_out) = to.word;
    }
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_COPY(size, T)                                                                                           \
  extern "C" __global__ void __launch_bounds__(kGroupThreads) troupe_copy_##size(MoveArguments m) { copy<T>(m); }      \
  extern "C" __global__ void __launch_bounds__(kPermuteTile* kPermuteRows) troupe_permute_##size(PermuteArguments m) { \
    permute<T, T>(m);                                                                                                  \
  }
TROUPE_COPY(1, unsigned char)
TROUPE_COPY(2, unsigned short)
TROUPE_COPY(4, unsigned)
TROUPE_COPY(8, unsigned long long)
TROUPE_COPY(16, Bytes16)

#define TROUPE_PERMUTE_WORDS(size, T)                                      \
  extern "C" __global__ void __launch_bounds__(kPermuteTile* kPermuteRows) \
      troupe_permute_words_##size(PermuteArguments m) {                    \
    permute<T, RawOf<word_bytes(size)>::type>(m);                          \
  }
TROUPE_PERMUTE_WORDS(1, unsigned char)
TROUPE_PERMUTE_WORDS(2, unsigned short)
TROUPE_PERMUTE_WORDS(4, unsigned)
