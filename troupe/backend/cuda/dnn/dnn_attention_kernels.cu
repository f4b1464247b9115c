// Attention, tile by tile: a block has some rows (queries of the heads that share a head of keys), each warp one or two
// of them, and goes over tiles of keys with a running maximum. Backward the same weights are made again from the sums
// of the forward direction: once for queries, and once, the other way round, for keys. Nothing is summed by two blocks.
#include "troupe/backend/cuda/dnn/dnn_attention.cuh"
#include "troupe/op/dnn_finding.hpp"
#include "troupe/op/training_functions.hpp"

namespace troupe::cuda {
namespace {

__device__ inline bool is_bad(const DnnFirstFinding* const findings[2]) {
  return has_finding(findings[0]) || has_finding(findings[1]);
}

/// The first and the last tile that any of the rows from `first` on sees; the same for the whole block.
struct Tiles {
  long long begin;
  long long end;
};
template <int rows>
__device__ Tiles tiles_of_rows(const AttentionArguments& a, const GpuSequence& s, long long first, long long all,
                               int tile) {
  long long least = s.keys, most = 0;
  for (int i = 0; i < rows && first + i < all; ++i) {
    const long long place = (first + i) % s.queries + s.shift;
    long long begin = 0, end = s.keys;
    if (a.rules.causal && place + 1 < end) end = place + 1;
    if (a.rules.window > 0) {
      if (place - a.rules.window + 1 > begin) begin = place - a.rules.window + 1;
      if (place + a.rules.window < end) end = place + a.rules.window;
    }
    if (begin >= end) continue;
    if (begin < least) least = begin;
    if (end > most) most = end;
  }
  return {least / tile, (most + tile - 1) / tile};
}

template <class T>
__device__ void attention(const AttentionArguments& a) {
  using C = detail::ComputeType<T>;
  constexpr int kRows = attention_rows(sizeof(C)), kTile = attention_tile(sizeof(C));
  constexpr int kOwn = kRows / kAttentionWarps;  // rows of a warp
  __shared__ C own[kRows * kWidestHead];
  __shared__ C tile[kTile * (kWidestHead + 1)];
  if (is_bad(a.findings)) return;
  const long long number = blockIdx.x / a.row_blocks / a.key_heads, key_head = blockIdx.x / a.row_blocks % a.key_heads;
  const GpuSequence s = sequence_at(a, number);
  const long long first = blockIdx.x % a.row_blocks * kRows, all = a.heads / a.key_heads * s.queries;
  if (first >= all) return;
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);

