// Attention, as data: scaled dot products of queries with keys, forward and backward; the same against a cache of keys
// and values in blocks; and rotary embedding. Scores and sums are kept in f32, and of f64 in f64.
//
// Arrays are [batch, heads, tokens, width] in any strides; several heads of queries may share one head of keys and
// values. Packed sequences, one behind another, are a batch of one with offsets that say where each begins.
#pragma once

#include "troupe/op/dnn_training.hpp"
#include "troupe/op/random.hpp"

namespace troupe::inline v0::op {

/// Heads are at most so wide.
inline constexpr std::int64_t kMaxHeadWidth = 256;

/// Which keys a query sees, and what is done with its scores.
struct AttentionTerms {
  double scale = 1;
  bool causal = false;         // only keys up to the query's own place
  bool ends_together = false;  // the last query is at the place of the last key, else the first ones are together
  std::int64_t window = 0;     // only keys less than so many places away; 0: all
  bool has_mask = false;       // bool: whether a key is seen; else added to the scores
  bool has_lengths = false;    // only the first keys of each sequence of the batch
  bool is_packed = false;      // sequences one behind another
  double probability = 0;      // of leaving a key out
  RandomSource source;         // element [b, h, q, k] of all scores takes position + its number in row-major order

  bool judges() const noexcept { return has_lengths || is_packed; }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("scale", self.scale);
    v.field("causal", self.causal);
    v.field("ends_together", self.ends_together);
    v.field("window", self.window);
    v.field("has_mask", self.has_mask);
    v.field("has_lengths", self.has_lengths);
    v.field("is_packed", self.is_packed);
    v.field("probability", self.probability);
    RandomSource::describe(self.source, v);
  }
  friend bool operator==(const AttentionTerms&, const AttentionTerms&) = default;
};

/// What both directions read: [batch, heads, queries, width], [batch, key heads, keys, width] twice; a mask that is
/// broadcast to [batch, heads, queries, keys]; lengths [batch], or offsets of queries and keys [sequences + 1].
struct AttentionInputs {
  View q;
  View k;
  View v;
  View mask_or_key_offsets;       // packed sequences take no mask
  View lengths_or_query_offsets;  // and have no lengths; an op is to be small

  template <class Self, class V>
  static void describe(Self& self, const AttentionTerms& terms, V& v) {
    v.reads("q", self.q);
    v.reads("k", self.k);
    v.reads("v", self.v);
    if (terms.is_packed) {
      v.reads("query_offsets", self.lengths_or_query_offsets);
      v.reads("key_offsets", self.mask_or_key_offsets);
      return;
    }
    if (terms.has_mask) v.reads("mask", self.mask_or_key_offsets);
    if (terms.has_lengths) v.reads("lengths", self.lengths_or_query_offsets);
  }
  friend bool operator==(const AttentionInputs&, const AttentionInputs&) = default;
};

/// y = softmax(scale q k' + mask) v, and, of each query, the logarithm of the sum of its exponentials, which the
/// gradient needs. A query that sees no key gives 0.
struct DnnAttention {
  static constexpr Kind kKind = dnn_kind(kDnnAttention, 0);
  static constexpr std::string_view kName = "dnn.attention";
  AttentionTerms terms;
  AttentionInputs in;
  View y;
  View sums;
  View verdict;

  std::uint64_t work() const noexcept;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    AttentionTerms::describe(self.terms, v);
    AttentionInputs::describe(self.in, self.terms, v);
    v.writes("y", self.y);
    v.writes("sums", self.sums);
    if (self.terms.judges()) v.writes("verdict", self.verdict);
  }
  friend bool operator==(const DnnAttention&, const DnnAttention&) = default;
};

/// dq, dk and dv from the gradient of y.
struct DnnAttentionGradient {
  static constexpr Kind kKind = dnn_kind(kDnnAttention, 1);
  static constexpr std::string_view kName = "dnn.attention_gradient";
  AttentionTerms terms;
  AttentionInputs in;
  View y;
  View sums;
  View dy;
  View dq;
  View dk;
  View dv;
  View verdict;

