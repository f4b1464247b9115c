// One pass of a sort by one digit of 8 bits. A tile counts its digits and publishes the counts before it ranks its
// keys, so that the tiles after it seldom wait; it ranks them while the tiles before it do the same, and only then
// looks back. Keys go through shared memory, so that those of one digit are written side by side.
#pragma once

#include "troupe/backend/cuda/primitives/primitives_threads.cuh"

namespace troupe::cuda {
namespace {

constexpr int kTilesAskedAtOnce = 4;  // in a look back

/// Keys as a sort holds them. Integers are held as their ranks. Floating-point ones stay as they are, since the rank of
/// a NaN or of -0 does not say which bits it had.
template <class Bits, bool kIsFloating>
class HeldKeys {
 public:
  __device__ explicit HeldKeys(const KeyOrder& of)
      : ranking_{static_cast<Bits>(of.sign), static_cast<Bits>(of.infinity), true},
        flip_(of.descends ? static_cast<Bits>(~Bits{0}) : Bits{0}) {}

  __device__ Bits hold(Bits key) const { return kIsFloating ? key : static_cast<Bits>(key ^ ranking_.sign ^ flip_); }
  __device__ Bits release(Bits held) const { return hold(held); }
  __device__ Bits rank(Bits held) const { return kIsFloating ? static_cast<Bits>(ranking_(held) ^ flip_) : held; }
  __device__ unsigned digit(Bits held, int shift) const {
    return static_cast<unsigned>(rank(held) >> shift) & (kDigits - 1);
  }

 private:
  primitives::Ranking<Bits> ranking_;
  Bits flip_;
};

/// Small numbers of a thread's items, several in a register. `at` must be known at compile time.
template <int kBits, int kItems>
class Packed {
 public:
  __device__ void set(int at, unsigned number) {
    if (at % kInWord == 0)
      words_[at / kInWord] = number;
    else
      words_[at / kInWord] |= number << (at % kInWord * kBits);
  }
  __device__ unsigned operator[](int at) const {
    return words_[at / kInWord] >> (at % kInWord * kBits) & ((1U << kBits) - 1);
  }

 private:
  static constexpr int kInWord = 32 / kBits;
  unsigned words_[(kItems + kInWord - 1) / kInWord];
};

/// Which lanes have the same digit. What the compiler makes of the same in C++ takes twice as many instructions.
__device__ inline unsigned lanes_with(unsigned digit) {
  unsigned same = kAllLanes;
#pragma unroll
  for (unsigned bit = 0; bit < 8; ++bit) {
    unsigned alike = 0;
    asm("{\n\t.reg .pred has_bit;\n\t.reg .b32 found;\n\t"
        "and.b32 found, %1, %2;\n\tsetp.ne.u32 has_bit, found, 0;\n\t"
        "vote.sync.ballot.b32 %0, has_bit, 0xffffffff;\n\t@!has_bit not.b32 %0, %0;\n\t}"
        : "=r"(alike)
        : "r"(digit), "r"(1U << bit));
    same &= alike;
  }
  return same;
}

/// For each of a warp's keys, item by item, how many of its digit come before it. `counts` has how many came before,
/// and is brought up to date. Several items are under way at once, since counting takes long.
template <int kItems, class Digit, class Take>
__device__ void rank_in_warp(const Digit& digit_of, unsigned* counts, const Take& take) {
  const unsigned lower_lanes = (1U << lane_of_thread()) - 1;
  unsigned same[kItems];
  unsigned before[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) same[k] = lanes_with(digit_of(k));
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    before[k] = 0;
    if ((same[k] & lower_lanes) == 0)
      before[k] = atomicAdd(counts + digit_of(k), static_cast<unsigned>(__popc(same[k])));
    __syncwarp();
  }
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const unsigned of_first = __shfl_sync(kAllLanes, before[k], __ffs(static_cast<int>(same[k])) - 1);
    take(k, of_first + static_cast<unsigned>(__popc(same[k] & lower_lanes)));
  }
}

