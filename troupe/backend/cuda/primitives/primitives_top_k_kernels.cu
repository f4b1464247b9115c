// The k first in the order of rows: a few of them while a row is read once, and any number by the digits of the last.
#include "troupe/backend/cuda/primitives/primitives_top_k.cuh"

namespace troupe::cuda {
namespace {

template <class Bits>
__device__ void find_best(const TopKArguments& a) {
  __shared__ BestShared<Bits> shared;
  if (a.order.is_floating)
    find_best<Bits, true>(a, shared);
  else
    find_best<Bits, false>(a, shared);
}

/// In the order in which they come: k elements of the row that are before all others. A block narrows the rank of the
/// last of them down by one digit after another, from the highest. Needs a row of less than 2^32.
template <class Bits>
__device__ void collect_best(const CollectArguments& a) {
  __shared__ unsigned counts[kDigits];
  __shared__ unsigned long long sums[kPrimitivesWarps];
  __shared__ unsigned long long left_shared;
  __shared__ unsigned digit_shared;
  const int me = static_cast<int>(threadIdx.x);
  const long long row = blockIdx.x;
  const auto* const keys = static_cast<const Bits*>(a.keys) + row * a.keys_stride;
  const Order<Bits> order(a.order);
  Bits last = 0;                                                   // the digits of its rank that are known
  unsigned long long left = static_cast<unsigned long long>(a.k);  // elements that begin with these digits
  for (int shift = 8 * static_cast<int>(sizeof(Bits)) - 8; shift >= 0; shift -= 8) {
    counts[me] = 0;
    __syncthreads();
    const auto known = static_cast<Bits>(
        shift == 8 * static_cast<int>(sizeof(Bits)) - 8 ? Bits{0} : static_cast<Bits>(~Bits{0}) << (shift + 8));
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
  for (long long base = 0; base < a.length && taken < static_cast<unsigned long long>(a.k);
       base += kPrimitivesThreads) {
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
#define TROUPE_BEST(size, Bits)                                                        \
  TROUPE_BLOCKS troupe_find_best_##size(const TopKArguments a) { find_best<Bits>(a); } \
  TROUPE_BLOCKS troupe_collect_best_##size(const CollectArguments a) { collect_best<Bits>(a); }
TROUPE_BEST(1, std::uint8_t)
TROUPE_BEST(2, std::uint16_t)
TROUPE_BEST(4, std::uint32_t)
TROUPE_BEST(8, std::uint64_t)
