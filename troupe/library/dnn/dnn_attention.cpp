#include "troupe/op/dnn_attention.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "troupe/library/dnn/dnn.hpp"
#include "troupe/library/dnn/dnn_verdict.hpp"
#include "troupe/op/check.hpp"

namespace troupe::inline v0 {
namespace {

double scale_for(std::optional<double> given, const AnyArray& q) {
  const std::int64_t width = q.rank() > 0 ? q.shape()[q.rank() - 1] : 1;
  return given.value_or(1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(width, 1))));
}

/// The same array seen as one of another shape, or the sentence that it cannot be.
Result<AnyArray> broadcast_for(const Device& device, std::string_view call, std::string_view name,
                               const AnyArray& array, const Shape& shape) {
  TROUPE_TRY(DeviceParts::check(device, call, name, array));
  if (Result<AnyArray> all = array.broadcast(shape)) return all;
  return op::refuse(
      call, std::string(name) + " is " + array.shape().to_string() + "; it must broadcast to " + shape.to_string());
}

/// What both directions are told, and the arrays that go with it, in the order in which ops describe them.
struct AttentionParts {
  op::AttentionTerms terms;
  op::AttentionInputs in;
  AnyArray mask;
  std::vector<const AnyArray*> arrays;
};

Result<void> add_sequences(const AttentionOptions& options, std::string_view call, AttentionParts& parts) {
  if ((options.query_offsets == nullptr) != (options.key_offsets == nullptr))
    return op::refuse(call, "there are offsets of queries or of keys only; packed sequences need both");
  if ((options.dropout > 0) != (options.generator != nullptr))
    return op::refuse(call, "dropout needs a probability and a generator");
  parts.terms.has_lengths = options.lengths != nullptr;
  parts.terms.is_packed = options.query_offsets != nullptr;
  if (parts.terms.is_packed && (options.lengths != nullptr || options.mask != nullptr))
    return op::refuse(call, "there are offsets, and lengths or a mask; packed sequences have offsets only");
  if (options.lengths != nullptr) {
    parts.in.lengths_or_query_offsets = options.lengths->view();
    parts.arrays.push_back(options.lengths);
  }
  if (!parts.terms.is_packed) return {};
  parts.in.lengths_or_query_offsets = options.query_offsets->view();
  parts.in.mask_or_key_offsets = options.key_offsets->view();
  parts.arrays.insert(parts.arrays.end(), {options.query_offsets, options.key_offsets});
  return {};
}

Result<AttentionParts> parts_of(const Device& device, std::string_view call, const AnyArray& q, const AnyArray& k,
                                const AnyArray& v, const AttentionOptions& options) {
  AttentionParts parts;
  parts.terms.scale = scale_for(options.scale, q);
  parts.terms.causal = options.causal;
  parts.terms.ends_together = options.ends_together;
  parts.terms.window = options.window;
  parts.terms.probability = options.dropout;
  if (options.generator != nullptr)
    parts.terms.source = {.engine = options.generator->engine(),
                          .stream = options.generator->stream(),
                          .seed = options.generator->seed(),
                          .position = options.generator->position()};
  parts.in.q = q.view();
  parts.in.k = k.view();
  parts.in.v = v.view();
  parts.arrays = {&q, &k, &v};
  if (options.mask != nullptr && q.rank() == 4 && k.rank() == 4) {
    parts.terms.has_mask = true;
    const Shape scores{q.shape()[0], q.shape()[1], q.shape()[2], k.shape()[2]};
    parts.mask = TROUPE_TRY(broadcast_for(device, call, "mask", *options.mask, scores));
    parts.in.mask_or_key_offsets = parts.mask.view();
    parts.arrays.push_back(nullptr);  // the mask, once it stays where it is
  }
  TROUPE_TRY(add_sequences(options, call, parts));
  return parts;
}

/// Submits an op of attention, and moves the generator on.
template <class Op>
Call<void> attention_call(const Device& device, Op op, AttentionParts& parts,
                          std::initializer_list<const AnyArray*> rest, const AttentionOptions& options) {
  op.terms = parts.terms;
  op.in = parts.in;
  for (const AnyArray*& array : parts.arrays)
    if (array == nullptr) array = &parts.mask;
  parts.arrays.insert(parts.arrays.end(), rest.begin(), rest.end());
  if (options.generator != nullptr && parts.arrays[0]->rank() == 4 && parts.arrays[1]->rank() == 4) {
    const std::int64_t queries =
        parts.arrays[0]->shape()[0] * parts.arrays[0]->shape()[1] * parts.arrays[0]->shape()[2];
    const auto scores = static_cast<std::uint64_t>(queries * parts.arrays[1]->shape()[2]);
    *options.generator = options.generator->at(options.generator->position() + scores);
  }
  const std::span<const AnyArray* const> arrays(parts.arrays);
  return op.terms.judges() ? make_dnn_call(device, op, arrays) : make_call(device, op, arrays);
}

