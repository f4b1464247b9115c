// Normalizations as data: (x - mean) / sqrt(variance + epsilon) scale + shift, by the mean and variance of a channel
// over the whole batch, of a group of channels of one sample, or of the last axes. Scale, shift, means and variances
// are of x's type, or, where that is of 16 bits, all of f32. Gradients find the mean and variance again from x.
#pragma once

#include "troupe/op/dnn_family.hpp"

namespace troupe::inline v0::op {

/// By a mean and variance that are given: an element for each channel, as scale and shift have.
struct DnnBatchNorm {
  static constexpr Kind kKind = dnn_kind(kDnnNorm, 0);
  static constexpr std::string_view kName = "dnn.batch_norm";
  static constexpr bool kTakesInPlace = true;
  double epsilon = 1e-5;
  bool has_scale = false;
  bool has_shift = false;
  View x;
  View mean;
  View variance;
  View scale;
  View shift;
  View y;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("epsilon", self.epsilon);
    v.field("has_scale", self.has_scale);
    v.field("has_shift", self.has_shift);
    v.reads("x", self.x);
    v.reads("mean", self.mean);
    v.reads("variance", self.variance);
    if (self.has_scale) v.reads("scale", self.scale);
    if (self.has_shift) v.reads("shift", self.shift);
    v.writes("y", self.y);
  }
  friend bool operator==(const DnnBatchNorm&, const DnnBatchNorm&) = default;
};

/// By the mean and variance of the batch. Running figures go towards them by `momentum`, the variance towards the
/// unbiased one.
struct DnnBatchNormTraining {
  static constexpr Kind kKind = dnn_kind(kDnnNorm, 1);
  static constexpr std::string_view kName = "dnn.batch_norm_training";
  double epsilon = 1e-5;
  double momentum = 0.1;
  bool has_scale = false;
  bool has_shift = false;
  bool has_running = false;
  View x;
  View scale;
  View shift;
  View running_mean;
  View running_variance;
  View y;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("epsilon", self.epsilon);
    v.field("momentum", self.momentum);
    v.field("has_scale", self.has_scale);
    v.field("has_shift", self.has_shift);
    v.field("has_running", self.has_running);
    v.reads("x", self.x);
    if (self.has_scale) v.reads("scale", self.scale);
    if (self.has_shift) v.reads("shift", self.shift);
    if (self.has_running) {
      v.updates("running_mean", self.running_mean);
      v.updates("running_variance", self.running_variance);
    }
    v.writes("y", self.y);
  }
  friend bool operator==(const DnnBatchNormTraining&, const DnnBatchNormTraining&) = default;
};

/// What the gradients of all normalizations describe alike: dscale and dshift where they are asked for.
template <class Self, class V>
void describe_norm_gradient(Self& self, V& v) {
  v.field("epsilon", self.epsilon);
  v.field("has_scale", self.has_scale);
  v.field("gives_scale", self.gives_scale);
  v.field("gives_shift", self.gives_shift);
  v.reads("dy", self.dy);
  v.reads("x", self.x);
  if (self.has_scale) v.reads("scale", self.scale);
  v.writes("dx", self.dx);
  if (self.gives_scale) v.writes("dscale", self.dscale);
  if (self.gives_shift) v.writes("dshift", self.dshift);
}

struct DnnBatchNormGradient {
  static constexpr Kind kKind = dnn_kind(kDnnNorm, 2);
  static constexpr std::string_view kName = "dnn.batch_norm_gradient";
  double epsilon = 1e-5;
  bool has_scale = false;
  bool gives_scale = false;
  bool gives_shift = false;
  View dy;
  View x;
  View scale;
  View dx;
  View dscale;
  View dshift;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    describe_norm_gradient(self, v);
  }
  friend bool operator==(const DnnBatchNormGradient&, const DnnBatchNormGradient&) = default;
};

