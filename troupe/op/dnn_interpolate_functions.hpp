// Between which elements an interpolated one lies along one axis, and by how much of each: for the CPU and the GPU
// alike.
#pragma once

#include "troupe/core/dnn_kinds.hpp"

namespace troupe::inline v0::dnn {

inline constexpr int kMostTaps = 4;

/// Elements of x and their weights; an element may be there twice, at a border.
template <class C>
struct Taps {
  int count;
  long long at[kMostTaps];
  C weight[kMostTaps];
};

/// The weights of the four elements around a place `t` behind the second, 0 <= t < 1.
template <class C>
constexpr void cubic_weights(C t, C (&weight)[kMostTaps]) {
  constexpr C kA = C(-0.75);
  const auto near = [](C x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](C x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  weight[0] = far(t + 1);
  weight[1] = near(t);
  weight[2] = near(1 - t);
  weight[3] = far(2 - t);
}

/// Of element `place` of `out`, made of `in` elements.
template <class C>
constexpr Taps<C> taps_of(DnnInterpolation way, bool aligns_corners, long long in, long long out, long long place) {
  Taps<C> taps{1, {0, 0, 0, 0}, {1, 0, 0, 0}};
  if (way == DnnInterpolation::nearest) {
    taps.at[0] = place * in / out;
    return taps;
  }
  // In f64, so that places far from the origin keep their fractions.
  const double at =
      aligns_corners
          ? (out > 1 ? static_cast<double>(place) * static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0)
          : (static_cast<double>(place) + 0.5) * static_cast<double>(in) / static_cast<double>(out) - 0.5;
  const auto clamped = [in](long long i) { return i < 0 ? 0 : i >= in ? in - 1 : i; };
  if (way == DnnInterpolation::linear) {
    const double from = at < 0 ? 0 : at;
    const long long first = clamped(static_cast<long long>(from));
    const C t = static_cast<C>(from - static_cast<double>(first));
    taps.count = 2;
    taps.at[0] = first;
    taps.at[1] = clamped(first + 1);
    taps.weight[0] = 1 - t;
    taps.weight[1] = t;
    return taps;
  }
  auto first = static_cast<long long>(at);
  if (static_cast<double>(first) > at) --first;  // down, also below 0
  taps.count = 4;
  for (int i = 0; i < 4; ++i) taps.at[i] = clamped(first - 1 + i);
  cubic_weights(static_cast<C>(at - static_cast<double>(first)), taps.weight);
  return taps;
}

/// The first of the places whose taps may have element `element`; all of them are before `after_places_around`. A few
/// too many.
constexpr long long first_place_around(bool aligns_corners, long long in, long long out, long long element) {
  if (element <= 3) return 0;
  const double ratio = aligns_corners && in > 1 ? static_cast<double>(out - 1) / static_cast<double>(in - 1)
                                                : static_cast<double>(out) / static_cast<double>(in);
  const double place = (static_cast<double>(element) - 3) * ratio - 2;
  return place < 0 ? 0 : static_cast<long long>(place);
}
constexpr long long after_places_around(bool aligns_corners, long long in, long long out, long long element) {
  if (element + 4 >= in) return out;
  const double ratio = aligns_corners && in > 1 ? static_cast<double>(out - 1) / static_cast<double>(in - 1)
                                                : static_cast<double>(out) / static_cast<double>(in);
  const double place = (static_cast<double>(element) + 4) * ratio + 2;
  return place >= static_cast<double>(out) ? out : static_cast<long long>(place) + 1;
}

}  // namespace troupe::inline v0::dnn
