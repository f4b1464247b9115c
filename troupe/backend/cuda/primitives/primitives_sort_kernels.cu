// Sorts by digits of 8 bits, the lowest first. One kernel counts the digits of all passes; then each pass reads the
// keys once and writes each to its place. A row that has room in a block has all its passes there. Keys stay as they
// are; digits are those of their ranks, so any order is one for unsigned integers.
#include "troupe/backend/cuda/primitives/primitives_count.cuh"
#include "troupe/backend/cuda/primitives/primitives_short_sort.cuh"

namespace troupe::cuda {
namespace {

template <class Bits>
__device__ void count_all(const SortCountArguments& a) {
  __shared__ CountShared<Bits> shared;
  if (a.order.is_floating)
    count_digits<Bits, true>(a, shared);
  else
    count_digits<Bits, false>(a, shared);
}
template <class Bits, class Value>
__device__ void sort_all(const SortPassArguments& a) {
  constexpr int kItems = sort_items(sizeof(Bits) == 8 || sizeof(Value) == 8 ? 8 : 4);
  __shared__ SortShared<Bits, Value, kSortThreads, kItems> shared;
  if (a.order.is_floating)
    sort_pass<Bits, Value, true>(a, shared);
  else
    sort_pass<Bits, Value, false>(a, shared);
}
template <class Bits>
__device__ void sort_short(const ShortSortArguments& a) {
  __shared__ ShortSortShared<Bits> shared;
  if (a.order.is_floating)
    sort_short_row<Bits, true>(a, shared);
  else
    sort_short_row<Bits, false>(a, shared);
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

// Three blocks at once, which leaves 56 registers to a thread, are faster where that is enough.
#define TROUPE_KEYS(Bits) extern "C" __global__ void __launch_bounds__(kSortThreads, sizeof(Bits) == 8 ? 2 : 3)
#define TROUPE_PASS extern "C" __global__ void __launch_bounds__(kSortThreads, 2)
#define TROUPE_BLOCKS extern "C" __global__ void __launch_bounds__(kPrimitivesThreads)
#define TROUPE_SORT(size, Bits)                                                                                \
  TROUPE_BLOCKS troupe_count_digits_##size(const SortCountArguments a) { count_all<Bits>(a); }                 \
  TROUPE_KEYS(Bits) troupe_sort_keys_##size(const SortPassArguments a) { sort_all<Bits, NoValue>(a); }         \
  TROUPE_PASS troupe_sort_with_4_bytes_##size(const SortPassArguments a) { sort_all<Bits, std::uint32_t>(a); } \
  TROUPE_PASS troupe_sort_with_8_bytes_##size(const SortPassArguments a) { sort_all<Bits, std::uint64_t>(a); } \
  TROUPE_BLOCKS troupe_sort_short_##size(const ShortSortArguments a) { sort_short<Bits>(a); }
TROUPE_SORT(1, std::uint8_t)
TROUPE_SORT(2, std::uint16_t)
TROUPE_SORT(4, std::uint32_t)
TROUPE_SORT(8, std::uint64_t)
