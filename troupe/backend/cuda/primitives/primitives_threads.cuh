// What threads of the primitives kernels do together: words that travel between the lanes of a warp, scans of a block,
// and the look back, by which a tile learns from the tiles before it what they have together while all are under way.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_index.cuh"
#include "troupe/backend/cuda/primitives/primitives_arguments.hpp"
#include "troupe/op/primitives_functions.hpp"

namespace troupe::cuda {
namespace {

constexpr unsigned kAllLanes = 0xffff'ffff;
__device__ inline int lane_of_thread() { return static_cast<int>(threadIdx.x % 32); }
__device__ inline int warp_of_thread() { return static_cast<int>(threadIdx.x / 32); }

template <class T>
__device__ unsigned long long to_word(T value) {
  if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(unsigned long long, value);
  else
    return __builtin_bit_cast(primitives::KeyBits<T>, value);
}
template <class T>
__device__ T from_word(unsigned long long word) {
  if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(T, word);
  else
    return __builtin_bit_cast(T, static_cast<primitives::KeyBits<T>>(word));
}

template <class T>
__device__ T from_lane(T value, int lane) {
  if constexpr (sizeof(T) == 8)
    return from_word<T>(__shfl_sync(kAllLanes, to_word(value), lane));
  else
    return from_word<T>(__shfl_sync(kAllLanes, static_cast<unsigned>(to_word(value)), lane));
}
/// From so many lanes below or above; its own where there is none.
template <class T>
__device__ T from_below(T value, int lanes) {
  return from_lane(value, lane_of_thread() >= lanes ? lane_of_thread() - lanes : lane_of_thread());
}
template <class T>
__device__ T from_above(T value, int lanes) {
  return from_lane(value, lane_of_thread() + lanes < 32 ? lane_of_thread() + lanes : lane_of_thread());
}

__device__ inline long long load_index(const void* indices, long long at, bool wide) {
  return wide ? static_cast<const long long*>(indices)[at] : static_cast<const int*>(indices)[at];
}
__device__ inline void store_index(void* indices, long long at, long long index, bool wide) {
  if (wide)
    static_cast<long long*>(indices)[at] = index;
  else
    static_cast<int*>(indices)[at] = static_cast<int>(index);
}

__device__ inline bool has_finding(const FirstFinding* finding) { return finding != nullptr && *finding != kNoFinding; }

/// The place of a key in the order, as an unsigned integer.
template <class Bits>
struct Order {
  primitives::Ranking<Bits> ranking;
  Bits flip;

