#include "troupe/op/dnn_attention.hpp"

#include <cmath>

#include "troupe/op/dnn_check.hpp"
#include "troupe/op/dnn_rows_check.hpp"

namespace troupe::inline v0::op {
namespace {

std::string of_shape(const NamedView& view) { return std::string(view.name) + " is " + view.view.shape.to_string(); }

Result<void> check_four_axes(std::string_view call, const NamedView& view, const char* axes) {
  if (view.view.shape.rank() == 4) return {};
  return refuse(call, of_shape(view) + "; it must be " + axes);
}

/// Heads of queries that share heads of keys, which may be one for all.
Result<void> check_heads(std::string_view call, std::int64_t heads, std::int64_t key_heads) {
  if (key_heads > 0 && heads % key_heads == 0) return {};
  return refuse(call, "there are " + std::to_string(heads) + " heads of queries and " + std::to_string(key_heads) +
                          " of keys; each head of keys must have as many heads of queries");
}
Result<void> check_width(std::string_view call, const NamedView& view) {
  const std::int64_t width = row_length(view.view);
  if (width >= 1 && width <= kMaxHeadWidth) return {};
  return refuse(call, of_shape(view) + "; heads must be from 1 to " + std::to_string(kMaxHeadWidth) + " wide");
}

Result<void> check_scale_and_window(std::string_view call, double scale, std::int64_t window) {
  TROUPE_TRY(check_finite(call, "scale", scale));
  if (window >= 0) return {};
  return refuse(call, "window is " + std::to_string(window) + "; it must be 1 or more, or 0 for none");
}

/// [batch, heads, queries, keys]
Shape shape_of_scores(const AttentionInputs& in) {
  return Shape{in.q.shape[0], in.q.shape[1], in.q.shape[2], in.k.shape[2]};
}
/// q's shape with as many elements in a row as v has.
Shape shape_of_result(const AttentionInputs& in) {
  return Shape{in.q.shape[0], in.q.shape[1], in.q.shape[2], in.v.shape[3]};
}

Result<void> check_offsets_of(std::string_view call, const NamedView& offsets, std::int64_t sequences) {
  TROUPE_TRY(check_index_type(call, offsets));
  TROUPE_TRY(check_ranks(call, 1, {offsets}));
  if (offsets.view.shape[0] == 0) return refuse(call, of_shape(offsets) + "; n sequences have n + 1 offsets");
  return check_shape(call, offsets, Shape{sequences + 1});
}

Result<void> check_packed(std::string_view call, const AttentionTerms& terms, const AttentionInputs& in) {
  if (terms.has_lengths) return refuse(call, "there are lengths and offsets; packed sequences have offsets only");
  if (terms.has_mask) return refuse(call, "there are offsets and a mask; packed sequences take no mask");
  if (in.q.shape[0] != 1)
    return refuse(call, "there are offsets, and a batch of " + std::to_string(in.q.shape[0]) +
                            "; packed sequences are a batch of 1");
  const View& offsets = in.lengths_or_query_offsets;
  const std::int64_t sequences = offsets.shape.rank() == 1 ? offsets.shape[0] - 1 : 0;
  TROUPE_TRY(check_offsets_of(call, {"query_offsets", offsets}, sequences));
  TROUPE_TRY(check_type(call, {"key_offsets", in.mask_or_key_offsets}, offsets.dtype));
  return check_offsets_of(call, {"key_offsets", in.mask_or_key_offsets}, sequences);
}

Result<void> check_sequences(std::string_view call, const AttentionTerms& terms, const AttentionInputs& in) {
  if (terms.is_packed) return check_packed(call, terms, in);
  if (terms.has_mask) {
    const NamedView mask{"mask", in.mask_or_key_offsets};
    if (mask.view.dtype != DType::boolean && mask.view.dtype != in.q.dtype)
      return refuse(call, "mask is " + std::string(name(mask.view.dtype)) + "; it must be bool, or " +
                              std::string(name(in.q.dtype)) + ", which is added");
    TROUPE_TRY(check_shape(call, mask, shape_of_scores(in)));
  }
  if (!terms.has_lengths) return {};
  TROUPE_TRY(check_index_type(call, {"lengths", in.lengths_or_query_offsets}));
  return check_shape(call, {"lengths", in.lengths_or_query_offsets}, Shape{in.q.shape[0]});
}

Result<void> check_inputs(std::string_view call, const AttentionTerms& terms, const AttentionInputs& in) {
  const NamedView q{"q", in.q}, k{"k", in.k}, v{"v", in.v};
  TROUPE_TRY(check_float(call, q));
  TROUPE_TRY(check_same_types(call, {q, k, v}));
  for (const NamedView& view : {q, k, v}) {
    TROUPE_TRY(check_four_axes(call, view, "[batch, heads, tokens, width]"));
    TROUPE_TRY(check_width(call, view));
  }
  TROUPE_TRY(check_heads(call, in.q.shape[1], in.k.shape[1]));
  TROUPE_TRY(check_shape(call, k, Shape{in.q.shape[0], in.k.shape[1], in.k.shape[2], in.q.shape[3]}));
  TROUPE_TRY(check_shape(call, v, Shape{in.q.shape[0], in.k.shape[1], in.k.shape[2], in.v.shape[3]}));
  TROUPE_TRY(check_scale_and_window(call, terms.scale, terms.window));
  TROUPE_TRY(check_drop_probability(call, terms.probability));
  if (terms.probability > 0) {
    const Shape scores = shape_of_scores(in);
    double count = 1;
    for (const std::int64_t extent : scores) count *= static_cast<double>(extent);
    if (count > 0x1p62) return refuse(call, "there are more scores than a generator has positions for");
    TROUPE_TRY(check_positions(call, terms.source, static_cast<std::uint64_t>(count)));
  }
  return check_sequences(call, terms, in);
}

Result<void> check_results(std::string_view call, const AttentionInputs& in, const View& y, const View& sums) {
  TROUPE_TRY(check_type(call, {"y", y}, in.q.dtype));
  TROUPE_TRY(check_shape(call, {"y", y}, shape_of_result(in)));
  TROUPE_TRY(check_type(call, {"sums", sums}, computed_in(in.q.dtype)));
  return check_shape(call, {"sums", sums}, without_last(in.q.shape));
}

/// A cache of both, and where each sequence's blocks are in it.
Result<void> check_cache(std::string_view call, const View& key_cache, const View& value_cache, const View& table,
                         const View& lengths, std::int64_t batch) {
  const NamedView keys{"key_cache", key_cache}, values{"value_cache", value_cache};
  constexpr const char* kAxes = "[blocks, tokens of a block, heads, width]";
  TROUPE_TRY(check_float(call, keys));
  TROUPE_TRY(check_same_types(call, {keys, values}));
  for (const NamedView& cache : {keys, values}) {
    TROUPE_TRY(check_four_axes(call, cache, kAxes));
    TROUPE_TRY(check_width(call, cache));
  }
  if (key_cache.shape[1] < 1) return refuse(call, of_shape(keys) + "; a block has one token at least");
  Shape want = key_cache.shape;
  want[3] = value_cache.shape[3];
  TROUPE_TRY(check_shape(call, values, want));
  TROUPE_TRY(check_index_type(call, {"table", table}));
  TROUPE_TRY(check_ranks(call, 2, {{"table", table}}));
  TROUPE_TRY(check_shape(call, {"table", table}, Shape{batch, table.shape[1]}));
  TROUPE_TRY(check_type(call, {"lengths", lengths}, table.dtype));
  return check_shape(call, {"lengths", lengths}, Shape{batch});
}

std::uint64_t number(std::int64_t extent) noexcept { return static_cast<std::uint64_t>(extent); }
std::uint64_t products(const Shape& q, std::uint64_t keys, std::uint64_t width) noexcept {
  return product_of({number(q[0]), number(q[1]), number(q[2]), keys, width});
}
std::uint64_t products_of(const AttentionInputs& in) noexcept {
  if (in.q.shape.rank() != 4 || in.k.shape.rank() != 4 || in.v.shape.rank() != 4) return 0;
  return products(in.q.shape, number(in.k.shape[2]), number(in.q.shape[3]) + number(in.v.shape[3]));
}

}  // namespace

std::uint64_t DnnAttention::work() const noexcept { return products_of(in); }
std::uint64_t DnnAttentionGradient::work() const noexcept { return products_of(in) / 2 * 5; }
std::uint64_t DnnPagedAttention::work() const noexcept {
  if (q.shape.rank() != 4 || table.shape.rank() != 2 || key_cache.shape.rank() != 4) return 0;
  return products(q.shape, product_of({number(table.shape[1]), number(key_cache.shape[1])}), 2 * number(q.shape[3]));
}

Result<void> check(const DnnAttention& op) {
  constexpr std::string_view kCall = "attention";
  TROUPE_TRY(check_inputs(kCall, op.terms, op.in));
  TROUPE_TRY(check_results(kCall, op.in, op.y, op.sums));
  return op.terms.judges() ? check_dnn_verdict(kCall, op.verdict) : Result<void>{};
}

Result<void> check(const DnnAttentionGradient& op) {
  constexpr std::string_view kCall = "attention_gradient";
  TROUPE_TRY(check_inputs(kCall, op.terms, op.in));
  TROUPE_TRY(check_results(kCall, op.in, op.y, op.sums));
  const std::pair<NamedView, const View*> like[] = {
      {{"dy", op.dy}, &op.y}, {{"dq", op.dq}, &op.in.q}, {{"dk", op.dk}, &op.in.k}, {{"dv", op.dv}, &op.in.v}};
  for (const auto& [view, other] : like) {
    TROUPE_TRY(check_type(kCall, view, op.in.q.dtype));
    TROUPE_TRY(check_shape(kCall, view, other->shape));
  }
  return op.terms.judges() ? check_dnn_verdict(kCall, op.verdict) : Result<void>{};
}

Result<void> check(const DnnCacheAppend& op) {
  constexpr std::string_view kCall = "cache_append";
  const NamedView k{"k", op.k}, v{"v", op.v};
  TROUPE_TRY(check_four_axes(kCall, k, "[batch, heads, tokens, width]"));
  TROUPE_TRY(check_cache(kCall, op.key_cache, op.value_cache, op.table, op.lengths, op.k.shape[0]));
  for (const auto& [view, cache] : {std::pair(k, &op.key_cache), std::pair(v, &op.value_cache)}) {
    TROUPE_TRY(check_type(kCall, view, cache->dtype));
    TROUPE_TRY(check_shape(kCall, view, Shape{op.k.shape[0], cache->shape[2], op.k.shape[2], cache->shape[3]}));
  }
  return check_dnn_verdict(kCall, op.verdict);
}

Result<void> check(const DnnPagedAttention& op) {
  constexpr std::string_view kCall = "paged_attention";
  const NamedView q{"q", op.q};
  TROUPE_TRY(check_four_axes(kCall, q, "[batch, heads, tokens, width]"));
  TROUPE_TRY(check_cache(kCall, op.key_cache, op.value_cache, op.table, op.lengths, op.q.shape[0]));
  TROUPE_TRY(check_type(kCall, q, op.key_cache.dtype));
  TROUPE_TRY(check_heads(kCall, op.q.shape[1], op.key_cache.shape[2]));
  TROUPE_TRY(check_shape(kCall, q, Shape{op.q.shape[0], op.q.shape[1], op.q.shape[2], op.key_cache.shape[3]}));
  TROUPE_TRY(check_type(kCall, {"y", op.y}, op.q.dtype));
  TROUPE_TRY(
      check_shape(kCall, {"y", op.y}, Shape{op.q.shape[0], op.q.shape[1], op.q.shape[2], op.value_cache.shape[3]}));
  TROUPE_TRY(check_scale_and_window(kCall, op.scale, op.window));
  return check_dnn_verdict(kCall, op.verdict);
}

Result<void> check(const DnnRotary& op) {
  const std::string_view call = op.backward ? "rotary_gradient" : "rotary";
  const NamedView x{"x", op.x};
  TROUPE_TRY(check_float(call, x));
  if (op.x.shape.rank() < 2) return refuse(call, of_shape(x) + "; it must be [.., tokens, width]");
  if (row_length(op.x) % 2 != 0) return refuse(call, of_shape(x) + "; the width must be even");
  TROUPE_TRY(check_type(call, {"y", op.y}, op.x.dtype));
  TROUPE_TRY(check_shape(call, {"y", op.y}, op.x.shape));
  TROUPE_TRY(check_within(call, "base", op.base, std::isfinite(op.base) && op.base > 0, "more than 0, and finite"));
  if (!op.has_positions) return {};
  TROUPE_TRY(check_index_type(call, {"positions", op.positions}));
  return check_shape(call, {"positions", op.positions}, without_last(op.x.shape));
}

}  // namespace troupe::inline v0::op
