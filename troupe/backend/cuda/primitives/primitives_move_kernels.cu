// Elements by indices, from them and to them, and counts of bins.
#include "troupe/backend/cuda/primitives/primitives_threads.cuh"
#include "troupe/op/primitives_finding.hpp"

namespace troupe::cuda {
namespace {

/// Calls `take(row, place in the row, index)` for this thread's indices.
template <class Take>
__device__ void for_indices(const IndexedArguments& a, const Take& take) {
  for (long long i = first_index(); i < a.rows * a.length; i += index_step()) {
    const long long row = a.rows == 1 ? 0 : i / a.length;
    const long long place = i - row * a.length;
    take(row, place, load_index(a.indices, row * a.indices_stride + place, a.wide));
  }
}
/// Notes an index that is outside.
__device__ inline bool is_inside(const IndexedArguments& a, long long row, long long place, long long index) {
  if (index >= 0 && index < a.bound) return true;
  atomicMin(a.finding, static_cast<FirstFinding>(row * a.length + place) * kFaults +
                           static_cast<FirstFinding>(op::PrimitivesFault::index_outside));
  return false;
}

template <class T>
__device__ void gather(const IndexedArguments& a) {
  for_indices(a, [&](long long row, long long place, long long index) {
    if (is_inside(a, row, place, index))
      static_cast<T*>(a.y)[row * a.y_stride + place] = static_cast<const T*>(a.x)[row * a.x_stride + index];
  });
}

template <class T>
__device__ void scatter(const IndexedArguments& a) {
  if (has_finding(a.finding)) return;
  for_indices(a, [&](long long row, long long place, long long index) {
    if (a.winners != nullptr && a.winners[row * a.bound + index] != static_cast<unsigned long long>(place) + 1) return;
    static_cast<T*>(a.y)[row * a.y_stride + index] = static_cast<const T*>(a.x)[row * a.x_stride + place];
  });
}

template <Combine function, class T>
__device__ T put_together(T a, T b) {
  return static_cast<T>(primitives::combine<function>(primitives::widened(a), primitives::widened(b)));
}

/// *at becomes `function` of itself and the element, whoever else does the same. An element of less than 4 bytes is
/// part of a word, which must be only ours.
template <Combine function, class T>
__device__ void combine_at(T* at, T element) {
  constexpr bool kIsNumber = !detail::kIsSmallFloat<T>;
  if constexpr (function == Combine::sum && kIsNumber && sizeof(T) >= 4) {
    if constexpr (std::integral<T>)
      atomicAdd(reinterpret_cast<std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>*>(at),
                static_cast<std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>>(element));
    else
      atomicAdd(at, element);
  } else if constexpr (sizeof(T) == 8) {
    auto* const words = reinterpret_cast<unsigned long long*>(at);
    unsigned long long old = watched(words);
    while (true) {
      const unsigned long long made = to_word(put_together<function>(from_word<T>(old), element));
      if (made == old) return;
      const unsigned long long seen = atomicCAS(words, old, made);
      if (seen == old) return;
      old = seen;
    }
  } else {
    using Bits = primitives::KeyBits<T>;
    const auto address = reinterpret_cast<unsigned long long>(at);
    auto* const words = reinterpret_cast<unsigned*>(address & ~3ULL);
    const auto shift = static_cast<unsigned>(address & 3) * 8;
    const unsigned mask = static_cast<unsigned>(static_cast<Bits>(~Bits{0})) << shift;
    unsigned old = watched(words);
    while (true) {
      const T made = put_together<function>(from_word<T>(old >> shift), element);
      const unsigned word = (old & ~mask) | static_cast<unsigned>(to_word(made)) << shift;
      if (word == old) return;
      const unsigned seen = atomicCAS(words, old, word);
      if (seen == old) return;
      old = seen;
    }
  }
}
template <Combine function, class T>
__device__ void scatter_combined(const IndexedArguments& a) {
  if (has_finding(a.finding)) return;
  for_indices(a, [&](long long row, long long place, long long index) {
    combine_at<function>(static_cast<T*>(a.y) + row * a.y_stride + index,
                         static_cast<const T*>(a.x)[row * a.x_stride + place]);
  });
}

template <class T>
__device__ double as_double(T element) {
  return static_cast<double>(primitives::widened(element));
}

/// Counts in shared memory when there is room, and adds them up.
template <class T, class Bin>
__device__ void count_bins(const HistogramArguments& a, const Bin& bin) {
  __shared__ unsigned counts[kMostSharedBins];
  const bool is_shared = a.bins <= kMostSharedBins;
  if (is_shared) {
    for (int i = static_cast<int>(threadIdx.x); i < a.bins; i += kPrimitivesThreads) counts[i] = 0;
    __syncthreads();
  }
#pragma unroll 4
  for (long long i = first_index(); i < a.length; i += index_step()) {
    const long long at = bin(static_cast<const T*>(a.x)[i]);
    if (at < 0) continue;
    if (is_shared)
      atomicAdd(counts + at, 1U);
    else
      atomicAdd(a.counts + at, 1ULL);
  }
  if (!is_shared) return;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < a.bins; i += kPrimitivesThreads)
    if (counts[i] != 0) atomicAdd(a.counts + i, static_cast<unsigned long long>(counts[i]));
}
template <class T>
__device__ void histogram(const HistogramArguments& a) {
  count_bins<T>(a, [&](T element) { return primitives::bin_of(as_double(element), a.low, a.high, a.bins); });
}
template <class T>
__device__ void histogram_bounds(const HistogramArguments& a) {
  if (has_finding(a.finding)) return;
  const auto* const bounds = static_cast<const T*>(a.bounds);
  count_bins<T>(a, [&](T element) -> long long {
    const auto number = primitives::widened(element);
    long long begin = 0;  // of the bounds, how many are not greater
    long long end = a.bins + 1;
    while (begin < end) {
      const long long middle = begin + (end - begin) / 2;
      if (primitives::widened(bounds[middle]) <= number)
        begin = middle + 1;
      else
        end = middle;
    }
    if (begin <= a.bins) return begin - 1;
    return number == primitives::widened(bounds[a.bins]) ? a.bins - 1 : -1;
  });
}
template <class T>
__device__ void check_bounds(const CheckArguments& a) {
  const auto* const bounds = static_cast<const T*>(a.data);
  const auto note = [&](long long place, op::PrimitivesFault fault) {
    atomicMin(a.finding, static_cast<FirstFinding>(place) * kFaults + static_cast<FirstFinding>(fault));
  };
  for (long long i = first_index(); i < a.length; i += index_step()) {
    const auto bound = primitives::widened(bounds[i]);
    if (primitives::is_nan(bound)) note(i, op::PrimitivesFault::bound_is_nan);
    if (i > 0 && bound < primitives::widened(bounds[i - 1])) note(i, op::PrimitivesFault::bound_falls);
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe;        // for the types of the elements
using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_THREADS extern "C" __global__ void __launch_bounds__(kPrimitivesThreads)
#define TROUPE_OF_SIZE(size, T)                                                   \
  TROUPE_THREADS troupe_gather_##size(const IndexedArguments a) { gather<T>(a); } \
  TROUPE_THREADS troupe_scatter_##size(const IndexedArguments a) { scatter<T>(a); }
TROUPE_OF_SIZE(1, std::uint8_t)
TROUPE_OF_SIZE(2, std::uint16_t)
TROUPE_OF_SIZE(4, std::uint32_t)
TROUPE_OF_SIZE(8, std::uint64_t)
TROUPE_OF_SIZE(16, uint4)

#define TROUPE_OF_TYPE(type, T)                                                                                \
  TROUPE_THREADS troupe_scatter_add_##type(const IndexedArguments a) { scatter_combined<Combine::sum, T>(a); } \
  TROUPE_THREADS troupe_scatter_min_##type(const IndexedArguments a) { scatter_combined<Combine::min, T>(a); } \
  TROUPE_THREADS troupe_scatter_max_##type(const IndexedArguments a) { scatter_combined<Combine::max, T>(a); } \
  TROUPE_THREADS troupe_histogram_##type(const HistogramArguments a) { histogram<T>(a); }                      \
  TROUPE_THREADS troupe_histogram_bounds_##type(const HistogramArguments a) { histogram_bounds<T>(a); }        \
  TROUPE_THREADS troupe_check_bounds_##type(const CheckArguments a) { check_bounds<T>(a); }
TROUPE_OF_TYPE(f64, double)
TROUPE_OF_TYPE(f32, float)
TROUPE_OF_TYPE(f16, f16)
TROUPE_OF_TYPE(bf16, bf16)
TROUPE_OF_TYPE(i8, std::int8_t)
TROUPE_OF_TYPE(u8, std::uint8_t)
TROUPE_OF_TYPE(i16, std::int16_t)
TROUPE_OF_TYPE(u16, std::uint16_t)
TROUPE_OF_TYPE(i32, std::int32_t)
TROUPE_OF_TYPE(u32, std::uint32_t)
TROUPE_OF_TYPE(i64, std::int64_t)
TROUPE_OF_TYPE(u64, std::uint64_t)

TROUPE_THREADS troupe_check_indices(const IndexedArguments a) {
  for_indices(a, [&](long long row, long long place, long long index) { (void)is_inside(a, row, place, index); });
}
TROUPE_THREADS troupe_find_winners(const IndexedArguments a) {
  if (has_finding(a.finding)) return;
  for_indices(a, [&](long long row, long long place, long long index) {
    atomicMax(a.winners + row * a.bound + index, static_cast<unsigned long long>(place) + 1);
  });
}
TROUPE_THREADS troupe_store_counts(const StoreCountsArguments a) {
  if (has_finding(a.finding)) return;
  for (long long i = first_index(); i < a.length; i += index_step())
    store_index(a.counts, i, static_cast<long long>(a.from[i]), a.wide);
}
