// Recurrent layers, as data: LSTM and GRU, several layers and both directions in one op, forward and backward, as
// PyTorch defines them. A run is one layer in one direction: layer by layer, and of each the direction from the end
// behind the one from the beginning. What runs give to each other is kept in f32, and of f64 in f64.
#pragma once

#include "troupe/core/training_kinds.hpp"
#include "troupe/op/dnn_training.hpp"

namespace troupe::inline v0::op {

/// An op has at most so many runs: layers times directions.
inline constexpr std::int64_t kMaxRecurrentRuns = 16;
/// A layer is at most so wide.
inline constexpr std::int64_t kMaxHidden = std::int64_t{1} << 20;
/// Numbers that are kept of each hidden one of each step: the gates and the state, as op/recurrent_functions.hpp has
/// them.
inline constexpr std::int64_t kKeptNumbers = 5;

struct RecurrentTerms {
  detail::Recurrent cell{};
  bool has_bias = false;
  bool both_directions = false;
  bool has_lengths = false;  // only the first tokens of each sequence

  std::int64_t gates() const noexcept { return cell == detail::Recurrent::lstm ? 4 : 3; }
  std::int64_t directions() const noexcept { return both_directions ? 2 : 1; }
  /// Arrays of the state: h, and c of an LSTM.
  std::size_t states() const noexcept { return cell == detail::Recurrent::lstm ? 2 : 1; }
  /// Arrays of one run: w_ih [gates hidden, features], w_hh [gates hidden, hidden], and b_ih and b_hh [gates hidden].
  std::size_t weights_each() const noexcept { return has_bias ? 4 : 2; }

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("cell", self.cell);
    v.field("has_bias", self.has_bias);
    v.field("both_directions", self.both_directions);
    v.field("has_lengths", self.has_lengths);
  }
  friend bool operator==(const RecurrentTerms&, const RecurrentTerms&) = default;
};

/// y [tokens, batch, directions hidden] of x [tokens, batch, features]; behind the end of a sequence it is 0. `start`
/// and `end` are the state [runs, batch, hidden] before the first token of each sequence and after its last one: h, and
/// c of an LSTM; or no arrays. `kept` [runs, tokens, batch, kKeptNumbers hidden] is what the gradient needs.
struct DnnRecurrent {
  static constexpr Kind kKind = dnn_kind(kDnnRecurrent, 0);
  static constexpr std::string_view kName = "dnn.recurrent";
  RecurrentTerms terms;
  bool keeps = false;
  View x;
  std::vector<Argument> weights;
  std::vector<Argument> start;
  View lengths;
  View y;
  std::vector<Argument> end;
  View kept;
  View verdict;

  std::uint64_t work() const noexcept;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    RecurrentTerms::describe(self.terms, v);
    v.field("keeps", self.keeps);
    v.reads("x", self.x);
    v.arguments("weights", self.weights);
    v.arguments("start", self.start);
    if (self.terms.has_lengths) v.reads("lengths", self.lengths);
    v.writes("y", self.y);
    v.arguments("end", self.end);
    if (self.keeps) v.writes("kept", self.kept);
    if (self.terms.has_lengths) v.writes("verdict", self.verdict);
  }
  friend bool operator==(const DnnRecurrent&, const DnnRecurrent&) = default;
};

/// dx from the gradients of y and, where there are any, of `end`; also of `start` and of the weights, where there are
/// arrays for them.
struct DnnRecurrentGradient {
  static constexpr Kind kKind = dnn_kind(kDnnRecurrent, 1);
  static constexpr std::string_view kName = "dnn.recurrent_gradient";
  RecurrentTerms terms;
  View dy;
  View x;
  std::vector<Argument> weights;
  std::vector<Argument> start;
  View lengths;
  View kept;
  std::vector<Argument> dend;
  View dx;
  std::vector<Argument> dstart;
  std::vector<Argument> dweights;
  View verdict;

  std::uint64_t work() const noexcept;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    RecurrentTerms::describe(self.terms, v);
    v.reads("dy", self.dy);
    v.reads("x", self.x);
    v.arguments("weights", self.weights);
    v.arguments("start", self.start);
    if (self.terms.has_lengths) v.reads("lengths", self.lengths);
    v.reads("kept", self.kept);
    v.arguments("dend", self.dend);
    v.writes("dx", self.dx);
    v.arguments("dstart", self.dstart);
    v.arguments("dweights", self.dweights);
    if (self.terms.has_lengths) v.writes("verdict", self.verdict);
  }
  friend bool operator==(const DnnRecurrentGradient&, const DnnRecurrentGradient&) = default;
};

using DnnRecurrentOps = OpList<DnnRecurrent, DnnRecurrentGradient>;

Result<void> check(const DnnRecurrent& op);
Result<void> check(const DnnRecurrentGradient& op);

/// The extents of an op that was checked.
struct RecurrentExtents {
  RecurrentExtents(const RecurrentTerms& terms, const View& x, const std::vector<Argument>& weights) noexcept
      : tokens(x.shape[0]),
        batch(x.shape[1]),
        features(x.shape[2]),
        hidden(weights[1].view.shape[1]),
        directions(terms.directions()),
        runs(static_cast<std::int64_t>(weights.size() / terms.weights_each())),
        sums(terms.gates() * hidden) {}

  std::int64_t layers() const noexcept { return runs / directions; }
  /// Rows of all tokens of all sequences.
  std::int64_t rows() const noexcept { return tokens * batch; }
  /// What a layer gives.
  std::int64_t width() const noexcept { return directions * hidden; }
  /// What it takes.
  std::int64_t width_before(std::int64_t layer) const noexcept { return layer == 0 ? features : width(); }

  std::int64_t tokens;
  std::int64_t batch;
  std::int64_t features;
  std::int64_t hidden;
  std::int64_t directions;
  std::int64_t runs;
  std::int64_t sums;  // of all gates
};

}  // namespace troupe::inline v0::op
