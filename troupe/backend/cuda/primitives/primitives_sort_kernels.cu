// Sorts by digits of 8 bits, the lowest first. One kernel counts the digits of all passes; then each pass reads the keys
// once and writes each to its place: a tile ranks its keys, publishes how many it has of each digit, and looks back at
// the tiles before it. Keys stay as they are; digits are those of their ranks, so any order is one for unsigned integers.
#include "troupe/backend/cuda/primitives/primitives_threads.cuh"

namespace troupe::cuda {
namespace {

template <class Bits>
__device__ unsigned digit_of(const Order<Bits>& order, Bits key, int shift) {
  return static_cast<unsigned>(order(key) >> shift) & (kDigits - 1);
}

template <class Bits>
__device__ void count_digits(const SortCountArguments& a) {
  constexpr int kPasses = static_cast<int>(sizeof(Bits));
  __shared__ unsigned counts[kPasses][kDigits];
  for (int pass = 0; pass < kPasses; ++pass) counts[pass][threadIdx.x] = 0;
  __syncthreads();
  const long long row = blockIdx.x / a.row_chunks;
  const long long begin = (blockIdx.x - row * a.row_chunks) * kSortCountChunk;
  const long long end = min(a.length, begin + kSortCountChunk);
  const auto* const keys = static_cast<const Bits*>(a.keys) + row * a.keys_stride;
  const Order<Bits> order(a.order);
#pragma unroll 8
  for (long long i = begin + threadIdx.x; i < end; i += kPrimitivesThreads) {
    const Bits rank = order(keys[i]);
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass)
      if (pass < a.passes) atomicAdd(&counts[pass][static_cast<unsigned>(rank >> (8 * pass)) & (kDigits - 1)], 1U);
  }
  __syncthreads();
  for (int pass = 0; pass < a.passes; ++pass)
    if (const unsigned count = counts[pass][threadIdx.x]; count != 0)
      atomicAdd(a.starts + (row * a.passes + pass) * kDigits + threadIdx.x, static_cast<unsigned long long>(count));
}

/// Which lanes have the same digit.
__device__ inline unsigned lanes_with(unsigned digit) {
  unsigned same = kAllLanes;
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    const bool is_set = (digit >> bit & 1) != 0;
    const unsigned set = __ballot_sync(kAllLanes, is_set);
    same &= is_set ? set : ~set;
  }
  return same;
}

/// How many keys of this thread's digit the tiles before this one in its row have: their words are one distance of
/// `kDigits` apart.
template <class Word>
__device__ Word look_back(Word* words, long long tile, long long first, Word own) {
  constexpr int kStateShift = 8 * sizeof(Word) - 2;
  constexpr Word kMask = static_cast<Word>(~Word{0}) >> 2;
  Word* const mine = words + tile * kDigits + threadIdx.x;
  if (tile == first) {
    publish(mine, static_cast<Word>(Word{kOfAll} << kStateShift | own));
    return 0;
  }
  publish(mine, static_cast<Word>(Word{kOfTile} << kStateShift | own));
  Word before = 0;
  for (long long asked = tile - 1; asked >= first; --asked) {
    Word word = 0;
    while ((word = watched(words + asked * kDigits + threadIdx.x)) == 0) {
    }
    before += word & kMask;
    if (word >> kStateShift == kOfAll) break;
  }
  publish(mine, static_cast<Word>(Word{kOfAll} << kStateShift | static_cast<Word>(before + own)));
  return before;
}

/// Where in its row the tile's keys of this thread's digit come.
__device__ inline long long digit_start(const SortPassArguments& a, long long tile, long long row, unsigned own,
                                        unsigned long long* shared) {
  const long long first = row * a.row_tiles;
  const unsigned long long before =
      a.wide ? look_back(static_cast<unsigned long long*>(a.states), tile, first, static_cast<unsigned long long>(own))
             : look_back(static_cast<unsigned*>(a.states), tile, first, own);
  unsigned long long all = 0;
  return static_cast<long long>(before + sum_before(a.starts[row * a.starts_stride + threadIdx.x], shared, all));
}

struct NoValue {};

