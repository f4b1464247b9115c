#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/attention_arguments.hpp"
#include "troupe/backend/cuda/dnn/dnn_by_cudnn.hpp"
#include "troupe/backend/cuda/dnn/dnn_ops.hpp"
#include "troupe/backend/cuda/dnn/dnn_scratch.hpp"
#include "troupe/op/random_functions.hpp"

namespace troupe::cuda {
namespace {

/// An array [batch, heads, tokens, width].
HeadsArray heads_of(const op::View& view, const LaneTools& on) {
  return {.data = on.data(view), .strides = {view.strides[0], view.strides[1], view.strides[2], view.strides[3]}};
}
/// A cache [blocks, tokens of a block, heads, width] as blocks of that.
HeadsArray cache_of(const op::View& view, const LaneTools& on) {
  return {.data = on.data(view), .strides = {view.strides[0], view.strides[2], view.strides[1], view.strides[3]}};
}

/// Offsets that must ascend from 0 to `tokens`, unless there is a finding before.
Result<DnnFirstFinding*> check_offsets(const GpuRows& offsets, std::int64_t tokens, const DnnFirstFinding* before,
                                       const op::View& verdict, DnnScratch& scratch) {
  DnnFirstFinding* const finding = TROUPE_TRY(scratch.no_finding_yet());
  CheckSequencesArguments a{};
  a.data = offsets.data();
  a.before = before;
  a.finding = finding;
  a.count = offsets.length;
  a.bound = tokens;
  a.wide = is_wide(offsets);
  TROUPE_TRY(scratch.threads(DnnAttentionKernel::dnn_check_offsets, {}, a.count, a));
  TROUPE_TRY(scratch.tell({.finding = finding,
                           .verdict = scratch.on().data<int>(verdict),
                           .data = offsets.data(),
                           .bound = tokens,
                           .wide = a.wide}));
  return finding;
}

AttentionRules rules_of(const op::AttentionTerms& terms) {
  AttentionRules r{};
  r.scale = terms.scale;
  r.window = terms.window;
  r.causal = terms.causal;
  r.ends_together = terms.ends_together;
  r.is_packed = terms.is_packed;
  r.seed = terms.source.seed;
  r.stream = terms.source.stream;
  r.position = terms.source.position;
  r.of_2_64 = random::chance_of(terms.probability).of_2_64;
  r.kept_scale = 1 / (1 - terms.probability);
  return r;
}

/// What both directions have in common. Lengths or offsets were looked at, and the verdict told.
template <class Op>
Result<AttentionArguments> attention_arguments(const Op& op, DnnScratch& scratch) {
  const LaneTools& on = scratch.on();
  AttentionArguments a{};
  a.rules = rules_of(op.terms);
  a.q = heads_of(op.in.q, on);
  a.k = heads_of(op.in.k, on);
  a.v = heads_of(op.in.v, on);
  a.y = heads_of(op.y, on);
  a.sequences = op.in.q.shape[0];
  a.heads = op.in.q.shape[1];
  a.key_heads = op.in.k.shape[1];
  a.queries = op.in.q.shape[2];
  a.keys = op.in.k.shape[2];
  a.width = op.in.q.shape[3];
  a.value_width = op.in.v.shape[3];
  a.block_tokens = 1;
  if (op.terms.judges())
    TROUPE_TRY(scratch.fill_bytes(on.data(op.verdict), 0, op::kDnnVerdictWords * size_bytes(DType::i32)));
  if (op.terms.is_packed) {
    const GpuRows queries = TROUPE_TRY(scratch.flat(op.in.lengths_or_query_offsets));
    const GpuRows keys = TROUPE_TRY(scratch.flat(op.in.mask_or_key_offsets));
    a.rules.query_offsets = queries.data();
    a.rules.key_offsets = keys.data();
    a.rules.wide = is_wide(queries);
    a.sequences = queries.length - 1;
    a.findings[0] = TROUPE_TRY(check_offsets(queries, a.queries, nullptr, op.verdict, scratch));
    a.findings[1] = TROUPE_TRY(check_offsets(keys, a.keys, a.findings[0], op.verdict, scratch));
    return a;
  }
  if (op.terms.has_mask) {
    a.rules.mask = heads_of(op.in.mask_or_key_offsets, on);
    a.rules.mask_is_bool = op.in.mask_or_key_offsets.dtype == DType::boolean;
  }
  if (!op.terms.has_lengths) return a;
  const GpuRows lengths = TROUPE_TRY(scratch.flat(op.in.lengths_or_query_offsets));
  a.rules.lengths = lengths.data();
  a.rules.wide = is_wide(lengths);
  a.findings[0] = TROUPE_TRY(scratch.check_lengths(lengths, a.keys, op.verdict));
  return a;
}

std::int64_t number_bytes(DType dtype) noexcept { return dtype == DType::f64 ? 8 : 4; }

/// A block for every few rows of each head of keys.
Result<void> launch_attention(AttentionArguments a, DType dtype, DnnScratch& scratch) {
  const std::int64_t rows = attention_rows(static_cast<std::size_t>(number_bytes(dtype)));
  a.row_blocks = divided_up(a.heads / a.key_heads * a.queries, rows);
  return scratch.blocks(DnnAttentionKernel::dnn_attention, dtype, a.sequences * a.key_heads * a.row_blocks, a,
                        kAttentionThreads);
}

}  // namespace

Result<void> run_op(const op::DnnAttention& op, const LaneTools& on) {
  if (TROUPE_TRY(attend_by_cudnn(op, on))) return {};
  DnnScratch scratch(on);
  AttentionArguments a = TROUPE_TRY(attention_arguments(op, scratch));
  if (op::element_count(op.y) == 0) return {};
  const GpuTarget sums = TROUPE_TRY(scratch.target_flat(op.sums, true));
  a.sums = sums.data();
  TROUPE_TRY(launch_attention(a, op.y.dtype, scratch));
  return scratch.finish(sums);
}

Result<void> run_op(const op::DnnAttentionGradient& op, const LaneTools& on) {
  if (TROUPE_TRY(attend_by_cudnn(op, on))) return {};
  DnnScratch scratch(on);
  AttentionArguments a = TROUPE_TRY(attention_arguments(op, scratch));
  const GpuRows sums = TROUPE_TRY(scratch.flat(op.sums));
  const std::int64_t products = std::max<std::int64_t>(op::element_count(op.sums), 1);
  a.sums = sums.data();
  a.products = TROUPE_TRY(scratch.array<std::byte>(products * number_bytes(op.y.dtype)));
  a.dy = heads_of(op.dy, on);
  a.dq = heads_of(op.dq, on);
  a.dk = heads_of(op.dk, on);
  a.dv = heads_of(op.dv, on);
  const DType dtype = op.y.dtype;
  constexpr std::int64_t kMostBlocks = std::int64_t{1} << 20;
  const std::int64_t queries = op::element_count(op.sums);
  TROUPE_TRY(scratch.blocks(DnnAttentionKernel::dnn_attention_products, dtype,
                            std::min(divided_up(queries, kAttentionWarps), kMostBlocks), a, kAttentionThreads));
  a.row_blocks = divided_up(a.heads / a.key_heads * a.queries, kAttentionWarps);
  TROUPE_TRY(scratch.blocks(DnnAttentionKernel::dnn_attention_query_slopes, dtype,
                            a.sequences * a.key_heads * a.row_blocks, a, kAttentionThreads));
  a.row_blocks = divided_up(a.keys, kAttentionWarps);
  return scratch.blocks(DnnAttentionKernel::dnn_attention_key_slopes, dtype, a.sequences * a.key_heads * a.row_blocks,
                        a, kAttentionThreads);
}

namespace {

/// A cache's table and lengths, looked at, with the verdict told.
struct GpuCacheTable {
  GpuRows table;
  GpuRows lengths;
  const DnnFirstFinding* findings[2];
};
Result<GpuCacheTable> cache_table(const op::View& table, const op::View& lengths, const op::View& cache,
                                  std::int64_t more, const op::View& verdict, DnnScratch& scratch) {
  TROUPE_TRY(scratch.fill_bytes(scratch.on().data(verdict), 0, op::kDnnVerdictWords * size_bytes(DType::i32)));
  GpuCacheTable made{TROUPE_TRY(scratch.flat(table)), TROUPE_TRY(scratch.flat(lengths)), {}};
  const std::int64_t most = table.shape[1] * cache.shape[1] - more;
  made.findings[0] = TROUPE_TRY(scratch.check_lengths(made.lengths, most, verdict));
  DnnFirstFinding* const finding = TROUPE_TRY(scratch.no_finding_yet());
  made.findings[1] = finding;
  const CheckSequencesArguments a{.data = made.table.data(),
                                  .lengths = made.lengths.data(),
                                  .before = made.findings[0],
                                  .finding = finding,
                                  .count = made.table.length,
                                  .bound = cache.shape[0],
                                  .table_blocks = table.shape[1],
                                  .block_tokens = cache.shape[1],
                                  .more = more,
                                  .wide = is_wide(made.table)};
  TROUPE_TRY(scratch.threads(DnnAttentionKernel::dnn_check_table, {}, a.count, a));
  TROUPE_TRY(scratch.tell({.finding = finding,
                           .verdict = scratch.on().data<int>(verdict),
                           .data = made.table.data(),
                           .bound = cache.shape[0],
                           .wide = a.wide}));
  return made;
}

}  // namespace

Result<void> run_op(const op::DnnPagedAttention& op, const LaneTools& on) {
  DnnScratch scratch(on);
  const GpuCacheTable cache = TROUPE_TRY(cache_table(op.table, op.lengths, op.key_cache, 0, op.verdict, scratch));
  if (op::element_count(op.y) == 0) return {};
  op::AttentionTerms terms;
  terms.scale = op.scale;
  terms.causal = terms.ends_together = true;
  terms.window = op.window;
  AttentionArguments a{};
  a.rules = rules_of(terms);
  a.rules.lengths = cache.lengths.data();
  a.rules.wide = is_wide(cache.lengths);
  a.q = heads_of(op.q, on);
  a.k = cache_of(op.key_cache, on);
  a.v = cache_of(op.value_cache, on);
  a.y = heads_of(op.y, on);
  a.table = cache.table.data();
  a.findings[0] = cache.findings[0];
  a.findings[1] = cache.findings[1];
  a.sequences = op.q.shape[0];
  a.heads = op.q.shape[1];
  a.key_heads = op.key_cache.shape[2];
  a.queries = op.q.shape[2];
  a.keys = op.table.shape[1] * op.key_cache.shape[1];
  a.width = op.q.shape[3];
  a.value_width = op.value_cache.shape[3];
  a.table_blocks = op.table.shape[1];
  a.block_tokens = op.key_cache.shape[1];
  return launch_attention(a, op.y.dtype, scratch);
}

Result<void> run_op(const op::DnnCacheAppend& op, const LaneTools& on) {
  DnnScratch scratch(on);
  const GpuCacheTable cache =
      TROUPE_TRY(cache_table(op.table, op.lengths, op.key_cache, op.k.shape[2], op.verdict, scratch));
  for (const auto& [from, to] : {std::pair(&op.k, &op.key_cache), std::pair(&op.v, &op.value_cache)}) {
    const AppendTokensArguments a{.from = heads_of(*from, on),
                                  .cache = cache_of(*to, on),
                                  .table = cache.table.data(),
                                  .lengths = cache.lengths.data(),
                                  .findings = {cache.findings[0], cache.findings[1]},
                                  .count = op::element_count(*from),
                                  .heads = from->shape[1],
                                  .tokens = from->shape[2],
                                  .width = from->shape[3],
                                  .table_blocks = op.table.shape[1],
                                  .block_tokens = op.key_cache.shape[1],
                                  .wide = is_wide(cache.table)};
    TROUPE_TRY(scratch.threads(DnnAttentionKernel::dnn_append_tokens, KernelTypes::of_size(size_bytes(from->dtype)),
                               a.count, a));
  }
  return {};
}

Result<void> run_op(const op::DnnRotary& op, const LaneTools& on) {
  if (op::element_count(op.x) == 0) return {};
  DnnScratch scratch(on);
  const GpuRows x = TROUPE_TRY(scratch.rows(op.x));
  const GpuTarget y = TROUPE_TRY(scratch.target_rows(op.y));
  RotaryArguments a{};
  a.x = x.data();
  a.y = y.data();
  if (op.has_positions) {
    const GpuRows positions = TROUPE_TRY(scratch.flat(op.positions));
    a.positions = positions.data();
    a.wide = is_wide(positions);
  }
  a.x_stride = x.stride;
  a.y_stride = y.stride;
  a.rows = x.rows;
  a.tokens = op.x.shape[op.x.shape.rank() - 2];
  a.width = x.length;
  a.first = op.first;
  a.base = op.base;
  a.interleaved = op.interleaved;
  a.backward = op.backward;
  TROUPE_TRY(scratch.threads(DnnAttentionKernel::dnn_rotary, x.dtype, x.count() / 2, a));
  return scratch.finish(y);
}

}  // namespace troupe::cuda

#endif
