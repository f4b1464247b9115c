// The steps of optimizers over lists of arrays, as data, and what goes with them: the norm of all gradients, and the
// factor by which a loss is scaled up so that gradients in f16 do not vanish. A step may go in place, or write to other
// arrays: then it can be run again after a crash.
#pragma once

#include "troupe/core/training_kinds.hpp"
#include "troupe/op/dnn_training.hpp"

namespace troupe::inline v0::op {

/// A step takes at most so many parameters, and a norm so many gradients: an op has kMaxViews arrays at most.
inline constexpr std::size_t kMaxParameters = 23;
inline constexpr std::size_t kMaxGradients = 128;
/// Elements of a measure: what gradients are multiplied by, their norm without the loss's scale, and 1 when all of them
/// are finite, else 0.
inline constexpr std::int64_t kMeasureNumbers = 3;
/// Elements of a loss scale: the scale, and how many steps ago it changed.
inline constexpr std::int64_t kLossScaleNumbers = 2;

/// The numbers of a step. `first` and `second` are momentum and dampening of sgd, and the betas of the others.
struct DnnOptimizerStep {
  static constexpr Kind kKind = dnn_kind(kDnnOptimizer, 0);
  static constexpr std::string_view kName = "dnn.optimizer_step";
  static constexpr bool kTakesInPlace = true;
  detail::Optimizer rule{};
  bool nesterov = false;
  bool has_masters = false;
  bool has_measure = false;
  std::int64_t step = 1;
  double rate = 0;
  double first = 0;
  double second = 0;
  double epsilon = 0;
  double decay = 0;
  /// For each parameter: its gradient, the value (a master of f32 where there are masters), then the state; what they
  /// become, in the same order; and, where there are masters, what the parameter becomes.
  std::vector<Argument> arrays;
  View measure;

  /// How many arrays of state each parameter has.
  int states() const noexcept {
    if (rule == detail::Optimizer::sgd) return first != 0 ? 1 : 0;
    return rule == detail::Optimizer::lion ? 1 : 2;
  }
  /// How many of `arrays` belong to one parameter.
  std::size_t arrays_each() const noexcept {
    return 1 + 2 * (1 + static_cast<std::size_t>(states())) + (has_masters ? 1 : 0);
  }

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("rule", self.rule);
    v.field("nesterov", self.nesterov);
    v.field("has_masters", self.has_masters);
    v.field("has_measure", self.has_measure);
    v.field("step", self.step);
    v.field("rate", self.rate);
    v.field("first", self.first);
    v.field("second", self.second);
    v.field("epsilon", self.epsilon);
    v.field("decay", self.decay);
    v.arguments("arrays", self.arrays);
    if (self.has_measure) v.reads("measure", self.measure);
  }
  friend bool operator==(const DnnOptimizerStep&, const DnnOptimizerStep&) = default;
};

/// The norm of all elements of some gradients, whether they are finite, and by what they must be multiplied so that
/// their norm, without the scale of the loss, is at most `most`; 0 is no limit.
struct DnnMeasureGradients {
  static constexpr Kind kKind = dnn_kind(kDnnOptimizer, 1);
  static constexpr std::string_view kName = "dnn.measure_gradients";
  double most = 0;
  bool has_scale = false;
  std::vector<Argument> gradients;
  View scale;
  View measure;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("most", self.most);
    v.field("has_scale", self.has_scale);
    v.arguments("gradients", self.gradients);
    if (self.has_scale) v.reads("scale", self.scale);
    v.writes("measure", self.measure);
  }
  friend bool operator==(const DnnMeasureGradients&, const DnnMeasureGradients&) = default;
};

/// The next scale of a loss: less after gradients that are not finite, and more after `interval` steps that were.
struct DnnAdjustLossScale {
  static constexpr Kind kKind = dnn_kind(kDnnOptimizer, 2);
  static constexpr std::string_view kName = "dnn.adjust_loss_scale";
  static constexpr bool kTakesInPlace = true;
  double growth = 2;
  double backoff = 0.5;
  std::int64_t interval = 2000;
  View measure;
  View scale;
  View next;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("growth", self.growth);
    v.field("backoff", self.backoff);
    v.field("interval", self.interval);
    v.reads("measure", self.measure);
    v.reads("scale", self.scale);
    v.writes("next", self.next);
  }
  friend bool operator==(const DnnAdjustLossScale&, const DnnAdjustLossScale&) = default;
};

using DnnOptimizerOps = OpList<DnnOptimizerStep, DnnMeasureGradients, DnnAdjustLossScale>;

Result<void> check(const DnnOptimizerStep& op);
Result<void> check(const DnnMeasureGradients& op);
Result<void> check(const DnnAdjustLossScale& op);

}  // namespace troupe::inline v0::op
