// Rows, or segments, to one element each, or to where their least or greatest is. A warp takes a short row. A long one
// is parted for several blocks, and the one that ends last puts the parts together, always in the same order.
#include "troupe/backend/cuda/primitives/primitives_threads.cuh"
#include "troupe/backend/cuda/primitives/primitives_types.hpp"

namespace troupe::cuda {
namespace {

/// The elements of a row that a warp or a block takes.
struct Part {
  const void* partials;
  long long begin;
  long long end;
};

__device__ inline void find_row(const RowReduceArguments& a, long long row, long long& begin, long long& length) {
  begin = a.offsets == nullptr ? row * a.x_stride : load_index(a.offsets, row, a.wide);
  length = a.offsets == nullptr ? a.length : load_index(a.offsets, row + 1, a.wide) - begin;
}

/// `Work` is `const Element* x`, `Value start()`, `Value of(Element, place in the row)`, `Value put(Value, Value)`,
/// `void store(row, Value)` and `Value across(Value, lanes)`, which brings a value from a lane whose number differs in
/// that bit.
template <class Work>
__device__ typename Work::Value of_lanes(const Work& work, typename Work::Value value) {
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    const auto other = work.across(value, lanes);
    // The lower lane's elements come first.
    value = (lane_of_thread() & lanes) == 0 ? work.put(value, other) : work.put(other, value);
  }
  return value;
}

template <class Work>
__device__ void reduce_rows(const RowReduceArguments& a, const Work& work) {
  using Value = typename Work::Value;
  if (has_finding(a.finding)) return;
  if (a.by_warps) {
    for (long long row = first_index() / 32; row < a.rows; row += index_step() / 32) {
      long long begin = 0, length = 0;
      find_row(a, row, begin, length);
      Value value = work.start();
      for (long long i = lane_of_thread(); i < length; i += 32) value = work.put(value, work.of(work.x[begin + i], i));
      value = of_lanes(work, value);
      if (lane_of_thread() == 0) work.store(row, value);
    }
    return;
  }

  __shared__ Value warp_values[kPrimitivesWarps];
  __shared__ bool is_last;
  const long long row = blockIdx.x / a.chunks;
  const long long chunk = blockIdx.x - row * a.chunks;
  long long begin = 0, length = 0;
  find_row(a, row, begin, length);
  const long long end = min(length, (chunk + 1) * a.chunk);
  const long long from = chunk * a.chunk;
  using Element = typename Work::Element;
  constexpr int kInPiece = 16 / static_cast<int>(sizeof(Element));
  constexpr int kAhead = kInPiece > 4 ? 2 : 4;  // pieces under way at once
  struct alignas(16) Piece {
    Element elements[kInPiece];
  };
  const Element* const x = work.x + begin;
  // Elements up to the first whole piece, the pieces, and what is left.
  const auto misplaced = static_cast<long long>(reinterpret_cast<unsigned long long>(x + from) % 16 / sizeof(Element));
  const long long pieces_begin = min(max(end, from), from + (misplaced == 0 ? 0 : kInPiece - misplaced));
  const long long pieces = max(end - pieces_begin, 0LL) / kInPiece;
  Value value = work.start();
  const auto take = [&](long long i) { value = work.put(value, work.of(x[i], i)); };
  const auto take_piece = [&](const Piece& piece, long long number) {
#pragma unroll
    for (int i = 0; i < kInPiece; ++i)
      value = work.put(value, work.of(piece.elements[i], pieces_begin + number * kInPiece + i));
  };
  if (from + threadIdx.x < pieces_begin) take(from + threadIdx.x);
  const auto* const in_pieces = reinterpret_cast<const Piece*>(x + pieces_begin);
  long long number = threadIdx.x;
  for (; number + (kAhead - 1) * kPrimitivesThreads < pieces; number += kAhead * kPrimitivesThreads) {
    Piece ahead[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) ahead[k] = in_pieces[number + k * kPrimitivesThreads];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) take_piece(ahead[k], number + k * kPrimitivesThreads);
  }
  for (; number < pieces; number += kPrimitivesThreads) take_piece(in_pieces[number], number);
  for (long long i = pieces_begin + pieces * kInPiece + threadIdx.x; i < end; i += kPrimitivesThreads) take(i);