template <class Bits, class Value>
__device__ void sort_pass(const SortPassArguments& a) {
  constexpr bool kHasValues = sizeof(Value) > 1;
  constexpr std::size_t kLarger = sizeof(Bits) == 8 || sizeof(Value) == 8 ? 8 : 4;
  constexpr int kItems = sort_items(kLarger);
  constexpr int kTile = sort_tile(kLarger);
  __shared__ unsigned counts[kPrimitivesWarps][kDigits];
  __shared__ long long digit_bases[kDigits];
  __shared__ unsigned sums[kPrimitivesWarps];
  __shared__ unsigned long long long_sums[kPrimitivesWarps];
  __shared__ alignas(16) unsigned char exchange[kTile * kLarger];
  __shared__ unsigned tile_number;

  const int me = static_cast<int>(threadIdx.x);
  const int warp = warp_of_thread();
  const int lane = lane_of_thread();
  if (me == 0) tile_number = a.states == nullptr ? blockIdx.x : atomicAdd(a.next_tile, 1U);
  for (int w = 0; w < kPrimitivesWarps; ++w) counts[w][me] = 0;
  __syncthreads();
  const long long tile = tile_number;
  const long long row = tile / a.row_tiles;
  const long long begin = (tile - row * a.row_tiles) * kTile;
  const int count = static_cast<int>(min(static_cast<long long>(kTile), a.length - begin));
  const Order<Bits> order(a.order);

  // A warp has neighbours, and its items follow each other: ranks are given in that order. Behind the row's end there
  // are keys of the last digit, which come behind all others.
  const int warp_begin = warp * (32 * kItems) + lane;
  const auto* const keys_in = static_cast<const Bits*>(a.keys) + row * a.keys_stride + begin;
  Bits keys[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int at = warp_begin + 32 * k;
    keys[k] = at < count ? keys_in[at] : Bits{0};
  }
  unsigned short ranks[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const unsigned digit = warp_begin + 32 * k < count ? digit_of(order, keys[k], a.shift) : kDigits - 1;
    const unsigned same = lanes_with(digit);
    const int leader = 31 - __clz(static_cast<int>(same));
    unsigned before = 0;
    if (lane == leader) {
      before = counts[warp][digit];
      counts[warp][digit] = before + static_cast<unsigned>(__popc(same));
    }
    __syncwarp();
    before = __shfl_sync(kAllLanes, before, leader);
    ranks[k] = static_cast<unsigned short>(before + static_cast<unsigned>(__popc(same & ((1U << lane) - 1))));
  }
  __syncthreads();

  // From here on a thread is a digit, too.
  unsigned own = 0;
  for (int w = 0; w < kPrimitivesWarps; ++w) {
    const unsigned of_warp = counts[w][me];
    counts[w][me] = own;
    own += of_warp;
  }
  unsigned all = 0;
  const unsigned local = sum_before(own, sums, all);
  for (int w = 0; w < kPrimitivesWarps; ++w) counts[w][me] += local;
  if (me == kDigits - 1) own -= static_cast<unsigned>(kTile - count);
  digit_bases[me] = a.states == nullptr ? 0 : digit_start(a, tile, row, own, long_sums) - static_cast<long long>(local);
  __syncthreads();

  auto* const shared_keys = reinterpret_cast<Bits*>(exchange);
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const unsigned digit = warp_begin + 32 * k < count ? digit_of(order, keys[k], a.shift) : kDigits - 1;
    ranks[k] = static_cast<unsigned short>(ranks[k] + counts[warp][digit]);
    shared_keys[ranks[k]] = keys[k];
  }
  __syncthreads();
  auto* const sorted = static_cast<Bits*>(a.sorted) + row * a.sorted_stride;
  unsigned char digits[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int at = me + k * kPrimitivesThreads;
    const Bits key = shared_keys[at];
    const unsigned digit = digit_of(order, key, a.shift);
    digits[k] = static_cast<unsigned char>(digit);
    if (at < count && a.sorted != nullptr) sorted[digit_bases[digit] + at] = key;
  }
  if constexpr (kHasValues) {
    const auto* const values_in = static_cast<const Value*>(a.values) + row * a.values_stride + begin;
    Value values[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int at = warp_begin + 32 * k;
      values[k] = a.values == nullptr ? static_cast<Value>(begin + at) : at < count ? values_in[at] : Value{0};
    }
    __syncthreads();
    auto* const shared_values = reinterpret_cast<Value*>(exchange);
#pragma unroll
    for (int k = 0; k < kItems; ++k) shared_values[ranks[k]] = values[k];
    __syncthreads();
    auto* const moved = static_cast<Value*>(a.moved) + row * a.moved_stride;
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int at = me + k * kPrimitivesThreads;
      if (at < count) moved[digit_bases[digits[k]] + at] = shared_values[at];
    }
  }
}

