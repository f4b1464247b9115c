// Activations as data: a function of each element, and its slope times what comes back. The functions themselves are in
// op/dnn_functions.hpp, for the CPU and the GPU alike.
#pragma once

#include "troupe/core/dnn_kinds.hpp"
#include "troupe/op/dnn_family.hpp"

namespace troupe::inline v0::op {

/// y = f(x): of one shape and type, f32, f64, f16 or bf16, any strides. y may be x.
struct DnnActivate {
  static constexpr Kind kKind = dnn_kind(kDnnPointwise, 0);
  static constexpr std::string_view kName = "dnn.activation";
  static constexpr bool kTakesInPlace = true;
  DnnActivation function = DnnActivation::relu;
  double alpha = 0;
  View x;
  View y;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("function", self.function);
    v.field("alpha", self.alpha);
    v.reads("x", self.x);
    v.writes("y", self.y);
  }
  friend bool operator==(const DnnActivate&, const DnnActivate&) = default;
};

/// dx = dy f'(x), where x is what the function was given. dx may be dy or x.
struct DnnActivateGradient {
  static constexpr Kind kKind = dnn_kind(kDnnPointwise, 1);
  static constexpr std::string_view kName = "dnn.activation_gradient";
  static constexpr bool kTakesInPlace = true;
  DnnActivation function = DnnActivation::relu;
  double alpha = 0;
  View dy;
  View x;
  View dx;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("function", self.function);
    v.field("alpha", self.alpha);
    v.reads("dy", self.dy);
    v.reads("x", self.x);
    v.writes("dx", self.dx);
  }
  friend bool operator==(const DnnActivateGradient&, const DnnActivateGradient&) = default;
};

using DnnPointwiseOps = OpList<DnnActivate, DnnActivateGradient>;

Result<void> check(const DnnActivate& op);
Result<void> check(const DnnActivateGradient& op);

}  // namespace troupe::inline v0::op
