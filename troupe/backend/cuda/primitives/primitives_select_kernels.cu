// What is chosen: flagged elements, runs, places of keys, sets, elements by positions; and what is checked ahead of it.
#include "troupe/backend/cuda/primitives/primitives_threads.cuh"
#include "troupe/core/kinds.hpp"
#include "troupe/op/primitives_finding.hpp"

namespace troupe::cuda {
namespace {

template <class T>
__device__ void select_flagged(const SelectArguments& a) {
  __shared__ unsigned sums[kPrimitivesWarps];
  __shared__ unsigned long long tile_before;
  __shared__ unsigned short order[kSelectTile];  // places in the tile: what is flagged, then the others
  const int me = static_cast<int>(threadIdx.x);
  const long long tile = take_number(a.tiles);
  const long long begin = tile * kSelectTile;
  const int count = static_cast<int>(min(static_cast<long long>(kSelectTile), a.length - begin));
  const int mine = me * kSelectItems;
  const unsigned char* const flags_in = a.flags + begin + mine;
  unsigned flags = 0;
  if (mine + kSelectItems <= count && reinterpret_cast<unsigned long long>(flags_in) % 16 == 0) {
    const uint4 packed = *reinterpret_cast<const uint4*>(flags_in);
    const unsigned words[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
    for (int i = 0; i < kSelectItems; ++i) flags |= ((words[i / 4] >> (8 * (i % 4)) & 0xff) != 0 ? 1U : 0U) << i;
  } else {
    for (int i = 0; i < kSelectItems; ++i)
      if (mine + i < count && flags_in[i] != 0) flags |= 1U << i;
  }
  unsigned all = 0;
  unsigned at = sum_before(static_cast<unsigned>(__popc(flags)), sums, all);
  unsigned long long* const words = a.tiles + 1;
  if (me == 0) publish(words + tile, static_cast<unsigned long long>(tile == 0 ? kOfAll : kOfTile) << 62 | all);
  unsigned other = all + static_cast<unsigned>(mine) - at;
#pragma unroll
  for (int i = 0; i < kSelectItems; ++i) {
    const bool is_flagged = (flags >> i & 1) != 0;
    if (is_flagged) order[at++] = static_cast<unsigned short>(mine + i);
    if (!is_flagged && a.rest != nullptr && mine + i < count) order[other++] = static_cast<unsigned short>(mine + i);
  }
  __syncthreads();
  // Fetched before the tiles before this one are waited for.
  const auto* const x = static_cast<const T*>(a.x) + begin;
  T fetched[kSelectItems];
  if (a.y != nullptr) {
#pragma unroll
    for (int k = 0; k < kSelectItems; ++k)
      if (const unsigned i = threadIdx.x + k * kPrimitivesThreads; i < all) fetched[k] = x[order[i]];
  }
  if (warp_of_thread() == 0) {
    const unsigned long long tiles = tile == 0 ? 0 : counted_before(words, tile);
    if (lane_of_thread() == 0) {
      if (tile != 0) publish(words + tile, static_cast<unsigned long long>(kOfAll) << 62 | (tiles + all));
      if (tile == a.all_tiles - 1) *a.count = static_cast<long long>(tiles + all);
      tile_before = tiles;
    }
  }
  __syncthreads();
  const auto before = static_cast<long long>(tile_before);
  if (a.y != nullptr) {
    auto* const y = static_cast<T*>(a.y) + before;
#pragma unroll
    for (int k = 0; k < kSelectItems; ++k)
      if (const unsigned i = threadIdx.x + k * kPrimitivesThreads; i < all) y[i] = fetched[k];
  }
  if (a.positions != nullptr)
    for (unsigned i = threadIdx.x; i < all; i += kPrimitivesThreads)
      store_index(a.positions, before + i, begin + order[i], a.wide);
  if (a.rest != nullptr) {
    auto* const rest = static_cast<T*>(a.rest) + (begin - before);
    for (unsigned i = threadIdx.x; i < static_cast<unsigned>(count) - all; i += kPrimitivesThreads)
      rest[i] = x[order[all + i]];
  }
}

template <class T>
__device__ void append_rest(const AppendArguments& a) {
  const long long count = *a.count;
  for (long long i = first_index(); i < a.length - count; i += index_step())
    static_cast<T*>(a.y)[count + i] = static_cast<const T*>(a.rest)[i];
}

template <class Bits>
__device__ void mark_runs(const RunArguments& a) {
  const Order<Bits> order(a.order);
  const auto* const x = static_cast<const Bits*>(a.x);
  for (long long i = first_index(); i < a.length; i += index_step())
    a.flags[i] = i == 0 || order(x[i]) != order(x[i - 1]) ? 1 : 0;
}

template <class Bits>
__device__ void search(const SearchArguments& a) {
  const Order<Bits> order(a.order);
  for (long long i = first_index(); i < a.keys_count; i += index_step()) {
    const Bits rank = order(static_cast<const Bits*>(a.keys)[i]);
    const long long place = places_before(static_cast<const Bits*>(a.sorted), a.length, order, rank, a.after_equal);
    store_index(a.places, i, place, a.wide);
  }
}

/// A key that comes t-th of its equals in a, of which there are n in b, is in the result or not by t and n.
template <class Bits>
__device__ void mark_set(const SetArguments& a) {
  const auto operation = static_cast<SetOperation>(a.operation);
  const Order<Bits> order(a.order);
  for (long long i = first_index(); i <= a.a_length + a.b_length; i += index_step()) {
    if (i == a.a_length + a.b_length) {
      a.flags[i] = 0;
      continue;
    }
    const bool is_a = i < a.a_length;
    const auto* const own = static_cast<const Bits*>(is_a ? a.a : a.b);
    const auto* const others = static_cast<const Bits*>(is_a ? a.b : a.a);
    const long long place = is_a ? i : i - a.a_length;
    const Bits rank = order(own[place]);
    const long long t = place - places_before(own, is_a ? a.a_length : a.b_length, order, rank, false);
    const long long other_count = is_a ? a.b_length : a.a_length;
    const long long n =
        places_before(others, other_count, order, rank, true) - places_before(others, other_count, order, rank, false);
    bool is_kept = t >= n;
    if (operation == SetOperation::unite) is_kept = is_a || t >= n;
    if (operation == SetOperation::intersect) is_kept = is_a && t < n;
    if (operation == SetOperation::difference) is_kept = is_a && t >= n;
    a.flags[i] = is_kept ? 1 : 0;
  }
}
/// `flags` are now how many are kept before each key.
template <class Bits>
__device__ void place_set(const SetArguments& a) {
  if (has_finding(a.finding)) return;
  const Order<Bits> order(a.order);
  const long long of_a = a.flags[a.a_length];
  const long long keys = a.a_length + a.b_length;
  if (first_index() == 0) *a.count = a.flags[keys];
  for (long long i = first_index(); i < keys; i += index_step()) {
    if (a.flags[i] == a.flags[i + 1]) continue;
    const bool is_a = i < a.a_length;
    const Bits key = is_a ? static_cast<const Bits*>(a.a)[i] : static_cast<const Bits*>(a.b)[i - a.a_length];
    const long long others = is_a ? places_before(static_cast<const Bits*>(a.b), a.b_length, order, order(key), false)
                                  : places_before(static_cast<const Bits*>(a.a), a.a_length, order, order(key), true);
    const long long at =
        is_a ? a.flags[i] + (a.flags[a.a_length + others] - of_a) : a.flags[i] - of_a + a.flags[others];
    static_cast<Bits*>(a.y)[at] = key;
  }
}

__device__ inline void note(FirstFinding* first, long long place, op::PrimitivesFault fault) {
  atomicMin(first, static_cast<FirstFinding>(place) * kFaults + static_cast<FirstFinding>(fault));
}

template <class Bits>
__device__ void check_keys(const CheckArguments& a) {
  const Order<Bits> order(a.order);
  const auto* const keys = static_cast<const Bits*>(a.data);
  for (long long i = 1 + first_index(); i < a.length; i += index_step())
    if (order(keys[i]) < order(keys[i - 1])) note(a.finding, i, static_cast<op::PrimitivesFault>(a.fault));
}

template <class T>
__device__ void arrange(const ArrangeArguments& a) {
  if (has_finding(a.finding)) return;
  for (long long i = first_index(); i < a.rows * a.length; i += index_step()) {
    const long long row = a.rows == 1 ? 0 : i / a.length;
    const long long place = i - row * a.length;
    long long from = place;
    if (a.positions != nullptr)
      from = a.wide ? static_cast<const long long*>(a.positions)[row * a.positions_stride + place]
                    : static_cast<const unsigned*>(a.positions)[row * a.positions_stride + place];
    static_cast<T*>(a.y)[row * a.y_stride + place] = static_cast<const T*>(a.x)[row * a.x_stride + from];
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up
using troupe::op::PrimitivesFault;

#define TROUPE_THREADS extern "C" __global__ void __launch_bounds__(kPrimitivesThreads)
#define TROUPE_OF_KEYS(size, Bits)                                                     \
  TROUPE_THREADS troupe_mark_runs_##size(const RunArguments a) { mark_runs<Bits>(a); } \
  TROUPE_THREADS troupe_search_##size(const SearchArguments a) { search<Bits>(a); }    \
  TROUPE_THREADS troupe_mark_set_##size(const SetArguments a) { mark_set<Bits>(a); }   \
  TROUPE_THREADS troupe_place_set_##size(const SetArguments a) { place_set<Bits>(a); } \
  TROUPE_THREADS troupe_check_keys_##size(const CheckArguments a) { check_keys<Bits>(a); }
TROUPE_OF_KEYS(1, std::uint8_t)
TROUPE_OF_KEYS(2, std::uint16_t)
TROUPE_OF_KEYS(4, std::uint32_t)
TROUPE_OF_KEYS(8, std::uint64_t)

// As many blocks at a time as keep the memory busy; larger elements need the registers.
constexpr int select_blocks(int size_bytes) { return size_bytes <= 4 ? 6 : 1; }

#define TROUPE_OF_ANY(size, T)                                                             \
  extern "C" __global__ void __launch_bounds__(kPrimitivesThreads, select_blocks(size))    \
      troupe_select_##size(const SelectArguments a) {                                      \
    select_flagged<T>(a);                                                                  \
  }                                                                                        \
  TROUPE_THREADS troupe_append_rest_##size(const AppendArguments a) { append_rest<T>(a); } \
  TROUPE_THREADS troupe_arrange_##size(const ArrangeArguments a) { arrange<T>(a); }
TROUPE_OF_ANY(1, std::uint8_t)
TROUPE_OF_ANY(2, std::uint16_t)
TROUPE_OF_ANY(4, std::uint32_t)
TROUPE_OF_ANY(8, std::uint64_t)
TROUPE_OF_ANY(16, uint4)

TROUPE_THREADS troupe_run_lengths(const RunLengthArguments a) {
  const long long count = *a.count;
  for (long long i = first_index(); i < count; i += index_step())
    store_index(a.lengths, i, (i + 1 < count ? a.begins[i + 1] : a.length) - a.begins[i], a.wide);
}

TROUPE_THREADS troupe_check_offsets(const CheckArguments a) {
  for (long long i = first_index(); i < a.length; i += index_step()) {
    const long long offset = load_index(a.data, i, a.wide);
    if (i == 0 && offset != 0) note(a.finding, i, PrimitivesFault::first_offset);
    if (i > 0 && offset < load_index(a.data, i - 1, a.wide)) note(a.finding, i, PrimitivesFault::offset_falls);
    if (i == a.length - 1 && offset != a.bound) note(a.finding, i, PrimitivesFault::last_offset);
  }
}

/// The verdict was zeros before.
TROUPE_THREADS troupe_tell_finding(const VerdictArguments a) {
  if (first_index() != 0 || *a.finding == kNoFinding) return;
  troupe::op::PrimitivesFinding found;
  found.fault = static_cast<PrimitivesFault>(*a.finding % kFaults);
  found.place = static_cast<long long>(*a.finding / kFaults);
  if (a.data != nullptr) {
    const auto value = [&](long long place) {
      const long long row = place / a.length;
      return load_index(a.data, row * a.stride + (place - row * a.length), a.wide);
    };
    found.value = value(found.place);
    found.bound = found.fault == PrimitivesFault::offset_falls ? value(found.place - 1) : a.bound;
  }
  write_verdict(found, a.verdict);
}

TROUPE_THREADS troupe_mark_segments(const SegmentArguments a) {
  if (has_finding(a.finding)) return;
  for (long long i = first_index(); i < a.offsets_count; i += index_step()) {
    const long long begin = load_index(a.offsets, i, a.wide);
    if (begin < a.length) static_cast<unsigned char*>(a.out)[begin] = 1;
  }
}

/// The last segment that begins at the position or before it: those before that one are empty or have ended.
TROUPE_THREADS troupe_find_segments(const SegmentArguments a) {
  if (has_finding(a.finding)) return;
  for (long long i = first_index(); i < a.length; i += index_step()) {
    const long long position =
        a.wide_positions ? static_cast<const long long*>(a.positions)[i] : static_cast<const unsigned*>(a.positions)[i];
    long long begin = 0;
    long long end = a.offsets_count;
    while (begin < end) {
      const long long middle = begin + (end - begin) / 2;
      if (load_index(a.offsets, middle, a.wide) <= position)
        begin = middle + 1;
      else
        end = middle;
    }
    if (a.wide_positions)
      static_cast<long long*>(a.out)[i] = begin - 1;
    else
      static_cast<unsigned*>(a.out)[i] = static_cast<unsigned>(begin - 1);
  }
}
