// Sorts of rows that have room in a block: read once, put in order by one digit after another in shared memory, and
// written once. What travels with a key is its place in the row; values are fetched by it at the end.
#pragma once

#include "troupe/backend/cuda/primitives/primitives_sort.cuh"

namespace troupe::cuda {
namespace {

template <class Bits>
struct ShortSortShared {
  static constexpr int kTile = short_sort_tile(sizeof(Bits));
  unsigned counts[kPrimitivesWarps][kDigits];
  unsigned sums[kPrimitivesWarps];
  alignas(16) Bits keys[kTile];
  unsigned short places[kTile];
};

template <class Bits, bool kIsFloating>
__device__ void sort_short_row(const ShortSortArguments& a, ShortSortShared<Bits>& shared) {
  constexpr int kItems = short_sort_items(sizeof(Bits));
  const int me = static_cast<int>(threadIdx.x);
  const int warp = warp_of_thread();
  const int count = static_cast<int>(a.length);
  constexpr int kGroup = 4;  // of items
  const int items = (count + kGroup * kPrimitivesThreads - 1) / (kGroup * kPrimitivesThreads) * kGroup;
  const int warp_begin = warp * 32 * items + lane_of_thread();
  const long long row = blockIdx.x;
  const bool has_values = a.moved != nullptr;
  const HeldKeys<Bits, kIsFloating> held(a.order);
  const auto* const keys_in = static_cast<const Bits*>(a.keys) + row * a.keys_stride;

  Bits keys[kItems];
  unsigned short places[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int at = warp_begin + 32 * k;
    keys[k] = k < items && at < count ? held.hold(keys_in[at]) : static_cast<Bits>(~Bits{0});
    places[k] = static_cast<unsigned short>(at);
  }
  for (int pass = 0; pass < a.passes; ++pass) {
#pragma unroll
    for (int digit = 0; digit < kDigits; digit += 32) shared.counts[warp][digit + lane_of_thread()] = 0;
    __syncwarp();
    // What is behind the row's end has the last digit, and stays behind all others.
    unsigned short ranks[kItems];
    unsigned char digits[kItems];
#pragma unroll
    for (int group = 0; group < kItems; group += kGroup) {
      if (group >= items) break;
#pragma unroll
      for (int k = group; k < group + kGroup; ++k)
        digits[k] =
            static_cast<unsigned char>(warp_begin + 32 * k < count ? held.digit(keys[k], 8 * pass) : kDigits - 1);
      rank_in_warp<kGroup>([&](int k) { return static_cast<unsigned>(digits[group + k]); }, shared.counts[warp],
                           [&](int k, unsigned rank) { ranks[group + k] = static_cast<unsigned short>(rank); });
    }
    __syncthreads();
    unsigned of_warp[kPrimitivesWarps];
    unsigned own = 0;
#pragma unroll
    for (int w = 0; w < kPrimitivesWarps; ++w) {
      of_warp[w] = shared.counts[w][me];
      own += of_warp[w];
    }
    unsigned all = 0;
    unsigned before = sum_before(own, shared.sums, all);
#pragma unroll
    for (int w = 0; w < kPrimitivesWarps; ++w) {
      shared.counts[w][me] = before;
      before += of_warp[w];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      if (k >= items) break;
      const unsigned to = shared.counts[warp][digits[k]] + ranks[k];
      shared.keys[to] = keys[k];
      if (has_values) shared.places[to] = places[k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      if (k >= items) break;
      keys[k] = shared.keys[warp_begin + 32 * k];
      if (has_values) places[k] = shared.places[warp_begin + 32 * k];
    }
    __syncthreads();
  }

  if (a.sorted != nullptr) {
    auto* const sorted = static_cast<Bits*>(a.sorted) + row * a.sorted_stride;
#pragma unroll
    for (int k = 0; k < kItems; ++k)
      if (const int at = warp_begin + 32 * k; k < items && at < count) sorted[at] = held.release(keys[k]);
  }
  if (!has_values) return;
  if (a.values == nullptr) {
#pragma unroll
    for (int k = 0; k < kItems; ++k)
      if (const int at = warp_begin + 32 * k; k < items && at < count)
        store_index(a.moved, row * a.moved_stride + at, places[k], a.wide);
    return;
  }
  // All of the row's are read before one is written: it may be in place.
  unsigned long long values[kItems];
  const long long values_begin = row * a.values_stride;
#pragma unroll
  for (int k = 0; k < kItems; ++k)
    if (const int at = warp_begin + 32 * k; k < items && at < count)
      values[k] = a.wide ? static_cast<const unsigned long long*>(a.values)[values_begin + places[k]]
                         : static_cast<const unsigned*>(a.values)[values_begin + places[k]];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kItems; ++k)
    if (const int at = warp_begin + 32 * k; k < items && at < count)
      store_index(a.moved, row * a.moved_stride + at, static_cast<long long>(values[k]), a.wide);
}

}  // namespace
}  // namespace troupe::cuda