  const auto of_block = [&](Value mine) {
    mine = of_lanes(work, mine);
    if (lane_of_thread() == 0) warp_values[warp_of_thread()] = mine;
    __syncthreads();
    mine = warp_values[0];
    for (int warp = 1; warp < kPrimitivesWarps; ++warp) mine = work.put(mine, warp_values[warp]);
    return mine;
  };
  value = of_block(value);
  if (a.chunks == 1) {
    if (threadIdx.x == 0) work.store(row, value);
    return;
  }
  auto* const partials = static_cast<Value*>(a.partials) + row * a.chunks;
  if (threadIdx.x == 0) {
    partials[chunk] = value;
    __threadfence();
    is_last = atomicAdd(a.finished + row, 1U) == static_cast<unsigned>(a.chunks - 1);
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  value = work.start();
  for (long long c = threadIdx.x; c < a.chunks; c += kPrimitivesThreads)
    value = work.put(value, work.watch(partials + c));
  value = of_block(value);
  if (threadIdx.x == 0) work.store(row, value);
}

template <class T>
using Summed = std::conditional_t<std::floating_point<primitives::Held<T>>, double, T>;

template <Combine function, class T>
struct Reducing {
  static constexpr bool kWidens = function == Combine::sum || function == Combine::product;
  using Value = std::conditional_t<kWidens, Summed<T>, primitives::Held<T>>;
  using Element = T;

  const T* x;
  T* y;

  __device__ Value start() const { return primitives::neutral<function, Value>(); }
  __device__ Value of(T element, long long) const { return static_cast<Value>(primitives::widened(element)); }
  __device__ Value put(Value a, Value b) const { return primitives::combine<function>(a, b); }
  __device__ Value across(Value value, int lanes) const { return from_lane(value, lane_of_thread() ^ lanes); }
  __device__ Value watch(const Value* at) const { return *static_cast<const volatile Value*>(at); }
  __device__ void store(long long row, Value value) const { y[row] = static_cast<T>(value); }
};

struct Placed {
  unsigned long long score;
  long long place;
};
/// The highest score, and of several the first.
template <class Bits>
struct Finding {
  using Value = Placed;
  using Element = Bits;

  const Bits* x;
  void* indices;
  bool wide;
  bool least;
  primitives::Ranking<Bits> ranking;

  __device__ Value start() const { return {0, kNowhere}; }
  __device__ Value of(Bits element, long long place) const {
    const Bits rank = ranking(element);
    const bool is_nan = ranking.is_floating && rank == static_cast<Bits>(~Bits{0});
    return {least && !is_nan ? static_cast<Bits>(~rank) : rank, place};
  }
  __device__ Value put(Value a, Value b) const {
    return b.score > a.score || (b.score == a.score && b.place < a.place) ? b : a;
  }
  __device__ Value across(Value value, int lanes) const {
    return {from_lane(value.score, lane_of_thread() ^ lanes), from_lane(value.place, lane_of_thread() ^ lanes)};
  }
  __device__ Value watch(const Value* at) const { return {watched(&at->score), watched(&at->place)}; }
  __device__ void store(long long row, Value value) const { store_index(indices, row, value.place, wide); }

 private:
  static constexpr long long kNowhere = ~0ULL >> 1;
};

}  // namespace
}  // namespace troupe::cuda

using namespace troupe;        // for the types of the elements
using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_REDUCE(function, suffix, T)                                                            \
  extern "C" __global__ void __launch_bounds__(kPrimitivesThreads)                                    \
      troupe_reduce_##function##_##suffix(const RowReduceArguments a) {                               \
    reduce_rows(a, Reducing<Combine::function, T>{static_cast<const T*>(a.x), static_cast<T*>(a.y)}); \
  }
TROUPE_COMBINED(TROUPE_REDUCE)

#define TROUPE_FIND(suffix, Bits)                                                                                     \
  extern "C" __global__ void __launch_bounds__(kPrimitivesThreads)                                                    \
      troupe_arg_reduce_##suffix(const RowReduceArguments a) {                                                        \
    reduce_rows(a, Finding<Bits>{                                                                                     \
                       static_cast<const Bits*>(a.x),                                                                 \
                       a.y,                                                                                           \
                       a.wide,                                                                                        \
                       a.order.descends == false,                                                                     \
                       {static_cast<Bits>(a.order.sign), static_cast<Bits>(a.order.infinity), a.order.is_floating}}); \
  }
TROUPE_FIND(1, std::uint8_t)
TROUPE_FIND(2, std::uint16_t)
TROUPE_FIND(4, std::uint32_t)
TROUPE_FIND(8, std::uint64_t)
