// How many keys have which digit, for all passes of a sort at once, and from there where those of each digit begin.
#pragma once

#include "troupe/backend/cuda/primitives/primitives_sort.cuh"

namespace troupe::cuda {
namespace {

template <class Bits>
struct CountShared {
  unsigned counts[sizeof(Bits)][kDigits];
  unsigned long long sums[kPrimitivesWarps];
  bool is_last;
};

template <class Bits, bool kIsFloating>
__device__ void count_digits(const SortCountArguments& a, CountShared<Bits>& shared) {
  constexpr int kPasses = static_cast<int>(sizeof(Bits));
  constexpr int kInPiece = 16 / static_cast<int>(sizeof(Bits));
  constexpr int kAhead = 4;  // pieces under way at once
  const int me = static_cast<int>(threadIdx.x);
  for (int pass = 0; pass < kPasses; ++pass) shared.counts[pass][me] = 0;
  __syncthreads();
  const long long row = blockIdx.x / a.row_chunks;
  const long long begin = (blockIdx.x - row * a.row_chunks) * a.chunk;
  const auto* const keys = static_cast<const Bits*>(a.keys) + row * a.keys_stride + begin;
  const long long count = min(a.length - begin, a.chunk);
  const HeldKeys<Bits, kIsFloating> held(a.order);
  const auto add = [&](Bits key) {
    const Bits rank = held.rank(held.hold(key));
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass)
      if (pass < a.passes)
        atomicAdd(&shared.counts[pass][static_cast<unsigned>(rank >> (8 * pass)) & (kDigits - 1)], 1U);
  };
  struct alignas(16) Piece {
    Bits keys[kInPiece];
  };
  const bool is_aligned = reinterpret_cast<unsigned long long>(keys) % 16 == 0;
  const long long pieces = is_aligned ? count / kInPiece : 0;
  long long piece = me;
  for (; piece + (kAhead - 1) * kPrimitivesThreads < pieces; piece += kAhead * kPrimitivesThreads) {
    Piece ahead[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) ahead[k] = reinterpret_cast<const Piece*>(keys)[piece + k * kPrimitivesThreads];
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
#pragma unroll
      for (int i = 0; i < kInPiece; ++i) add(ahead[k].keys[i]);
  }
  for (; piece < pieces; piece += kPrimitivesThreads) {
    const Piece one = reinterpret_cast<const Piece*>(keys)[piece];
#pragma unroll
    for (int i = 0; i < kInPiece; ++i) add(one.keys[i]);
  }
#pragma unroll 4
  for (long long i = pieces * kInPiece + me; i < count; i += kPrimitivesThreads) add(keys[i]);
  __syncthreads();

  unsigned long long* const starts = a.starts + row * a.passes * kDigits + me;
  for (int pass = 0; pass < a.passes; ++pass) {
    if (const unsigned count_here = shared.counts[pass][me]; count_here != 0)
      atomicAdd(starts + pass * kDigits, static_cast<unsigned long long>(count_here));
  }
  // The block that ends last has all counts before it.
  __threadfence();
  __syncthreads();
  if (me == 0) shared.is_last = atomicAdd(a.finished + row, 1U) == static_cast<unsigned>(a.row_chunks - 1);
  __syncthreads();
  if (!shared.is_last) return;
  __threadfence();
  for (int pass = 0; pass < a.passes; ++pass) {
    unsigned long long all = 0;
    const unsigned long long before = sum_before(watched(starts + pass * kDigits), shared.sums, all);
    starts[pass * kDigits] = before;
    __syncthreads();  // the sums have been read
  }
}

}  // namespace
}  // namespace troupe::cuda