  __device__ explicit Order(const KeyOrder& of)
      : ranking{static_cast<Bits>(of.sign), static_cast<Bits>(of.infinity), of.is_floating},
        flip(of.descends ? static_cast<Bits>(~Bits{0}) : Bits{0}) {}
  __device__ Bits operator()(Bits key) const { return static_cast<Bits>(ranking(key) ^ flip); }
};

/// How many of `count` keys are before the rank; with `after_equal` those of the same rank, too.
template <class Bits>
__device__ long long places_before(const Bits* keys, long long count, const Order<Bits>& order, Bits rank,
                                   bool after_equal) {
  long long begin = 0;
  long long end = count;
  while (begin < end) {
    const long long middle = begin + (end - begin) / 2;
    const Bits there = order(keys[middle]);
    if (there < rank || (after_equal && there == rank))
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// The sum of what the threads before this one have; `all` is that of the whole block. Ends with a barrier behind it
/// only for `shared`'s readers: call again after another one.
template <class T>
__device__ T sum_before(T value, T* shared, T& all) {
  T sum = value;
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    const T below = from_below(sum, lanes);
    if (lane_of_thread() >= lanes) sum += below;
  }
  if (lane_of_thread() == 31) shared[warp_of_thread()] = sum;
  __syncthreads();
  T before = 0;
  all = 0;
  for (int warp = 0; warp < kPrimitivesWarps; ++warp) {
    if (warp < warp_of_thread()) before += shared[warp];
    all += shared[warp];
  }
  return before + sum - value;
}

/// A number for each block in the order in which they begin: who has a lower one is under way, so it can be waited for.
__device__ inline long long take_number(unsigned long long* counter) {
  __shared__ unsigned long long number;
  if (threadIdx.x == 0) number = atomicAdd(counter, 1ULL);
  __syncthreads();
  return static_cast<long long>(number);
}

constexpr unsigned kNothingYet = 0;
constexpr unsigned kOfTile = 1;  // what the tile has itself
constexpr unsigned kOfAll = 2;   // with all that is before it

template <class Word>
__device__ Word watched(const Word* word) {
  return *static_cast<const volatile Word*>(word);
}
template <class Word>
__device__ void publish(Word* word, Word value) {
  *static_cast<volatile Word*>(word) = value;
}

/// How long a warp rests that was not told all it needs: thousands that ask without a pause leave the memory of tiles
/// no time for anything else.
constexpr unsigned kPatienceNs = 300;

/// Of the lanes of a warp, each of which looks at a tile, lane 0 at the nearest: which is the last that counts, and
/// whether all up to it have told something.
struct Looked {
  int last;
  bool is_all;  // what the last one told is with all that is before it
  bool is_enough;

  __device__ explicit Looked(unsigned state) {
    const unsigned ends = __ballot_sync(kAllLanes, state == kOfAll);
    const unsigned told = __ballot_sync(kAllLanes, state != kNothingYet);
    last = ends == 0 ? 31 : __ffs(static_cast<int>(ends)) - 1;
    is_all = ends != 0;
    const unsigned needed = kAllLanes >> (31 - last);
    is_enough = (told & needed) == needed;
  }
};

/// What tiles tell each other. A value of 4 bytes is in one word with its state; one of 8 is written before it.
template <class T>
class Tiles {
 public:
  __device__ Tiles(unsigned long long* memory, long long count)
      : words_(memory + 1), own_(memory + 1 + count), all_(memory + 1 + 2 * count) {}

  __device__ void tell(long long tile, unsigned state, T value) const {
    if constexpr (sizeof(T) == 8) {
      publish((state == kOfAll ? all_ : own_) + tile, to_word(value));
      __threadfence();
      publish(words_ + tile, static_cast<unsigned long long>(state));
    } else {
      publish(words_ + tile, static_cast<unsigned long long>(state) << 32 | to_word(value));
    }
  }
  /// What the tile has told, if anything.
  __device__ unsigned look(long long tile, T& value) const {
    const unsigned long long word = watched(words_ + tile);
    if constexpr (sizeof(T) == 8) {
      if (word == kNothingYet) return kNothingYet;
      __threadfence();
      value = from_word<T>(watched((word == kOfAll ? all_ : own_) + tile));
      return static_cast<unsigned>(word);
    } else {
      value = from_word<T>(word);
      return static_cast<unsigned>(word >> 32);
    }
  }

  /// By a whole warp, a lane for each tile that is looked at: what all tiles from `first` to before `tile` have
  /// together, for lane 0.
  template <class Put>
  __device__ T before(long long tile, long long first, T neutral, const Put& put) const {
    T sum = neutral;
    for (long long end = tile; end > first; end -= 32) {
      const long long asked = end - 1 - lane_of_thread();
      T value = neutral;
      Looked looked(asked >= first ? look(asked, value) : kOfAll);
      while (!looked.is_enough) {
        __nanosleep(kPatienceNs);
        looked = Looked(asked >= first ? look(asked, value) : kOfAll);
      }
      if (lane_of_thread() > looked.last) value = neutral;
#pragma unroll
      for (int lanes = 1; lanes < 32; lanes *= 2) {
        const T above = from_above(value, lanes);  // of tiles that come before
        if (lane_of_thread() + lanes < 32) value = put(above, value);
      }
      sum = put(value, sum);
      if (looked.is_all) break;
    }
    return sum;
  }

 private:
  unsigned long long* words_;
  unsigned long long* own_;
  unsigned long long* all_;
};

/// The same for counts: state and count are one word, of 64 bits.
constexpr unsigned long long kCountMask = ~0ULL >> 2;
__device__ inline unsigned long long counted_before(unsigned long long* words, long long tile) {
  unsigned long long sum = 0;
  for (long long end = tile; end > 0; end -= 32) {
    const long long asked = end - 1 - lane_of_thread();
    const auto look = [&] {
      return asked >= 0 ? watched(words + asked) : static_cast<unsigned long long>(kOfAll) << 62;
    };
    unsigned long long word = look();
    Looked looked(static_cast<unsigned>(word >> 62));
    while (!looked.is_enough) {
      __nanosleep(kPatienceNs);
      word = look();
      looked = Looked(static_cast<unsigned>(word >> 62));
    }
    unsigned long long count = lane_of_thread() > looked.last ? 0 : word & kCountMask;
    for (int lanes = 16; lanes > 0; lanes /= 2) count += __shfl_xor_sync(kAllLanes, count, lanes);
    sum += count;
    if (looked.is_all) break;
  }
  return sum;
}

}  // namespace
}  // namespace troupe::cuda