/// The sum of what the lanes up to this one have.
template <class T>
__device__ T sum_of_lanes(T value) {
#pragma unroll
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    const T below = from_below(value, lanes);
    if (lane_of_thread() >= lanes) value += below;
  }
  return value;
}

/// How many keys of this thread's digit the tiles before this one in its row have: their words are one distance of
/// `kDigits` apart. Each tile has published its own before. Several tiles are asked at once.
template <class Word>
__device__ Word count_before(Word* words, long long tile, long long first, Word own) {
  constexpr int kStateShift = 8 * sizeof(Word) - 2;
  constexpr Word kMask = static_cast<Word>(~Word{0}) >> 2;
  constexpr Word kNoTile = Word{kOfAll} << kStateShift;
  constexpr int kAtOnce = kTilesAskedAtOnce;
  if (tile == first) return 0;
  Word before = 0;
  bool is_complete = false;
  for (long long asked = tile - 1; !is_complete; asked -= kAtOnce) {
    Word told[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      told[k] = asked - k >= first ? watched(words + (asked - k) * kDigits + threadIdx.x) : kNoTile;
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (is_complete) break;
      while (told[k] == 0) told[k] = watched(words + (asked - k) * kDigits + threadIdx.x);
      before += told[k] & kMask;
      is_complete = told[k] >> kStateShift == kOfAll;
    }
  }
  publish(words + tile * kDigits + threadIdx.x,
          static_cast<Word>(Word{kOfAll} << kStateShift | static_cast<Word>(before + own)));
  return before;
}
template <class Word>
__device__ void publish_count(Word* words, long long tile, long long first, Word own) {
  constexpr int kStateShift = 8 * sizeof(Word) - 2;
  publish(words + tile * kDigits + threadIdx.x,
          static_cast<Word>(Word{tile == first ? kOfAll : kOfTile} << kStateShift | own));
}

struct NoValue {};

template <class Bits, class Value, int kThreads, int kItems>
struct SortShared {
  static constexpr int kTile = kThreads * kItems;
  union Exchange {
    unsigned counts[kThreads / 32][kDigits];
    Bits keys[kTile];
    Value values[kTile];
  };
  alignas(16) Exchange exchange;
  long long bases[kDigits];
  unsigned sums[kDigits / 32];
  unsigned tile_number;
};

template <class Bits, class Value, bool kIsFloating, int kThreads, int kItems>
__device__ void sort_pass(const SortPassArguments& a, SortShared<Bits, Value, kThreads, kItems>& shared) {
  constexpr bool kHasValues = sizeof(Value) > 1;
  constexpr int kWarps = kThreads / 32;
  constexpr int kTile = kThreads * kItems;
  constexpr int kGroup = kHasValues && kItems % 5 == 0 ? 5 : 1;  // keys that are ranked at once
  static_assert(kThreads >= kDigits, "each digit has a thread");
  const int me = static_cast<int>(threadIdx.x);
  const int warp = warp_of_thread();
  const bool is_digit = me < kDigits;
  auto& counts = shared.exchange.counts;
  if (me == 0) shared.tile_number = a.states == nullptr ? blockIdx.x : atomicAdd(a.next_tile, 1U);
#pragma unroll
  for (int digit = 0; digit < kDigits; digit += 32) counts[warp][digit + lane_of_thread()] = 0;
  __syncthreads();
  const long long tile = shared.tile_number;
  const long long row = tile / a.row_tiles;
  const long long first_tile = row * a.row_tiles;
  const long long begin = (tile - first_tile) * kTile;
  const int count = static_cast<int>(min(static_cast<long long>(kTile), a.length - begin));
  const HeldKeys<Bits, kIsFloating> held(a.order);

  // A warp has neighbours, and its items follow each other: ranks are given in that order. Behind the row's end there
  // are keys of the last digit, which come behind all others.
  const int warp_begin = warp * (32 * kItems) + lane_of_thread();
  const auto* const keys_in = static_cast<const Bits*>(a.keys) + row * a.keys_stride + begin;
  Bits keys[kItems];
  if (count == kTile) {
#pragma unroll
    for (int k = 0; k < kItems; ++k) keys[k] = held.hold(keys_in[warp_begin + 32 * k]);
  } else {
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int at = warp_begin + 32 * k;
      keys[k] = at < count ? held.hold(keys_in[at]) : static_cast<Bits>(~Bits{0});
    }
  }
  const auto digit_of = [&](int k) {
    const unsigned digit = held.digit(keys[k], a.shift);
    return kIsFloating && warp_begin + 32 * k >= count ? kDigits - 1 : digit;
  };