  std::uint64_t work() const noexcept;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    AttentionTerms::describe(self.terms, v);
    AttentionInputs::describe(self.in, self.terms, v);
    v.reads("y", self.y);
    v.reads("sums", self.sums);
    v.reads("dy", self.dy);
    v.writes("dq", self.dq);
    v.writes("dk", self.dk);
    v.writes("dv", self.dv);
    if (self.terms.judges()) v.writes("verdict", self.verdict);
  }
  friend bool operator==(const DnnAttentionGradient&, const DnnAttentionGradient&) = default;
};

/// Keys and values [batch, key heads, tokens, width] go into a cache [blocks, tokens of a block, key heads, width]
/// behind the first lengths[b] tokens of sequence b: token t of it is in block table[b, t / tokens of a block]. What
/// the table or the lengths say of places outside of the cache the verdict tells.
struct DnnCacheAppend {
  static constexpr Kind kKind = dnn_kind(kDnnAttention, 2);
  static constexpr std::string_view kName = "dnn.cache_append";
  View k;
  View v;
  View table;
  View lengths;
  View key_cache;
  View value_cache;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("k", self.k);
    v.reads("v", self.v);
    v.reads("table", self.table);
    v.reads("lengths", self.lengths);
    v.writes_part("key_cache", self.key_cache);
    v.writes_part("value_cache", self.value_cache);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const DnnCacheAppend&, const DnnCacheAppend&) = default;
};

/// Attention of the last tokens of each sequence to all of its tokens in a cache: q and y are [batch, heads, queries,
/// width], lengths[b] counts the queries of sequence b, too. A query sees keys up to its own place.
struct DnnPagedAttention {
  static constexpr Kind kKind = dnn_kind(kDnnAttention, 3);
  static constexpr std::string_view kName = "dnn.paged_attention";
  double scale = 1;
  std::int64_t window = 0;
  View q;
  View key_cache;
  View value_cache;
  View table;
  View lengths;
  View y;
  View verdict;

  std::uint64_t work() const noexcept;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("scale", self.scale);
    v.field("window", self.window);
    v.reads("q", self.q);
    v.reads("key_cache", self.key_cache);
    v.reads("value_cache", self.value_cache);
    v.reads("table", self.table);
    v.reads("lengths", self.lengths);
    v.writes("y", self.y);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const DnnPagedAttention&, const DnnPagedAttention&) = default;
};

/// Each pair of numbers of a token is turned by its place times base^(-2 i / width): pairs are i and i + width / 2, or
/// 2 i and 2 i + 1 when they are `interleaved`. x is [.., tokens, width]; the place of a token is first + its number
/// along that axis, or what `positions`, broadcast to x without its last axis, says. `backward` turns the other way:
/// the gradient.
struct DnnRotary {
  static constexpr Kind kKind = dnn_kind(kDnnAttention, 4);
  static constexpr std::string_view kName = "dnn.rotary";
  static constexpr bool kTakesInPlace = true;
  double base = 10000;
  bool interleaved = false;
  bool backward = false;
  bool has_positions = false;
  std::int64_t first = 0;
  View x;
  View positions;
  View y;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("base", self.base);
    v.field("interleaved", self.interleaved);
    v.field("backward", self.backward);
    v.field("has_positions", self.has_positions);
    v.field("first", self.first);
    v.reads("x", self.x);
    if (self.has_positions) v.reads("positions", self.positions);
    v.writes("y", self.y);
  }
  friend bool operator==(const DnnRotary&, const DnnRotary&) = default;
};

using DnnAttentionOps = OpList<DnnAttention, DnnAttentionGradient, DnnCacheAppend, DnnPagedAttention, DnnRotary>;

Result<void> check(const DnnAttention& op);
Result<void> check(const DnnAttentionGradient& op);
Result<void> check(const DnnCacheAppend& op);
Result<void> check(const DnnPagedAttention& op);
Result<void> check(const DnnRotary& op);

}  // namespace troupe::inline v0::op