/// By the mean and variance of each of `groups` groups of neighbouring channels of a sample; of each channel alone
/// when `groups` is 0.
struct DnnGroupNorm {
  static constexpr Kind kKind = dnn_kind(kDnnNorm, 3);
  static constexpr std::string_view kName = "dnn.group_norm";
  std::int64_t groups = 0;
  double epsilon = 1e-5;
  bool has_scale = false;
  bool has_shift = false;
  View x;
  View scale;
  View shift;
  View y;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("groups", self.groups);
    v.field("epsilon", self.epsilon);
    v.field("has_scale", self.has_scale);
    v.field("has_shift", self.has_shift);
    v.reads("x", self.x);
    if (self.has_scale) v.reads("scale", self.scale);
    if (self.has_shift) v.reads("shift", self.shift);
    v.writes("y", self.y);
  }
  friend bool operator==(const DnnGroupNorm&, const DnnGroupNorm&) = default;
};

struct DnnGroupNormGradient {
  static constexpr Kind kKind = dnn_kind(kDnnNorm, 4);
  static constexpr std::string_view kName = "dnn.group_norm_gradient";
  std::int64_t groups = 0;
  double epsilon = 1e-5;
  bool has_scale = false;
  bool gives_scale = false;
  bool gives_shift = false;
  View dy;
  View x;
  View scale;
  View dx;
  View dscale;
  View dshift;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("groups", self.groups);
    describe_norm_gradient(self, v);
  }
  friend bool operator==(const DnnGroupNormGradient&, const DnnGroupNormGradient&) = default;
};

/// By the mean and variance of the last `axes` axes, whose shape scale and shift have. Not `centred`: by the mean
/// square alone, and no mean is subtracted; this is the norm by the root of the mean square.
struct DnnLayerNorm {
  static constexpr Kind kKind = dnn_kind(kDnnNorm, 5);
  static constexpr std::string_view kName = "dnn.layer_norm";
  std::uint8_t axes = 1;
  bool centred = true;
  double epsilon = 1e-5;
  bool has_scale = false;
  bool has_shift = false;
  View x;
  View scale;
  View shift;
  View y;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("axes", self.axes);
    v.field("centred", self.centred);
    v.field("epsilon", self.epsilon);
    v.field("has_scale", self.has_scale);
    v.field("has_shift", self.has_shift);
    v.reads("x", self.x);
    if (self.has_scale) v.reads("scale", self.scale);
    if (self.has_shift) v.reads("shift", self.shift);
    v.writes("y", self.y);
  }
  friend bool operator==(const DnnLayerNorm&, const DnnLayerNorm&) = default;
};

struct DnnLayerNormGradient {
  static constexpr Kind kKind = dnn_kind(kDnnNorm, 6);
  static constexpr std::string_view kName = "dnn.layer_norm_gradient";
  std::uint8_t axes = 1;
  bool centred = true;
  double epsilon = 1e-5;
  bool has_scale = false;
  bool gives_scale = false;
  bool gives_shift = false;
  View dy;
  View x;
  View scale;
  View dx;
  View dscale;
  View dshift;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("axes", self.axes);
    v.field("centred", self.centred);
    describe_norm_gradient(self, v);
  }
  friend bool operator==(const DnnLayerNormGradient&, const DnnLayerNormGradient&) = default;
};

using DnnNormOps = OpList<DnnBatchNorm, DnnBatchNormTraining, DnnBatchNormGradient, DnnGroupNorm, DnnGroupNormGradient,
                          DnnLayerNorm, DnnLayerNormGradient>;

Result<void> check(const DnnBatchNorm& op);
Result<void> check(const DnnBatchNormTraining& op);
Result<void> check(const DnnBatchNormGradient& op);
Result<void> check(const DnnGroupNorm& op);
Result<void> check(const DnnGroupNormGradient& op);
Result<void> check(const DnnLayerNorm& op);
Result<void> check(const DnnLayerNormGradient& op);

}  // namespace troupe::inline v0::op