#pragma unroll
  for (int k = 0; k < kItems; ++k) atomicAdd(&counts[warp][digit_of(k)], 1U);
  __syncthreads();

  unsigned of_warp[kWarps];
  unsigned own = 0;     // of this thread's digit, in the tile
  unsigned before = 0;  // of lesser digits
  if (is_digit) {
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      of_warp[w] = counts[w][me];
      own += of_warp[w];
    }
    before = sum_of_lanes(own);
    if (lane_of_thread() == 31) shared.sums[warp] = before;
    before -= own;
    if (me == kDigits - 1) own -= static_cast<unsigned>(kTile - count);
    if (a.states != nullptr && a.wide)
      publish_count(static_cast<unsigned long long*>(a.states), tile, first_tile, static_cast<unsigned long long>(own));
    else if (a.states != nullptr)
      publish_count(static_cast<unsigned*>(a.states), tile, first_tile, own);
  }
  const bool is_one_digit = __syncthreads_or(is_digit && own == kTile) != 0;
  if (is_digit) {
    for (int w = 0; w < warp; ++w) before += shared.sums[w];
    unsigned of_warps = before;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      counts[w][me] = of_warps;
      of_warps += of_warp[w];
    }
  }
  __syncthreads();

  Packed<16, kItems> ranks;
  if (is_one_digit) {
#pragma unroll
    for (int k = 0; k < kItems; ++k) ranks.set(k, static_cast<unsigned>(warp_begin + 32 * k));
  } else {
#pragma unroll
    for (int group = 0; group < kItems; group += kGroup)
      rank_in_warp<kGroup>([&](int k) { return digit_of(group + k); }, counts[warp],
                           [&](int k, unsigned rank) { ranks.set(group + k, rank); });
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kItems; ++k) shared.exchange.keys[ranks[k]] = keys[k];

  if (is_digit) {
    long long base = -static_cast<long long>(before);
    if (a.states != nullptr) {
      base += static_cast<long long>(a.starts[row * a.starts_stride + me]);
      base += static_cast<long long>(a.wide ? count_before(static_cast<unsigned long long*>(a.states), tile, first_tile,
                                                           static_cast<unsigned long long>(own))
                                            : count_before(static_cast<unsigned*>(a.states), tile, first_tile, own));
    } else {
      base = 0;  // the tile is the row
    }
    shared.bases[me] = base;
  }
  __syncthreads();

  auto* const sorted = static_cast<Bits*>(a.sorted) + row * a.sorted_stride;
  Packed<8, kItems> digits;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int at = me + k * kThreads;
    const Bits key = shared.exchange.keys[at];
    const unsigned digit = held.digit(key, a.shift);
    digits.set(k, digit);
    if (at < count && a.sorted != nullptr) sorted[shared.bases[digit] + at] = held.release(key);
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
#pragma unroll
    for (int k = 0; k < kItems; ++k) shared.exchange.values[ranks[k]] = values[k];
    __syncthreads();
    const long long row_begin = row * a.moved_stride;
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int at = me + k * kThreads;
      if (at >= count) continue;
      const long long to = row_begin + shared.bases[digits[k]] + at;
      const Value value = shared.exchange.values[at];
      if (sizeof(Value) == 4 && a.widens)
        static_cast<unsigned long long*>(a.moved)[to] = value;
      else
        static_cast<Value*>(a.moved)[to] = value;
    }
  }
}

}  // namespace
}  // namespace troupe::cuda
