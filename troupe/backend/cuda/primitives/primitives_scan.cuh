// A scan in one pass: a block takes a tile of a row, publishes what the tile's elements make together, looks back at the
// tiles before, and writes. Global memory is read once and written once.
#pragma once

#include "troupe/backend/cuda/primitives/primitives_threads.cuh"

namespace troupe::cuda {
namespace {

/// Where element i of a tile is in shared memory: pieces of 16 bytes are permuted, so that neither threads that take
/// neighbours nor threads that take 64 bytes each meet in one bank.
template <class T>
__device__ int swizzled(int i) {
  constexpr int kInPiece = 16 / static_cast<int>(sizeof(T));
  const int piece = i / kInPiece;
  return (piece ^ ((piece >> 3) & 7)) * kInPiece + i % kInPiece;
}

template <class T>
__device__ bool by_pieces(const T* tile, int count) {
  return count == scan_tile(sizeof(T)) && reinterpret_cast<unsigned long long>(tile) % 16 == 0;
}
template <class T>
__device__ void load_tile(const T* from, int count, T* shared) {
  if (by_pieces(from, count)) {
    constexpr int kPieces = scan_tile(sizeof(T)) * static_cast<int>(sizeof(T)) / 16 / kPrimitivesThreads;
#pragma unroll
    for (int k = 0; k < kPieces; ++k) {
      const int piece = k * kPrimitivesThreads + static_cast<int>(threadIdx.x);
      reinterpret_cast<uint4*>(shared)[piece ^ ((piece >> 3) & 7)] = reinterpret_cast<const uint4*>(from)[piece];
    }
  } else {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kPrimitivesThreads) shared[swizzled<T>(i)] = from[i];
  }
}
template <class T>
__device__ void store_tile(T* to, int count, const T* shared) {
  if (by_pieces(to, count)) {
    constexpr int kPieces = scan_tile(sizeof(T)) * static_cast<int>(sizeof(T)) / 16 / kPrimitivesThreads;
#pragma unroll
    for (int k = 0; k < kPieces; ++k) {
      const int piece = k * kPrimitivesThreads + static_cast<int>(threadIdx.x);
      reinterpret_cast<uint4*>(to)[piece] = reinterpret_cast<const uint4*>(shared)[piece ^ ((piece >> 3) & 7)];
    }
  } else {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kPrimitivesThreads) to[i] = shared[swizzled<T>(i)];
  }
}

/// `kSegments`: a segment begins wherever there is a head, and nothing before it counts.
template <Combine function, class T, bool kSegments>
__device__ void scan_rows(const ScanArguments& a) {
  using H = primitives::Held<T>;
  constexpr int kItems = scan_items(sizeof(T));
  constexpr int kTile = scan_tile(sizeof(T));
  __shared__ alignas(16) T shared[kTile];
  __shared__ H warp_sums[kPrimitivesWarps];
  __shared__ bool warp_heads[kPrimitivesWarps];
  __shared__ H tile_before;
  const H neutral = primitives::neutral<function, H>();
  const auto put = [](H x, H y) { return primitives::combine<function>(x, y); };
  if (kSegments && has_finding(a.finding)) return;

  const long long tile = take_number(a.tiles);
  const long long row = tile / a.row_tiles;
  const long long begin = (tile - row * a.row_tiles) * kTile;
  const int count = static_cast<int>(min(static_cast<long long>(kTile), a.length - begin));
  load_tile(static_cast<const T*>(a.x) + row * a.x_stride + begin, count, shared);
  __syncthreads();

  const int mine = static_cast<int>(threadIdx.x) * kItems;
  H items[kItems];
  unsigned heads = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    items[i] = mine + i < count ? primitives::widened(shared[swizzled<T>(mine + i)]) : neutral;
    if (kSegments && mine + i < count && a.heads[begin + mine + i] != 0) heads |= 1U << i;
  }
  H sum = neutral;
#pragma unroll
  for (int i = 0; i < kItems; ++i) sum = kSegments && (heads >> i & 1) != 0 ? items[i] : put(sum, items[i]);

  // What the lanes up to this one have together, and whether a segment begins there.
  bool has_head = heads != 0;
#pragma unroll
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    const H below = from_below(sum, lanes);
    const bool below_head = kSegments && __shfl_up_sync(kAllLanes, static_cast<int>(has_head), lanes) != 0;
    if (lane_of_thread() < lanes) continue;
    if (!has_head) sum = put(below, sum);
    has_head = has_head || below_head;
  }
  if (lane_of_thread() == 31) {
    warp_sums[warp_of_thread()] = sum;
    warp_heads[warp_of_thread()] = has_head;
  }
  H before = from_below(sum, 1);
  bool before_head = kSegments && __shfl_up_sync(kAllLanes, static_cast<int>(has_head), 1) != 0;
  if (lane_of_thread() == 0) {
    before = neutral;
    before_head = false;
  }
  __syncthreads();

  H warps = neutral;  // of the warps before this one
  bool warps_head = false;
  H all = neutral;
  bool all_head = false;
  for (int warp = 0; warp < kPrimitivesWarps; ++warp) {
    if (warp == warp_of_thread()) {
      warps = all;
      warps_head = all_head;
    }
    all = warp_heads[warp] ? warp_sums[warp] : put(all, warp_sums[warp]);
    all_head = all_head || warp_heads[warp];
  }
  if (warp_of_thread() == 0) {
    const Tiles<H> tiles(a.tiles, a.all_tiles);
    const bool is_first = begin == 0;
    if (lane_of_thread() == 0) tiles.tell(tile, is_first || all_head ? kOfAll : kOfTile, all);
    const H tiles_sum = is_first ? neutral : tiles.before(tile, row * a.row_tiles, neutral, put);
    if (lane_of_thread() == 0) {
      if (!is_first && !all_head) tiles.tell(tile, kOfAll, put(tiles_sum, all));
      tile_before = tiles_sum;
    }
  }
  __syncthreads();
  if (!warps_head) warps = put(tile_before, warps);
  if (!before_head) before = put(warps, before);

#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (kSegments && (heads >> i & 1) != 0) before = neutral;
    const H with = put(before, items[i]);
    shared[swizzled<T>(mine + i)] = static_cast<T>(a.exclusive ? before : with);
    before = with;
  }
  __syncthreads();
  store_tile(static_cast<T*>(a.y) + row * a.y_stride + begin, count, shared);
}

}  // namespace
}  // namespace troupe::cuda
