// What the kernels of attention share: where tokens are, which keys a query sees, scores and what dropout leaves of
// them, tiles of tokens in shared memory. Only for code on the GPU.
#pragma once

#include "troupe/backend/cuda/dnn/attention_arguments.hpp"
#include "troupe/backend/cuda/dnn/dnn_rows.cuh"
#include "troupe/op/random_functions.hpp"

namespace troupe::cuda {
namespace {

__device__ inline long long number_at(const void* numbers, long long at, bool wide) {
  return wide ? static_cast<const long long*>(numbers)[at] : static_cast<const int*>(numbers)[at];
}

/// Where a sequence begins in the arrays, and how many queries and keys it has.
struct GpuSequence {
  long long batch;
  long long first_query;
  long long queries;
  long long first_key;
  long long keys;
  long long shift;  // of a query's number to its place among the keys
};
__device__ inline GpuSequence sequence_at(const AttentionArguments& a, long long number) {
  const AttentionRules& r = a.rules;
  GpuSequence found{number, 0, a.queries, 0, a.keys, 0};
  if (r.is_packed) {
    found.batch = 0;
    found.first_query = number_at(r.query_offsets, number, r.wide);
    found.queries = number_at(r.query_offsets, number + 1, r.wide) - found.first_query;
    found.first_key = number_at(r.key_offsets, number, r.wide);
    found.keys = number_at(r.key_offsets, number + 1, r.wide) - found.first_key;
  } else if (r.lengths != nullptr) {
    found.keys = number_at(r.lengths, number, r.wide);
  }
  found.shift = r.ends_together ? found.keys - found.queries : 0;
  return found;
}

/// One head of keys of one sequence, and a row: one of its queries and one of the heads that share it.
struct GpuRow {
  long long head;
  long long query;
  long long place;
};
__device__ inline GpuRow row_at(const AttentionArguments& a, const GpuSequence& s, long long key_head, long long row) {
  const long long in_group = row / s.queries;
  const long long query = row - in_group * s.queries;
  return {key_head * (a.heads / a.key_heads) + in_group, query, query + s.shift};
}

template <class T>
__device__ T* token_at(const HeadsArray& array, long long batch, long long head, long long token) {
  return static_cast<T*>(array.data) + batch * array.strides[0] + head * array.strides[1] + token * array.strides[2];
}
/// Keys or values: of a cache where there is a table.
template <class T>
__device__ const T* key_at(const AttentionArguments& a, const HeadsArray& array, const GpuSequence& s, long long head,
                           long long token) {
  if (a.table == nullptr) return token_at<const T>(array, s.batch, head, s.first_key + token);
  const long long block = number_at(a.table, s.batch * a.table_blocks + token / a.block_tokens, a.rules.wide);
  return token_at<const T>(array, block, head, token % a.block_tokens);
}

__device__ inline bool is_seen(const AttentionRules& r, const GpuSequence& s, long long place, long long key) {
  if (key >= s.keys || (r.causal && key > place)) return false;
  return r.window == 0 || (key - place < r.window && place - key < r.window);
}

/// A score with its scale and mask; minus infinity where the key is not seen.
template <class T, class C>
__device__ C finished_score(const AttentionArguments& a, const GpuSequence& s, const GpuRow& row, long long key,
                            C product) {
  const C nothing = -static_cast<C>(INFINITY);
  if (!is_seen(a.rules, s, row.place, key)) return nothing;
  const C score = product * static_cast<C>(a.rules.scale);
  if (a.rules.mask.data == nullptr) return score;
  const long long at = s.batch * a.rules.mask.strides[0] + row.head * a.rules.mask.strides[1] +
                       row.query * a.rules.mask.strides[2] + key * a.rules.mask.strides[3];
  if (a.rules.mask_is_bool) return static_cast<const unsigned char*>(a.rules.mask.data)[at] != 0 ? score : nothing;
  return score + to_number(static_cast<const T*>(a.rules.mask.data)[at]);
}

/// What a weight, or its slope, is multiplied by: 0 for a key that is left out.
template <class C>
__device__ C kept_share(const AttentionArguments& a, const GpuSequence& s, const GpuRow& row, long long key) {
  if (a.rules.of_2_64 == 0) return 1;
  const auto score = static_cast<unsigned long long>(
      ((s.batch * a.heads + row.head) * a.queries + s.first_query + row.query) * a.keys + s.first_key + key);
  const unsigned long long position = a.rules.position + score;
  const random::Source source{a.rules.seed, a.rules.stream};
  const random::Block block = random::philox(source, position / 4, random::kWords);
  const random::Chance chance{a.rules.of_2_64, false};
  const bool is_out = random::happens(chance, block.words[position % 4], random::OwnNumbers(source, position));
  return is_out ? C(0) : static_cast<C>(a.rules.kept_scale);
}

/// Tokens in shared memory as numbers, rows `width + 1` apart so that neighbours are in different banks. `token(i)`
/// gives the place of token i, or null for one that is not there: zeros. By the whole block; barriers on both sides.
template <class T, class C, class Token>
__device__ void load_tile(C* tile, int tokens, long long width, long long step, const Token& token) {
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x) / 32; i < tokens; i += kAttentionWarps) {
    const T* const from = token(i);
    for (long long d = threadIdx.x % 32; d < width; d += 32)
      tile[i * (width + 1) + d] = from != nullptr ? static_cast<C>(to_number(from[d * step])) : C(0);
  }
  __syncthreads();
}
template <class C>
__device__ C product_of(const C* a, const C* b, long long width) {
  C sum = 0;
  for (long long d = 0; d < width; ++d) sum += a[d] * b[d];
  return sum;
}
/// sums[c] += the sum over the tile's tokens of weight (the lane's own) times the token's number of this lane.
template <class C>
__device__ void add_tile(C weight, const C* tile, int tokens, long long width, C* sums) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int j = 0; j < tokens; ++j) {
    const C share = __shfl_sync(0xffff'ffffU, weight, j);
#pragma unroll
    for (int c = 0; c < kWidestHead / 32; ++c)
      if (c * 32 + lane < width) sums[c] += share * tile[j * (width + 1) + c * 32 + lane];
  }
}
template <class T, class C>
__device__ void store_numbers(T* to, long long step, const C* numbers, long long width, C scale) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int c = 0; c < kWidestHead / 32; ++c)
    if (c * 32 + lane < width) to[(c * 32 + lane) * step] = from_number<T>(numbers[c] * scale);
}

}  // namespace
}  // namespace troupe::cuda
