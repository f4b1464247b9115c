// Attention forward, dense, packed and from a cache; and what is put into a cache. Blocks of queries are shared by the
// team; memory is what a few blocks need, whatever the length of sequences.
#include "troupe/backend/host/dnn/attention_blocks.hpp"
#include "troupe/backend/host/dnn/attention_sequences.hpp"
#include "troupe/backend/host/host_tools.hpp"

namespace troupe::host {
namespace {

/// A block of queries costs about so much for each key.
Grain grain_of_attention(std::int64_t rows, std::int64_t keys, std::int64_t width) noexcept {
  constexpr double kNsPerProduct = 0.08;
  return Grain::of_ns(kNsPerProduct * static_cast<double>(rows) * static_cast<double>(std::max<std::int64_t>(keys, 1)) *
                      static_cast<double>(width));
}

/// Calls `f(sequence, key head, first row, last row)` for blocks of rows, with a block's buffers.
template <class C, class F>
Result<void> each_block(Team& team, std::span<const AttentionSequence> sequences, std::int64_t key_heads,
                        std::int64_t group, std::int64_t width, std::int64_t value_width, const F& f) {
  std::int64_t most_rows = 0, most_keys = 0;
  for (const AttentionSequence& sequence : sequences) {
    most_rows = std::max(most_rows, sequence.queries * group);
    most_keys = std::max(most_keys, sequence.keys);
  }
  const std::int64_t blocks = (most_rows + kQueryBlock - 1) / kQueryBlock;
  const std::int64_t tasks = static_cast<std::int64_t>(sequences.size()) * key_heads * blocks;
  const Grain grain = grain_of_attention(std::min(most_rows, kQueryBlock), most_keys, width + value_width);
  return each_part(team, tasks, grain, [&](std::int64_t begin, std::int64_t end) -> Result<void> {
    auto block = TROUPE_TRY(AttentionBlock<C>::make(width, value_width));
    for (; begin < end; ++begin) {
      const std::int64_t number = begin / blocks / key_heads;
      const std::int64_t rows = sequences[static_cast<std::size_t>(number)].queries * group;
      const std::int64_t first = begin % blocks * kQueryBlock;
      if (first < rows) f(number, begin / blocks % key_heads, first, std::min(first + kQueryBlock, rows), block);
    }
    return {};
  });
}

template <class C>
Result<void> attend(const op::DnnAttention& op, std::span<const AttentionSequence> sequences, const HostViews& here) {
  const HostView q = here(op.in.q), k = here(op.in.k), v = here(op.in.v), y = here(op.y), sums = here(op.sums);
  const std::int64_t key_heads = k.shape[1], group = q.shape[1] / key_heads;
  const AttentionScores<C> scores(op.terms, op.terms.has_mask ? here(op.in.mask_or_key_offsets) : HostView{},
                                  q.shape[1], q.shape[2], k.shape[2]);
  return each_block<C>(
      here.team(), sequences, key_heads, group, q.shape[3], v.shape[3],
      [&](std::int64_t number, std::int64_t key_head, std::int64_t begin, std::int64_t end, AttentionBlock<C>& block) {
        const AttentionSequence& sequence = sequences[static_cast<std::size_t>(number)];
        const std::int64_t batch = op.terms.is_packed ? 0 : number;
        const AttentionHead head(op.terms, sequence, batch, key_head, group);
        block.attend(head, scores, q, token_rows(k, batch, key_head, sequence.first_key),
                     token_rows(v, batch, key_head, sequence.first_key), begin, end, y, &sums);
      });
}

// ---- caches ----

/// One head of a cache [blocks, tokens of a block, heads, width], for one sequence.
TokenRows cached_rows(const HostView& cache, const DnnIndices& table, std::int64_t first_block,
                      std::int64_t head) noexcept {
  const std::int64_t size = size_bytes(cache.dtype);
  return {.first = cache.data + head * cache.strides[2] * size,
          .dtype = cache.dtype,
          .token_step = cache.strides[1] * size,
          .element_step = cache.strides[3] * size,
          .table = &table,
          .first_block = first_block,
          .block_tokens = cache.shape[1],
          .block_step = cache.strides[0] * size};
}

template <class C>
Result<void> attend_cache(const op::DnnPagedAttention& op, const CachedSequences& cached, const HostViews& here) {
  const HostView q = here(op.q), keys = here(op.key_cache), values = here(op.value_cache), y = here(op.y);
  const std::int64_t key_heads = keys.shape[2], group = q.shape[1] / key_heads, blocks = op.table.shape[1];
  op::AttentionTerms terms;
  terms.scale = op.scale;
  terms.causal = true;
  terms.window = op.window;
  const AttentionScores<C> scores(terms, {}, q.shape[1], q.shape[2], 0);
  return each_block<C>(
      here.team(), cached.sequences, key_heads, group, q.shape[3], values.shape[3],
      [&](std::int64_t number, std::int64_t key_head, std::int64_t begin, std::int64_t end, AttentionBlock<C>& block) {
        const AttentionHead head(terms, cached.sequences[static_cast<std::size_t>(number)], number, key_head, group);
        block.attend(head, scores, q, cached_rows(keys, cached.table, number * blocks, key_head),
                     cached_rows(values, cached.table, number * blocks, key_head), begin, end, y, nullptr);
      });
}

/// Copies tokens of all heads of one sequence to their places in a cache.
void append_tokens(const HostView& from, const HostView& cache, const DnnIndices& table, std::int64_t first_block,
                   std::int64_t batch, std::int64_t length) noexcept {
  const std::int64_t size = size_bytes(from.dtype), width = from.shape[3];
  for (std::int64_t head = 0; head < from.shape[1]; ++head) {
    const TokenRows in = token_rows(from, batch, head, 0), out = cached_rows(cache, table, first_block, head);
    for (std::int64_t i = 0; i < from.shape[2]; ++i)
      copy_plane({.in = in[i],
                  .in_column = in.element_step,
                  .out = const_cast<std::byte*>(out[length + i]),
                  .out_column = out.element_step,
                  .rows = 1,
                  .columns = width},
                 size);
  }
}

}  // namespace

Result<void> run_op(const op::DnnAttention& op, const HostViews& here) {
  const FoundSequences found = TROUPE_TRY(sequences_of(op.terms, op.in, here));
  if (op.terms.judges() && !is_well(found.finding, op.verdict, here)) return {};
  if (here(op.y).data == nullptr) return {};
  return with_numbers(op.y.dtype, [&]<class C>(std::type_identity<C>) { return attend<C>(op, found.sequences, here); });
}

Result<void> run_op(const op::DnnPagedAttention& op, const HostViews& here) {
  const CachedSequences cached = TROUPE_TRY(
      cached_sequences(op.table, op.lengths, op.key_cache.shape, op.q.shape[2], LengthsCount::queries_too, here));
  if (!is_well(cached.finding, op.verdict, here) || here(op.y).data == nullptr) return {};
  return with_numbers(op.y.dtype, [&]<class C>(std::type_identity<C>) { return attend_cache<C>(op, cached, here); });
}

Result<void> run_op(const op::DnnCacheAppend& op, const HostViews& here) {
  const CachedSequences cached = TROUPE_TRY(
      cached_sequences(op.table, op.lengths, op.key_cache.shape, op.k.shape[2], LengthsCount::what_is_there, here));
  if (!is_well(cached.finding, op.verdict, here)) return {};
  const HostView k = here(op.k), v = here(op.v), keys = here(op.key_cache), values = here(op.value_cache);
  const std::int64_t blocks = op.table.shape[1];
  const std::int64_t bytes = 4 * k.shape[1] * k.shape[2] * k.shape[3] * size_bytes(k.dtype);
  here.team().run(k.shape[0], Grain::of_bytes(bytes), [&](std::int64_t begin, std::int64_t end) noexcept {
    for (std::int64_t b = begin; b < end; ++b) {
      const std::int64_t length = cached.sequences[static_cast<std::size_t>(b)].keys - k.shape[2];
      if (k.data != nullptr) append_tokens(k, keys, cached.table, b * blocks, b, length);
      if (v.data != nullptr) append_tokens(v, values, cached.table, b * blocks, b, length);
    }
  });
  return {};
}

}  // namespace troupe::host