  GpuRow rows[kOwn];
  C sums[kOwn][kWidestHead / 32] = {};
  C greatest[kOwn], total[kOwn];
  for (int i = 0; i < kOwn; ++i) {
    const long long row = first + warp * kOwn + i;
    rows[i] = row_at(a, s, key_head, row < all ? row : all - 1);
    const T* const q = token_at<const T>(a.q, s.batch, rows[i].head, s.first_query + rows[i].query);
    for (long long d = lane; d < a.width; d += 32)
      own[(warp * kOwn + i) * a.width + d] = to_number(q[d * a.q.strides[3]]);
    greatest[i] = -static_cast<C>(INFINITY);
    total[i] = 0;
  }
  const Tiles tiles = tiles_of_rows<kRows>(a, s, first, all, kTile);
  for (long long t = tiles.begin; t < tiles.end; ++t) {
    const long long base = t * kTile;
    load_tile<T>(tile, kTile, a.width, a.k.strides[3], [&](int i) {
      return base + i < s.keys ? key_at<T>(a, a.k, s, key_head, base + i) : static_cast<const T*>(nullptr);
    });
    C weights[kOwn];
    for (int i = 0; i < kOwn; ++i) {
      C score = -static_cast<C>(INFINITY);
      if (lane < kTile)
        score = finished_score<T>(a, s, rows[i], base + lane,
                                  product_of(own + (warp * kOwn + i) * a.width, tile + lane * (a.width + 1), a.width));
      const C top = greatest_of<32>(score);
      const C next = top > greatest[i] ? top : greatest[i];
      const bool is_nothing = next == -static_cast<C>(INFINITY);
      const C factor = is_nothing ? C(1) : exp(greatest[i] - next);
      weights[i] = is_nothing ? C(0) : exp(score - next);
      total[i] = total[i] * factor + sum_of<32>(weights[i]);
      greatest[i] = next;
#pragma unroll
      for (int c = 0; c < kWidestHead / 32; ++c) sums[i][c] *= factor;
      if (lane < kTile) weights[i] *= kept_share<C>(a, s, rows[i], base + lane);
    }
    load_tile<T>(tile, kTile, a.value_width, a.v.strides[3], [&](int i) {
      return base + i < s.keys ? key_at<T>(a, a.v, s, key_head, base + i) : static_cast<const T*>(nullptr);
    });
    for (int i = 0; i < kOwn; ++i) add_tile(weights[i], tile, kTile, a.value_width, sums[i]);
  }
  for (int i = 0; i < kOwn; ++i) {
    if (first + warp * kOwn + i >= all) continue;
    T* const y = token_at<T>(a.y, s.batch, rows[i].head, s.first_query + rows[i].query);
    store_numbers(y, a.y.strides[3], sums[i], a.value_width, total[i] != C(0) ? C(1) / total[i] : C(1));
    if (a.sums != nullptr && lane == 0)
      static_cast<C*>(a.sums)[(s.batch * a.heads + rows[i].head) * a.queries + s.first_query + rows[i].query] =
          greatest[i] + log(total[i]);
  }
}

// ---- backward ----

/// dy y of each query, by a warp.
template <class T>
__device__ void attention_products(const AttentionArguments& a) {
  using C = detail::ComputeType<T>;
  if (is_bad(a.findings)) return;
  const long long count = (a.rules.is_packed ? 1 : a.sequences) * a.heads * a.queries;
  for (long long i = blockIdx.x * static_cast<long long>(kAttentionWarps) + threadIdx.x / 32; i < count;
       i += static_cast<long long>(gridDim.x) * kAttentionWarps) {
    const long long query = i % a.queries, head = i / a.queries % a.heads, batch = i / a.queries / a.heads;
    const T* const y = token_at<const T>(a.y, batch, head, query);
    const T* const dy = token_at<const T>(a.dy, batch, head, query);
    C sum = 0;
    for (long long d = threadIdx.x % 32; d < a.value_width; d += 32)
      sum += to_number(y[d * a.y.strides[3]]) * to_number(dy[d * a.dy.strides[3]]);
    sum = sum_of<32>(sum);
    if (threadIdx.x % 32 == 0) static_cast<C*>(a.products)[i] = sum;
  }
}

/// The weight of a key for a query, and the slope of its score, from the products q k and dy v.
template <class C>
struct Weighed {
  C kept;   // the weight, or what dropout leaves of it
  C slope;  // of the product q k
};
template <class T, class C>
__device__ Weighed<C> weighed(const AttentionArguments& a, const GpuSequence& s, const GpuRow& row, long long key,
                              C score_product, C value_product) {
  const long long at = (s.batch * a.heads + row.head) * a.queries + s.first_query + row.query;
  const C sum = static_cast<const C*>(a.sums)[at];
  const C score = finished_score<T>(a, s, row, key, score_product);
  if (score == -static_cast<C>(INFINITY) || sum == -static_cast<C>(INFINITY)) return {0, 0};
  const C weight = exp(score - sum), share = kept_share<C>(a, s, row, key);
  const C product = static_cast<const C*>(a.products)[at];
  return {weight * share, weight * (value_product * share - product) * static_cast<C>(a.rules.scale)};
}

/// A warp has one query, and goes over the keys.
template <class T>
__device__ void attention_query_slopes(const AttentionArguments& a) {
  using C = detail::ComputeType<T>;
  constexpr int kTile = gradient_tile(sizeof(C));
  __shared__ C own[2 * kAttentionWarps * kWidestHead];
  __shared__ C tile[kTile * (kWidestHead + 1)];
  if (is_bad(a.findings)) return;
  const long long number = blockIdx.x / a.row_blocks / a.key_heads, key_head = blockIdx.x / a.row_blocks % a.key_heads;
  const GpuSequence s = sequence_at(a, number);
  const long long first = blockIdx.x % a.row_blocks * kAttentionWarps, all = a.heads / a.key_heads * s.queries;
  if (first >= all) return;
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const bool is_there = first + warp < all;
  const GpuRow row = row_at(a, s, key_head, is_there ? first + warp : all - 1);
  C* const q = own + 2 * warp * kWidestHead;
  C* const dy = q + kWidestHead;
  const T* const from_q = token_at<const T>(a.q, s.batch, row.head, s.first_query + row.query);
  const T* const from_dy = token_at<const T>(a.dy, s.batch, row.head, s.first_query + row.query);
  for (long long d = lane; d < a.width; d += 32) q[d] = to_number(from_q[d * a.q.strides[3]]);
  for (long long d = lane; d < a.value_width; d += 32) dy[d] = to_number(from_dy[d * a.dy.strides[3]]);
  C sums[kWidestHead / 32] = {};
  const Tiles tiles = tiles_of_rows<kAttentionWarps>(a, s, first, all, kTile);
  for (long long t = tiles.begin; t < tiles.end; ++t) {
    const long long base = t * kTile;
    const auto load = [&](const HeadsArray& array, long long width) {
      load_tile<T>(tile, kTile, width, array.strides[3], [&](int i) {
        return base + i < s.keys ? key_at<T>(a, array, s, key_head, base + i) : static_cast<const T*>(nullptr);
      });
    };
    const int mine = lane < kTile ? lane : 0;
    load(a.v, a.value_width);
    const C value_product = product_of(dy, tile + mine * (a.value_width + 1), a.value_width);
    load(a.k, a.width);
    const C score_product = product_of(q, tile + mine * (a.width + 1), a.width);
    const Weighed<C> made = weighed<T>(a, s, row, base + mine, score_product, value_product);
    add_tile(lane < kTile ? made.slope : C(0), tile, kTile, a.width, sums);
  }
  if (is_there)
    store_numbers(token_at<T>(a.dq, s.batch, row.head, s.first_query + row.query), a.dq.strides[3], sums, a.width,
                  C(1));
}

/// A warp has one key, and goes over the queries of all heads that share it.
template <class T>
__device__ void attention_key_slopes(const AttentionArguments& a) {
  using C = detail::ComputeType<T>;
  constexpr int kTile = gradient_tile(sizeof(C));
  __shared__ C own[2 * kAttentionWarps * kWidestHead];
  __shared__ C tile[kTile * (kWidestHead + 1)];
  if (is_bad(a.findings)) return;
  const long long number = blockIdx.x / a.row_blocks / a.key_heads, key_head = blockIdx.x / a.row_blocks % a.key_heads;
  const GpuSequence s = sequence_at(a, number);
  // Of padded sequences also the keys behind the last one: their slopes are 0.
  const long long first = blockIdx.x % a.row_blocks * kAttentionWarps, all = a.rules.is_packed ? s.keys : a.keys;
  if (first >= all) return;
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const bool is_there = first + warp < all;
  const long long key = is_there ? first + warp : all - 1;
  C* const k = own + 2 * warp * kWidestHead;
  C* const v = k + kWidestHead;
  const T* const from_k = token_at<const T>(a.k, s.batch, key_head, s.first_key + key);
  const T* const from_v = token_at<const T>(a.v, s.batch, key_head, s.first_key + key);
  for (long long d = lane; d < a.width; d += 32) k[d] = to_number(from_k[d * a.k.strides[3]]);
  for (long long d = lane; d < a.value_width; d += 32) v[d] = to_number(from_v[d * a.v.strides[3]]);
  C key_sums[kWidestHead / 32] = {}, value_sums[kWidestHead / 32] = {};
  const long long rows = a.heads / a.key_heads * s.queries;
  for (long long base = 0; base < rows; base += kTile) {
    const auto load = [&](const HeadsArray& array, long long width) {
      load_tile<T>(tile, kTile, width, array.strides[3], [&](int i) {
        if (base + i >= rows) return static_cast<const T*>(nullptr);
        const GpuRow row = row_at(a, s, key_head, base + i);
        return token_at<const T>(array, s.batch, row.head, s.first_query + row.query);
      });
    };
    const int mine = lane < kTile ? lane : 0;
    const bool is_mine = lane < kTile && base + lane < rows;
    const GpuRow row = row_at(a, s, key_head, is_mine ? base + lane : 0);
    load(a.q, a.width);
    const C score_product = product_of(k, tile + mine * (a.width + 1), a.width);
    load(a.dy, a.value_width);
    const C value_product = product_of(v, tile + mine * (a.value_width + 1), a.value_width);
    const Weighed<C> made = is_mine ? weighed<T>(a, s, row, key, score_product, value_product) : Weighed<C>{0, 0};
    add_tile(made.kept, tile, kTile, a.value_width, value_sums);
    load(a.q, a.width);
    add_tile(made.slope, tile, kTile, a.width, key_sums);
  }
  if (!is_there) return;
  store_numbers(token_at<T>(a.dk, s.batch, key_head, s.first_key + key), a.dk.strides[3], key_sums, a.width, C(1));
  store_numbers(token_at<T>(a.dv, s.batch, key_head, s.first_key + key), a.dv.strides[3], value_sums, a.value_width,
                C(1));
}

// ---- caches and rotary embedding ----

template <class Unit>
__device__ void append_tokens(const AppendTokensArguments& a) {
  if (is_bad(a.findings)) return;
  for (long long i = first_index(); i < a.count; i += index_step()) {
    const long long d = i % a.width, token = i / a.width % a.tokens, head = i / a.width / a.tokens % a.heads;
    const long long batch = i / a.width / a.tokens / a.heads;
    const long long place = number_at(a.lengths, batch, a.wide) + token;
    const long long block = number_at(a.table, batch * a.table_blocks + place / a.block_tokens, a.wide);
    token_at<Unit>(a.cache, block, head, place % a.block_tokens)[d * a.cache.strides[3]] =
        token_at<const Unit>(a.from, batch, head, token)[d * a.from.strides[3]];
  }
}

template <class T>
__device__ void rotary(const RotaryArguments& a) {
  using C = detail::ComputeType<T>;
  const long long pairs = a.width / 2;
  for (long long n = first_index(); n < a.rows * pairs; n += index_step()) {
    const long long row = n / pairs, i = n - row * pairs;
    const long long place = a.positions != nullptr ? number_at(a.positions, row, a.wide) : a.first + row % a.tokens;
    const dnn::Turn<C> turn = dnn::turn_of<C>(place, i, a.width, a.base, a.backward);
    const long long one = a.interleaved ? 2 * i : i, two = a.interleaved ? 2 * i + 1 : i + pairs;
    const T* const x = static_cast<const T*>(a.x) + row * a.x_stride;
    T* const y = static_cast<T*>(a.y) + row * a.y_stride;
    const C first = to_number(x[one]), second = to_number(x[two]);
    y[one] = from_number<T>(first * turn.cosine - second * turn.sine);
    y[two] = from_number<T>(second * turn.cosine + first * turn.sine);
  }
}

__device__ inline void note_place(DnnFirstFinding* finding, long long place, op::DnnFault fault) {
  atomicMin(finding, static_cast<DnnFirstFinding>(place) * kDnnFaults + static_cast<DnnFirstFinding>(fault));
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up
using troupe::op::DnnFault;

#define TROUPE_ATTENTION extern "C" __global__ void __launch_bounds__(kAttentionThreads)
#define TROUPE_ATTENTION_OF(dtype, T)                                                                                  \
  TROUPE_ATTENTION troupe_dnn_attention_##dtype(const AttentionArguments a) { attention<T>(a); }                       \
  TROUPE_ATTENTION troupe_dnn_attention_products_##dtype(const AttentionArguments a) { attention_products<T>(a); }     \
  TROUPE_ATTENTION troupe_dnn_attention_query_slopes_##dtype(const AttentionArguments a) {                             \
    attention_query_slopes<T>(a);                                                                                      \
  }                                                                                                                    \
  TROUPE_ATTENTION troupe_dnn_attention_key_slopes_##dtype(const AttentionArguments a) { attention_key_slopes<T>(a); } \
  extern "C" __global__ void troupe_dnn_rotary_##dtype(const RotaryArguments a) { rotary<T>(a); }
TROUPE_ATTENTION_OF(f32, float)
TROUPE_ATTENTION_OF(f64, double)
TROUPE_ATTENTION_OF(f16, troupe::f16)
TROUPE_ATTENTION_OF(bf16, troupe::bf16)

#define TROUPE_APPEND_OF(size, Unit) \
  extern "C" __global__ void troupe_dnn_append_tokens_##size(const AppendTokensArguments a) { append_tokens<Unit>(a); }
TROUPE_APPEND_OF(2, unsigned short)
TROUPE_APPEND_OF(4, unsigned)
TROUPE_APPEND_OF(8, unsigned long long)

/// Offsets must ascend from 0 to `bound`.
extern "C" __global__ void troupe_dnn_check_offsets(const CheckSequencesArguments a) {
  if (has_finding(a.before)) return;
  for (long long i = first_index(); i < a.count; i += index_step()) {
    const long long offset = number_at(a.data, i, a.wide);
    if (i == 0 && offset != 0) note_place(a.finding, i, DnnFault::first_offset);
    if (i > 0 && offset < number_at(a.data, i - 1, a.wide)) note_place(a.finding, i, DnnFault::offset_falls);
    if (i + 1 == a.count && offset != a.bound) note_place(a.finding, i, DnnFault::last_offset);
  }
}
/// Blocks in which tokens are must be in the cache.
extern "C" __global__ void troupe_dnn_check_table(const CheckSequencesArguments a) {
  if (has_finding(a.before)) return;
  for (long long i = first_index(); i < a.count; i += index_step()) {
    const long long used = number_at(a.lengths, i / a.table_blocks, a.wide) + a.more;
    if (i % a.table_blocks * a.block_tokens >= used) continue;
    const long long block = number_at(a.data, i, a.wide);
    if (block < 0 || block >= a.bound) note_place(a.finding, i, DnnFault::block_outside);
  }
}
