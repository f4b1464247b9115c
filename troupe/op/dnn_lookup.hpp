// Embedding and dropout, as data: rows of a table by indices, and elements that are left out at random. What is left
// out follows from a seed and a position, so no mask is kept.
#pragma once

#include "troupe/op/dnn_training.hpp"
#include "troupe/op/random.hpp"

namespace troupe::inline v0::op {

/// y[.., :] = table[indices[..], :]. Indices are i32 or i64, from 0 to before the number of rows, or the verdict says
/// which is not.
struct DnnEmbedding {
  static constexpr Kind kKind = dnn_kind(kDnnLookup, 0);
  static constexpr std::string_view kName = "dnn.embedding";
  View table;
  View indices;
  View y;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("table", self.table);
    v.reads("indices", self.indices);
    v.writes("y", self.y);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const DnnEmbedding&, const DnnEmbedding&) = default;
};

/// dtable[i, :] = the sum of dy[.., :] of all places whose index is i, in their order; 0 where there is none, and of
/// the row `padding`, unless that is less than 0.
struct DnnEmbeddingGradient {
  static constexpr Kind kKind = dnn_kind(kDnnLookup, 1);
  static constexpr std::string_view kName = "dnn.embedding_gradient";
  std::int64_t padding = -1;
  View dy;
  View indices;
  View dtable;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("padding", self.padding);
    v.reads("dy", self.dy);
    v.reads("indices", self.indices);
    v.writes("dtable", self.dtable);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const DnnEmbeddingGradient&, const DnnEmbeddingGradient&) = default;
};

/// y = x / (1 - probability), or 0 with that probability. Whether element i, in row-major order, is 0 depends on seed,
/// stream and position + i alone: the gradient is the same op on the gradient.
struct DnnDropout {
  static constexpr Kind kKind = dnn_kind(kDnnLookup, 2);
  static constexpr std::string_view kName = "dnn.dropout";
  static constexpr bool kTakesInPlace = true;
  RandomSource source;
  double probability = 0;
  View x;
  View y;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    RandomSource::describe(self.source, v);
    v.field("probability", self.probability);
    v.reads("x", self.x);
    v.writes("y", self.y);
  }
  friend bool operator==(const DnnDropout&, const DnnDropout&) = default;
};

using DnnLookupOps = OpList<DnnEmbedding, DnnEmbeddingGradient, DnnDropout>;

Result<void> check(const DnnEmbedding& op);
Result<void> check(const DnnEmbeddingGradient& op);
Result<void> check(const DnnDropout& op);

}  // namespace troupe::inline v0::op
