// Interpolation as data: x [batch, channels, ...] with other extents along the axes of space. Elements are samples of
// pixels that fill the whole extent; with `aligns_corners` the first and last elements of x and y are at the same place
// instead.
#pragma once

#include "troupe/core/dnn_kinds.hpp"
#include "troupe/op/dnn_family.hpp"
#include "troupe/op/dnn_window.hpp"

namespace troupe::inline v0::op {

struct DnnInterpolate {
  static constexpr Kind kKind = dnn_kind(kDnnInterpolate, 0);
  static constexpr std::string_view kName = "dnn.interpolate";
  DnnInterpolation way = DnnInterpolation::nearest;
  bool aligns_corners = false;
  View x;
  View y;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("way", self.way);
    v.field("aligns_corners", self.aligns_corners);
    v.reads("x", self.x);
    v.writes("y", self.y);
  }
  friend bool operator==(const DnnInterpolate&, const DnnInterpolate&) = default;
};

struct DnnInterpolateGradient {
  static constexpr Kind kKind = dnn_kind(kDnnInterpolate, 1);
  static constexpr std::string_view kName = "dnn.interpolate_gradient";
  DnnInterpolation way = DnnInterpolation::nearest;
  bool aligns_corners = false;
  View dy;
  View dx;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("way", self.way);
    v.field("aligns_corners", self.aligns_corners);
    v.reads("dy", self.dy);
    v.writes("dx", self.dx);
  }
  friend bool operator==(const DnnInterpolateGradient&, const DnnInterpolateGradient&) = default;
};

using DnnInterpolateOps = OpList<DnnInterpolate, DnnInterpolateGradient>;

Result<void> check(const DnnInterpolate& op);
Result<void> check(const DnnInterpolateGradient& op);

}  // namespace troupe::inline v0::op
