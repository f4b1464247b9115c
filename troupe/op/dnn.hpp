// The ops of the dnn family, as data. An op says what to compute on which memory, and nothing about how: the
// backends know that.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kDnnFamily{12};

/// y = alpha x + beta, element by element: of one shape and type, f32 or f64, any strides.
struct DnnScale {
  static constexpr Kind kKind = kind(kDnnFamily, 0);
  static constexpr std::string_view kName = "dnn.scale";
  double alpha = 1;
  double beta = 0;
  View x;
  View y;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("beta", self.beta);
    v.reads("x", self.x);
    v.writes("y", self.y);
  }
  friend bool operator==(const DnnScale&, const DnnScale&) = default;
};

using DnnOps = OpList<DnnScale>;

Result<void> check(const DnnScale& op);

}  // namespace troupe::inline v0::op
