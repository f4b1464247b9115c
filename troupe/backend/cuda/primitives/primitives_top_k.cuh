// The k first in the order of a row, while it is read once. A block holds the best candidates so far and knows a rank
// that a key must be before to be one of the k: few are, so nearly all keys cost one comparison. When there is no room
// for more candidates the k best of them are kept, which brings that rank down.
#pragma once

#include "troupe/backend/cuda/primitives/primitives_threads.cuh"

namespace troupe::cuda {
namespace {

/// By its rank, and of several with the same rank by its place: no two are equal.
template <class Bits>
struct Candidate {
  Bits rank;
  unsigned place;

  __device__ bool operator<(const Candidate& other) const {
    return rank < other.rank || (rank == other.rank && place < other.place);
  }
  /// Digits of 8 bits, the highest first: those of the rank, then those of the place.
  static constexpr int kDigitCount = static_cast<int>(sizeof(Bits)) + 4;
  __device__ unsigned digit(int number) const {
    const unsigned long long word = number < kRankDigits ? rank : place;
    return static_cast<unsigned>(word >> shift_of(number)) & (kDigits - 1);
  }
  __device__ Candidate with_digit(int number, unsigned digit) const {
    Candidate made = *this;
    if (number < kRankDigits)
      made.rank = static_cast<Bits>(made.rank | static_cast<Bits>(static_cast<Bits>(digit) << shift_of(number)));
    else
      made.place |= digit << shift_of(number);
    return made;
  }
  /// With all digits behind the first `known` ones 0.
  __device__ Candidate beginning(int known) const {
    if (known == 0) return {0, 0};
    if (known <= kRankDigits) return {static_cast<Bits>(rank >> shift_of(known - 1) << shift_of(known - 1)), 0};
    return {rank, place >> shift_of(known - 1) << shift_of(known - 1)};
  }
  /// The greatest rank of those that begin so.
  __device__ Bits last_rank(int known) const {
    if (known >= kRankDigits) return rank;
    return static_cast<Bits>(rank | static_cast<Bits>((Bits{1} << shift_of(known - 1)) - 1));
  }
  __device__ bool operator==(const Candidate& other) const { return rank == other.rank && place == other.place; }

  static constexpr int kRankDigits = static_cast<int>(sizeof(Bits));
  static __device__ int shift_of(int number) {
    return number < kRankDigits ? 8 * (kRankDigits - 1 - number) : 8 * (kDigitCount - 1 - number);
  }
};

template <class Bits>
struct BestShared {
  static constexpr int kCapacity = best_capacity(sizeof(Bits));
  Bits ranks[kCapacity];
  unsigned places[kCapacity];
  unsigned counts[kDigits];
  unsigned sums[kPrimitivesWarps];
  unsigned count;
  unsigned digit;
  unsigned left;
  unsigned with_digit;

  __device__ Candidate<Bits> at(unsigned i) const { return {ranks[i], places[i]}; }
  __device__ void put(unsigned i, Candidate<Bits> candidate) {
    ranks[i] = candidate.rank;
    places[i] = candidate.place;
  }
};

/// Which keys may still be among the k.
template <class Bits>
struct Limit {
  Bits rank = 0;        // those before it
  bool is_open = true;  // all of them
};

/// Of all candidates, more than k, the k first are kept, in any order. By one digit after another of the last of them.
template <class Bits>
__device__ Limit<Bits> keep_best(BestShared<Bits>& shared, unsigned k) {
  using One = Candidate<Bits>;
  const unsigned me = threadIdx.x;
  const unsigned all = shared.count;
  One last{0, 0};
  unsigned left = k;
  int known = 0;
  while (known < One::kDigitCount) {
    shared.counts[me] = 0;
    __syncthreads();
    for (unsigned i = me; i < all; i += kPrimitivesThreads)
      if (const One one = shared.at(i); one.beginning(known) == last) atomicAdd(&shared.counts[one.digit(known)], 1U);
    __syncthreads();
    const unsigned own = shared.counts[me];
    unsigned counted = 0;
    const unsigned before = sum_before(own, shared.sums, counted);
    if (before < left && left <= before + own) {
      shared.digit = me;
      shared.left = left - before;
      shared.with_digit = own;
    }
    __syncthreads();
    last = last.with_digit(known, shared.digit);
    left = shared.left;
    ++known;
    if (left == shared.with_digit) break;  // all of those
  }
  if (me == 0) shared.count = 0;
  for (unsigned base = 0; base < all; base += kPrimitivesThreads) {
    const bool is_there = base + me < all;
    const One one = is_there ? shared.at(base + me) : One{0, 0};
    const One beginning = one.beginning(known);
    __syncthreads();  // places up to here have been read, and no more are written
    if (is_there && (beginning < last || beginning == last)) shared.put(atomicAdd(&shared.count, 1U), one);
  }
  __syncthreads();
  if (known >= One::kRankDigits) return {last.rank, false};
  const Bits greatest = last.last_rank(known);
  return {static_cast<Bits>(greatest + 1), greatest == static_cast<Bits>(~Bits{0})};
}

/// All candidates in order.
template <class Bits>
__device__ void sort_candidates(BestShared<Bits>& shared) {
  using One = Candidate<Bits>;
  const unsigned count = shared.count;
  unsigned room = 1;
  while (room < count) room *= 2;
  for (unsigned i = count + threadIdx.x; i < room; i += kPrimitivesThreads)
    shared.put(i, {static_cast<Bits>(~Bits{0}), ~0U});
  __syncthreads();
  for (unsigned size = 2; size <= room; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      for (unsigned t = threadIdx.x; t < room / 2; t += kPrimitivesThreads) {
        const unsigned i = 2 * t - (t & (stride - 1));
        const One low = shared.at(i), high = shared.at(i + stride);
        if ((high < low) != ((i & size) == 0)) continue;
        shared.put(i, high);
        shared.put(i + stride, low);
      }
      __syncthreads();
    }
}

/// The keys that a thread takes of a tile: some pieces, each of elements side by side.
template <class Bits>
struct BestTile {
  static constexpr int kItems = best_items(sizeof(Bits));
  static constexpr int kInPiece = kItems * sizeof(Bits) < 16 ? kItems : 16 / static_cast<int>(sizeof(Bits));
  static constexpr int kPieces = kItems / kInPiece;
  static constexpr int kTile = kItems * kPrimitivesThreads;
  struct alignas(kInPiece * sizeof(Bits)) Piece {
    Bits keys[kInPiece];
  };
  Piece pieces[kPieces];

