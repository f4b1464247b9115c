// Losses and their gradients, as data. Losses by element take arrays of one shape; cross entropy takes rows of classes
// along the last axis. f16, bf16, f32 or f64, any strides; small types are computed in f32, sums in f64. The loss has
// the type of what it is of; one number is an array of shape [].
#pragma once

#include "troupe/core/training_kinds.hpp"
#include "troupe/op/dnn_training.hpp"

namespace troupe::inline v0::op {

/// What a loss by element is told.
struct LossTerms {
  detail::Loss function{};
  LossReduction reduction{};
  double delta = 1;         // of huber: from here on it is linear
  bool log_target = false;  // of kl_div: the target is the logarithm of probabilities
  bool has_weight = false;

  /// Whether the target's elements are probabilities, of which a verdict says whether they can be.
  bool takes_probabilities() const noexcept {
    return function == detail::Loss::binary_cross_entropy || (function == detail::Loss::kl_div && !log_target);
  }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("function", self.function);
    v.field("reduction", self.reduction);
    v.field("delta", self.delta);
    v.field("log_target", self.log_target);
    v.field("has_weight", self.has_weight);
  }
  friend bool operator==(const LossTerms&, const LossTerms&) = default;
};

/// loss = what x, as a prediction of target, costs; each element times its weight, if there are any.
struct DnnLoss {
  static constexpr Kind kKind = dnn_kind(kDnnLoss, 0);
  static constexpr std::string_view kName = "dnn.loss";
  LossTerms terms;
  View x;
  View target;
  View weight;
  View loss;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    LossTerms::describe(self.terms, v);
    v.reads("x", self.x);
    v.reads("target", self.target);
    if (self.terms.has_weight) v.reads("weight", self.weight);
    v.writes("loss", self.loss);
    if (self.terms.takes_probabilities()) v.writes("verdict", self.verdict);
  }
  friend bool operator==(const DnnLoss&, const DnnLoss&) = default;
};

/// dx from the gradient of the loss.
struct DnnLossGradient {
  static constexpr Kind kKind = dnn_kind(kDnnLoss, 1);
  static constexpr std::string_view kName = "dnn.loss_gradient";
  LossTerms terms;
  View x;
  View target;
  View weight;
  View dloss;
  View dx;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    LossTerms::describe(self.terms, v);
    v.reads("x", self.x);
    v.reads("target", self.target);
    if (self.terms.has_weight) v.reads("weight", self.weight);
    v.reads("dloss", self.dloss);
    v.writes("dx", self.dx);
    if (self.terms.takes_probabilities()) v.writes("verdict", self.verdict);
  }
  friend bool operator==(const DnnLossGradient&, const DnnLossGradient&) = default;
};

/// What a cross entropy is told.
struct CrossEntropyTerms {
  LossReduction reduction{};
  double label_smoothing = 0;
  std::int64_t ignored = 0;  // rows with this target cost nothing, and do not count
  bool has_weights = false;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("reduction", self.reduction);
    v.field("label_smoothing", self.label_smoothing);
    v.field("ignored", self.ignored);
    v.field("has_weights", self.has_weights);
  }
  friend bool operator==(const CrossEntropyTerms&, const CrossEntropyTerms&) = default;
};

/// loss of row i = - the sum over classes c of q[c] log softmax(logits[i, :])[c]. q is made of the target, a class
/// (i32 or i64) or a probability for each class, of the smoothing, which gives each class its part, and of the weights
/// of the classes. The verdict says which target is no class or no probability.
struct DnnCrossEntropy {
  static constexpr Kind kKind = dnn_kind(kDnnLoss, 2);
  static constexpr std::string_view kName = "dnn.cross_entropy";
  CrossEntropyTerms terms;
  View logits;
  View target;
  View weights;
  View loss;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    CrossEntropyTerms::describe(self.terms, v);
    v.reads("logits", self.logits);
    v.reads("target", self.target);
    if (self.terms.has_weights) v.reads("weights", self.weights);
    v.writes("loss", self.loss);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const DnnCrossEntropy&, const DnnCrossEntropy&) = default;
};

/// dlogits from the gradient of the loss.
struct DnnCrossEntropyGradient {
  static constexpr Kind kKind = dnn_kind(kDnnLoss, 3);
  static constexpr std::string_view kName = "dnn.cross_entropy_gradient";
  CrossEntropyTerms terms;
  View logits;
  View target;
  View weights;
  View dloss;
  View dlogits;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    CrossEntropyTerms::describe(self.terms, v);
    v.reads("logits", self.logits);
    v.reads("target", self.target);
    if (self.terms.has_weights) v.reads("weights", self.weights);
    v.reads("dloss", self.dloss);
    v.writes("dlogits", self.dlogits);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const DnnCrossEntropyGradient&, const DnnCrossEntropyGradient&) = default;
};

using DnnLossOps = OpList<DnnLoss, DnnLossGradient, DnnCrossEntropy, DnnCrossEntropyGradient>;

Result<void> check(const DnnLoss& op);
Result<void> check(const DnnLossGradient& op);
Result<void> check(const DnnCrossEntropy& op);
Result<void> check(const DnnCrossEntropyGradient& op);

}  // namespace troupe::inline v0::op
