// The ops of the primitives family, as data. An op says what to compute on which memory, and nothing about how: the
// backends know that.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kPrimitivesFamily{11};

/// y = alpha x + beta, element by element: of one shape and type, f32 or f64, any strides.
struct PrimitivesScale {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 0);
  static constexpr std::string_view kName = "primitives.scale";
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
  friend bool operator==(const PrimitivesScale&, const PrimitivesScale&) = default;
};

using PrimitivesOps = OpList<PrimitivesScale>;

Result<void> check(const PrimitivesScale& op);

}  // namespace troupe::inline v0::op