/// In the order in which they come: k elements of the row that are before all others. A block narrows the rank of the
/// last of them down by one digit after another, from the highest. Needs a row of less than 2^32.
template <class Bits>
__device__ void collect_best(const TopKArguments& a) {
  __shared__ unsigned counts[kDigits];
  __shared__ unsigned long long sums[kPrimitivesWarps];
  __shared__ unsigned long long left_shared;
  __shared__ unsigned digit_shared;
  const int me = static_cast<int>(threadIdx.x);
  const long long row = blockIdx.x;
  const auto* const keys = static_cast<const Bits*>(a.keys) + row * a.keys_stride;
  const Order<Bits> order(a.order);
  Bits last = 0;  // the digits of its rank that are known
  unsigned long long left = static_cast<unsigned long long>(a.k);  // elements that begin with these digits
  for (int shift = 8 * static_cast<int>(sizeof(Bits)) - 8; shift >= 0; shift -= 8) {
    counts[me] = 0;
    __syncthreads();
    const auto known = static_cast<Bits>(shift == 8 * static_cast<int>(sizeof(Bits)) - 8
                                             ? Bits{0}
                                             : static_cast<Bits>(~Bits{0}) << (shift + 8));
#pragma unroll 8
    for (long long i = me; i < a.length; i += kPrimitivesThreads) {
      const Bits rank = order(keys[i]);
      if ((rank & known) == last) atomicAdd(&counts[static_cast<unsigned>(rank >> shift) & (kDigits - 1)], 1U);
    }
    __syncthreads();
    unsigned long long all = 0;
    const unsigned long long own = counts[me];
    const unsigned long long before = sum_before(own, sums, all);
    if (before < left && left <= before + own) {
      digit_shared = static_cast<unsigned>(me);
      left_shared = left - before;
    }
    __syncthreads();
    last = static_cast<Bits>(last | static_cast<Bits>(static_cast<Bits>(digit_shared) << shift));
    left = left_shared;
    __syncthreads();
  }

  // `left` of those with the last one's rank are wanted, the first ones.
  auto* const best = static_cast<Bits*>(a.best) + row * a.k;
  unsigned long long taken = 0;
  unsigned long long equal_seen = 0;
  for (long long base = 0; base < a.length && taken < static_cast<unsigned long long>(a.k); base += kPrimitivesThreads) {
    const long long i = base + me;
    const Bits key = i < a.length ? keys[i] : Bits{0};
    const bool is_before = i < a.length && order(key) < last;
    const bool is_equal = i < a.length && order(key) == last;
    unsigned long long equal_all = 0;
    const unsigned long long equal_before = sum_before(is_equal ? 1ULL : 0ULL, sums, equal_all);
    __syncthreads();
    const bool is_taken = is_before || (is_equal && equal_seen + equal_before < left);
    unsigned long long taken_all = 0;
    const unsigned long long taken_before = sum_before(is_taken ? 1ULL : 0ULL, sums, taken_all);
    __syncthreads();
    if (is_taken) {
      best[taken + taken_before] = key;
      store_index(a.indices, row * a.k + static_cast<long long>(taken + taken_before), i, a.wide);
    }
    equal_seen += equal_all;
    taken += taken_all;
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_BLOCKS extern "C" __global__ void __launch_bounds__(kPrimitivesThreads)
#define TROUPE_SORT(size, Bits)                                                                                     \
  TROUPE_BLOCKS troupe_count_digits_##size(const SortCountArguments a) { count_digits<Bits>(a); }                   \
  TROUPE_BLOCKS troupe_sort_keys_##size(const SortPassArguments a) { sort_pass<Bits, NoValue>(a); }                 \
  TROUPE_BLOCKS troupe_sort_with_4_bytes_##size(const SortPassArguments a) { sort_pass<Bits, std::uint32_t>(a); }   \
  TROUPE_BLOCKS troupe_sort_with_8_bytes_##size(const SortPassArguments a) { sort_pass<Bits, std::uint64_t>(a); }   \
  TROUPE_BLOCKS troupe_collect_best_##size(const TopKArguments a) { collect_best<Bits>(a); }
TROUPE_SORT(1, std::uint8_t)
TROUPE_SORT(2, std::uint16_t)
TROUPE_SORT(4, std::uint32_t)
TROUPE_SORT(8, std::uint64_t)