Call<void> turn(const Device& device, const AnyArray& x, const AnyArray& y, const RotaryOptions& options,
                bool backward) {
  op::DnnRotary op{.base = options.base,
                   .interleaved = options.interleaved,
                   .backward = backward,
                   .has_positions = options.positions != nullptr,
                   .first = options.first,
                   .x = x.view(),
                   .positions = {},
                   .y = y.view()};
  if (options.positions == nullptr || x.rank() < 2) {
    op.has_positions = false;
    return make_call(device, op, {&x, &y});
  }
  const Shape tokens(std::span(x.shape().begin(), static_cast<std::size_t>(x.rank() - 1)));
  const Result<AnyArray> positions =
      broadcast_for(device, backward ? "rotary_gradient" : "rotary", "positions", *options.positions, tokens);
  if (!positions) return fail(positions.error());
  op.positions = positions->view();
  return make_call(device, op, {&x, &*positions, &y});
}

}  // namespace

Call<void> Dnn::scaled_dot_product_attention(const AnyArray& q, const AnyArray& k, const AnyArray& v, const AnyArray& y,
                                             const AnyArray& sums, AttentionOptions options) const {
  Result<AttentionParts> parts = parts_of(device_, "attention", q, k, v, options);
  if (!parts) return fail(parts.error());
  const op::DnnAttention op{.terms = {}, .in = {}, .y = y.view(), .sums = sums.view(), .verdict = {}};
  return attention_call(device_, op, *parts, {&y, &sums}, options);
}

Call<void> Dnn::scaled_dot_product_attention_gradient(const AnyArray& dy, const AnyArray& q, const AnyArray& k,
                                                      const AnyArray& v, const AnyArray& y, const AnyArray& sums,
                                                      const AnyArray& dq, const AnyArray& dk, const AnyArray& dv,
                                                      AttentionOptions options) const {
  Result<AttentionParts> parts = parts_of(device_, "attention_gradient", q, k, v, options);
  if (!parts) return fail(parts.error());
  const op::DnnAttentionGradient op{.terms = {},
                                    .in = {},
                                    .y = y.view(),
                                    .sums = sums.view(),
                                    .dy = dy.view(),
                                    .dq = dq.view(),
                                    .dk = dk.view(),
                                    .dv = dv.view(),
                                    .verdict = {}};
  return attention_call(device_, op, *parts, {&y, &sums, &dy, &dq, &dk, &dv}, options);
}

Call<void> Dnn::cache_append(const AnyArray& k, const AnyArray& v, const AnyArray& table, const AnyArray& lengths,
                             const AnyArray& key_cache, const AnyArray& value_cache) const {
  const op::DnnCacheAppend op{.k = k.view(),
                              .v = v.view(),
                              .table = table.view(),
                              .lengths = lengths.view(),
                              .key_cache = key_cache.view(),
                              .value_cache = value_cache.view(),
                              .verdict = {}};
  return make_dnn_call(device_, op, {&k, &v, &table, &lengths, &key_cache, &value_cache});
}

Call<void> Dnn::paged_attention(const AnyArray& q, const AnyArray& key_cache, const AnyArray& value_cache,
                                const AnyArray& table, const AnyArray& lengths, const AnyArray& y,
                                PagedOptions options) const {
  const op::DnnPagedAttention op{.scale = scale_for(options.scale, q),
                                 .window = options.window,
                                 .q = q.view(),
                                 .key_cache = key_cache.view(),
                                 .value_cache = value_cache.view(),
                                 .table = table.view(),
                                 .lengths = lengths.view(),
                                 .y = y.view(),
                                 .verdict = {}};
  return make_dnn_call(device_, op, {&q, &key_cache, &value_cache, &table, &lengths, &y});
}

Call<void> Dnn::rotary(const AnyArray& x, const AnyArray& y, RotaryOptions options) const {
  return turn(device_, x, y, options, false);
}
Call<void> Dnn::rotary_gradient(const AnyArray& dy, const AnyArray& dx, RotaryOptions options) const {
  return turn(device_, dy, dx, options, true);
}

}  // namespace troupe::inline v0
