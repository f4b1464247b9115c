// Softmax and log-softmax, and their gradients, as data. A row is what lies along the last axis; the library puts the
// axis that is meant there. f16, bf16, f32 or f64, any strides; small types are computed in f32.
#pragma once

#include "troupe/op/dnn_training.hpp"

namespace troupe::inline v0::op {

/// y = e^x / (the sum of e^x over its row), or the logarithm of that.
struct DnnSoftmax {
  static constexpr Kind kKind = dnn_kind(kDnnSoftmax, 0);
  static constexpr std::string_view kName = "dnn.softmax";
  static constexpr bool kTakesInPlace = true;
  bool logarithm = false;
  View x;
  View y;

  std::string_view call() const noexcept { return logarithm ? "log_softmax" : "softmax"; }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("logarithm", self.logarithm);
    v.reads("x", self.x);
    v.writes("y", self.y);
  }
  friend bool operator==(const DnnSoftmax&, const DnnSoftmax&) = default;
};

/// dx from what softmax gave (y) and the gradient of that (dy).
struct DnnSoftmaxGradient {
  static constexpr Kind kKind = dnn_kind(kDnnSoftmax, 1);
  static constexpr std::string_view kName = "dnn.softmax_gradient";
  static constexpr bool kTakesInPlace = true;
  bool logarithm = false;
  View y;
  View dy;
  View dx;

  std::string_view call() const noexcept { return logarithm ? "log_softmax_gradient" : "softmax_gradient"; }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("logarithm", self.logarithm);
    v.reads("y", self.y);
    v.reads("dy", self.dy);
    v.writes("dx", self.dx);
  }
  friend bool operator==(const DnnSoftmaxGradient&, const DnnSoftmaxGradient&) = default;
};

using DnnSoftmaxOps = OpList<DnnSoftmax, DnnSoftmaxGradient>;

Result<void> check(const DnnSoftmax& op);
Result<void> check(const DnnSoftmaxGradient& op);

}  // namespace troupe::inline v0::op
