// A scan in one pass: a block takes a tile of a row, publishes what the tile's elements make together, looks back at
// the tiles before, and writes. Global memory is read once and written once.
#pragma once

#include "troupe/backend/cuda/primitives/primitives_threads.cuh"

namespace troupe::cuda {
namespace {

/// What a thread takes of a tile. A warp has neighbours; its rounds follow each other, and in each of them a lane has a
/// piece of 16 bytes.
template <class T>
struct ScanLayout {
  static constexpr int kItems = scan_items(sizeof(T));
  static constexpr int kInPiece = 16 / static_cast<int>(sizeof(T));
  static constexpr int kRounds = kItems / kInPiece;
  struct alignas(16) Piece {
    T elements[kInPiece];
  };
  static __device__ int place(int round) {
    return (warp_of_thread() * kRounds + round) * 32 * kInPiece + lane_of_thread() * kInPiece;
  }
  static __device__ bool by_pieces(const T* tile, int count) {
    return count == scan_tile(sizeof(T)) && reinterpret_cast<unsigned long long>(tile) % 16 == 0;
  }
};

/// What some elements in a row have together, from the last head among them.
template <class H, bool kSegments>
struct Run {
  H sum;
  bool has_head;

  /// With what comes before it.
  template <class Put>
  __device__ Run after(const Run& before, const Put& put) const {
    if (!kSegments) return {put(before.sum, sum), false};
    return {has_head ? sum : put(before.sum, sum), has_head || before.has_head};
  }
  __device__ Run of_lane(int lane) const {
    return {from_lane(sum, lane), kSegments && __shfl_sync(kAllLanes, static_cast<int>(has_head), lane) != 0};
  }
};

/// In one access. Where the other branch stores the same elements one by one, the compiler would do so in both.
template <class Piece>
__device__ void store_piece(void* to, const Piece& piece) {
  const auto words = __builtin_bit_cast(uint4, piece);
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words.x), "r"(words.y), "r"(words.z),
               "r"(words.w)
               : "memory");
}

/// `kSegments`: a segment begins wherever there is a head, and nothing before it counts.
template <Combine function, class T, bool kSegments>
__device__ void scan_rows(const ScanArguments& a) {
  using H = primitives::Held<T>;
  using Layout = ScanLayout<T>;
  using Part = Run<H, kSegments>;
  constexpr int kTile = scan_tile(sizeof(T));
  constexpr int kInPiece = Layout::kInPiece;
  constexpr int kRounds = Layout::kRounds;
  __shared__ Part warp_parts[kPrimitivesWarps];
  __shared__ H told;  // what the tiles before this one have
  const H neutral = primitives::neutral<function, H>();
  const auto put = [](H x, H y) { return primitives::combine<function>(x, y); };
  if (kSegments && has_finding(a.finding)) return;

  const long long tile = take_number(a.tiles);
  const long long row = tile / a.row_tiles;
  const long long begin = (tile - row * a.row_tiles) * kTile;
  const int count = static_cast<int>(min(static_cast<long long>(kTile), a.length - begin));
  const auto* const x = static_cast<const T*>(a.x) + row * a.x_stride + begin;
  H items[kRounds][kInPiece];
  if (Layout::by_pieces(x, count)) {
    typename Layout::Piece pieces[kRounds];
#pragma unroll
    for (int r = 0; r < kRounds; ++r)
      pieces[r] = *reinterpret_cast<const typename Layout::Piece*>(x + Layout::place(r));
#pragma unroll
    for (int r = 0; r < kRounds; ++r)
#pragma unroll
      for (int i = 0; i < kInPiece; ++i) items[r][i] = primitives::widened(pieces[r].elements[i]);
  } else {
#pragma unroll
    for (int r = 0; r < kRounds; ++r)
#pragma unroll
      for (int i = 0; i < kInPiece; ++i)
        items[r][i] = Layout::place(r) + i < count ? primitives::widened(x[Layout::place(r) + i]) : neutral;
  }
  unsigned heads = 0;
  if constexpr (kSegments) {
#pragma unroll
    for (int r = 0; r < kRounds; ++r)
#pragma unroll
      for (int i = 0; i < kInPiece; ++i)
        if (Layout::place(r) + i < count && a.heads[begin + Layout::place(r) + i] != 0)
          heads |= 1U << (r * kInPiece + i);
  }
  const auto is_head = [&](int r, int i) { return kSegments && (heads >> (r * kInPiece + i) & 1) != 0; };

  // What the lanes up to this one have together in each round.
  Part parts[kRounds];
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    parts[r] = {items[r][0], is_head(r, 0)};
#pragma unroll
    for (int i = 1; i < kInPiece; ++i) parts[r] = Part{items[r][i], is_head(r, i)}.after(parts[r], put);
  }
#pragma unroll
  for (int lanes = 1; lanes < 32; lanes *= 2)
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      const Part below = parts[r].of_lane((lane_of_thread() - lanes) & 31);
      if (lane_of_thread() >= lanes) parts[r] = parts[r].after(below, put);
    }
  // Then what is before this lane in the warp, and what the warp has.
  Part of_warp{neutral, false};
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    const Part of_round = parts[r].of_lane(31);
    const Part below = parts[r].of_lane((lane_of_thread() - 1) & 31);
    parts[r] = lane_of_thread() == 0 ? of_warp : below.after(of_warp, put);
    of_warp = of_round.after(of_warp, put);
  }
  if (lane_of_thread() == 0) warp_parts[warp_of_thread()] = of_warp;
  __syncthreads();
  Part before{neutral, false};  // the warps before this one
  Part all{neutral, false};
#pragma unroll
  for (int warp = 0; warp < kPrimitivesWarps; ++warp) {
    if (warp == warp_of_thread()) before = all;
    all = warp_parts[warp].after(all, put);
  }

  const Tiles<H> tiles(a.tiles, a.all_tiles);
  const bool is_first = begin == 0;
  if (threadIdx.x == 0) tiles.tell(tile, is_first || all.has_head ? kOfAll : kOfTile, all.sum);
  if (!is_first) {
    // One warp asks for all: more would only ask more often.
    if (warp_of_thread() == 0) {
      const H tiles_sum = tiles.before(tile, row * a.row_tiles, neutral, put);
      if (lane_of_thread() == 0) {
        if (!all.has_head) tiles.tell(tile, kOfAll, put(tiles_sum, all.sum));
        told = tiles_sum;
      }
    }
    __syncthreads();
    before = before.after({told, false}, put);
  }

  auto* const y = static_cast<T*>(a.y) + row * a.y_stride + begin;
  const bool by_pieces = Layout::by_pieces(y, count);
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    H sum = parts[r].after(before, put).sum;
    typename Layout::Piece piece;
#pragma unroll
    for (int i = 0; i < kInPiece; ++i) {
      if (is_head(r, i)) sum = neutral;
      const H with = put(sum, items[r][i]);
      piece.elements[i] = static_cast<T>(a.exclusive ? sum : with);
      sum = with;
    }
    if (by_pieces) {
      store_piece(y + Layout::place(r), piece);
    } else {
#pragma unroll
      for (int i = 0; i < kInPiece; ++i)
        if (Layout::place(r) + i < count) y[Layout::place(r) + i] = piece.elements[i];
    }
  }
}

}  // namespace
}  // namespace troupe::cuda