  static __device__ unsigned place(int piece) {
    return (static_cast<unsigned>(piece) * kPrimitivesThreads + threadIdx.x) * kInPiece;
  }
  /// A tile at its begin; keys that are not there are anything.
  __device__ void load(const Bits* tile, long long count) {
    const bool is_aligned = reinterpret_cast<unsigned long long>(tile) % sizeof(Piece) == 0;
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      if (is_aligned && place(p) + kInPiece <= count) {
        pieces[p] = *reinterpret_cast<const Piece*>(tile + place(p));
      } else {
#pragma unroll
        for (int i = 0; i < kInPiece; ++i) pieces[p].keys[i] = place(p) + i < count ? tile[place(p) + i] : Bits{0};
      }
    }
  }
};

/// In their order. One block takes a part of a row: k of them, or as many as it has.
template <class Bits, bool kIsFloating>
__device__ void find_best(const TopKArguments& a, BestShared<Bits>& shared) {
  using Tile = BestTile<Bits>;
  constexpr unsigned kMost = BestShared<Bits>::kCapacity - Tile::kTile;  // before a tile
  const unsigned me = threadIdx.x;
  const long long row = blockIdx.x / a.row_parts;
  const long long part = blockIdx.x - row * a.row_parts;
  const long long begin = part * a.part;
  const long long length = (part == a.row_parts - 1 ? a.length : begin + a.part) - begin;
  const auto* const keys = static_cast<const Bits*>(a.keys) + row * a.keys_stride + begin;
  const primitives::Ranking<Bits> ranking{static_cast<Bits>(a.order.sign), static_cast<Bits>(a.order.infinity),
                                          kIsFloating};
  const Bits flip = a.order.descends ? static_cast<Bits>(~Bits{0}) : Bits{0};
  const auto k = static_cast<unsigned>(a.k);
  if (me == 0) shared.count = 0;
  __syncthreads();

  Limit<Bits> limit;
  Tile next;
  next.load(keys, length);
  for (long long at = 0; at < length; at += Tile::kTile) {
    const Tile tile = next;
    if (at + Tile::kTile < length) next.load(keys + at + Tile::kTile, length - at - Tile::kTile);
    unsigned chosen = 0;
#pragma unroll
    for (int p = 0; p < Tile::kPieces; ++p)
#pragma unroll
      for (int i = 0; i < Tile::kInPiece; ++i) {
        const auto rank = static_cast<Bits>(ranking(tile.pieces[p].keys[i]) ^ flip);
        if (rank < limit.rank || limit.is_open) chosen |= 1U << (p * Tile::kInPiece + i);
      }
    if (at + Tile::kTile > length) {
#pragma unroll
      for (int p = 0; p < Tile::kPieces; ++p)
#pragma unroll
        for (int i = 0; i < Tile::kInPiece; ++i)
          if (at + Tile::place(p) + i >= length) chosen &= ~(1U << (p * Tile::kInPiece + i));
    }
    bool is_full = false;
    if (chosen != 0) {
      unsigned to = atomicAdd(&shared.count, static_cast<unsigned>(__popc(chosen)));
      is_full = to + static_cast<unsigned>(__popc(chosen)) > kMost;
#pragma unroll
      for (int p = 0; p < Tile::kPieces; ++p)
#pragma unroll
        for (int i = 0; i < Tile::kInPiece; ++i)
          if ((chosen >> (p * Tile::kInPiece + i) & 1) != 0)
            shared.put(to++, {static_cast<Bits>(ranking(tile.pieces[p].keys[i]) ^ flip),
                              static_cast<unsigned>(at) + Tile::place(p) + i});
    }
    // After the first tile, too, or all others would have to be held.
    is_full = __syncthreads_or(is_full) != 0;
    if (is_full || (limit.is_open && at + Tile::kTile < length)) {
      if (shared.count > k)
        limit = keep_best(shared, k);
      else
        __syncthreads();  // all have seen the count
    }
  }
  __syncthreads();
  constexpr unsigned kFew = 512;  // which are as soon sorted as the best are found
  if (shared.count > k && shared.count > kFew) keep_best(shared, k);
  sort_candidates(shared);
  const auto* const from = static_cast<const Bits*>(a.keys) + row * a.keys_stride;
  for (unsigned i = me; i < k && i < shared.count; i += kPrimitivesThreads) {
    const long long place = begin + shared.places[i];
    const long long to = part * a.k + i;
    static_cast<Bits*>(a.best)[row * a.best_stride + to] = from[place];
    const long long index = a.from == nullptr ? place : load_index(a.from, row * a.keys_stride + place, a.wide);
    store_index(a.indices, row * a.indices_stride + to, index, a.wide);
  }
}

}  // namespace
}  // namespace troupe::cuda
