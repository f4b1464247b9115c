// The layers of networks once more, as plain loops in higher precision: what the conformance suites compare with. Slow
// and simple, so that nobody has to believe in them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {

/// The extents of an array [batch, channels, ...] with three axes of space; those that are missing are in front.
struct Extents {
  explicit Extents(const Shape& shape) {
    all[0] = shape[0];
    all[1] = shape[1];
    for (int i = 2; i < shape.rank(); ++i) all[static_cast<std::size_t>(i + 5 - shape.rank())] = shape[i];
  }
  std::int64_t operator[](int axis) const { return all[static_cast<std::size_t>(axis)]; }
  std::int64_t space() const { return all[2] * all[3] * all[4]; }
  std::int64_t count() const { return all[0] * all[1] * space(); }
  /// The index of an element in row-major order; the axes of space are counted from 2.
  std::int64_t at(std::int64_t n, std::int64_t c, std::int64_t d, std::int64_t h, std::int64_t w) const {
    return (((n * all[1] + c) * all[2] + d) * all[3] + h) * all[4] + w;
  }
  std::array<std::int64_t, 5> all{1, 1, 1, 1, 1};
};

/// The steps of a window with three axes of space.
struct WindowSteps {
  std::array<std::int64_t, 3> stride{1, 1, 1};
  std::array<std::int64_t, 3> before{};
  std::array<std::int64_t, 3> after{};
  std::array<std::int64_t, 3> dilation{1, 1, 1};
};
template <class Options>
WindowSteps steps_of(const Options& options, const ::troupe::detail::AlongSpace& stride, int space) {
  WindowSteps steps;
  const ::troupe::detail::AlongSpace after = options.padding_after.value_or(options.padding);
  for (int i = 0; i < space; ++i) {
    const auto to = static_cast<std::size_t>(3 - space + i);
    steps.stride[to] = stride[i];
    steps.before[to] = options.padding[i];
    steps.after[to] = after[i];
    steps.dilation[to] = options.dilation[i];
  }
  return steps;
}

/// Calls `f(out, tap, in)` along one axis for all that a window of `extent` sees inside.
template <class F>
void each_seen(const WindowSteps& steps, std::size_t axis, std::int64_t in, std::int64_t out, std::int64_t extent,
               const F& f) {
  for (std::int64_t o = 0; o < out; ++o)
    for (std::int64_t tap = 0; tap < extent; ++tap) {
      const std::int64_t i = o * steps.stride[axis] - steps.before[axis] + tap * steps.dilation[axis];
      if (i >= 0 && i < in) f(o, tap, i);
    }
}

/// Calls `f(x, w, y)` with the indices of all that a convolution multiplies and adds.
template <class F>
void each_term(const Extents& x, const Extents& w, const Extents& y, const WindowSteps& steps, std::int64_t groups,
               const F& f) {
  for (std::int64_t n = 0; n < x[0]; ++n)
    for (std::int64_t k = 0; k < w[0]; ++k)
      for (std::int64_t c = 0; c < w[1]; ++c) {
        const std::int64_t channel = k / (w[0] / groups) * w[1] + c;
        each_seen(steps, 0, x[2], y[2], w[2], [&](std::int64_t od, std::int64_t td, std::int64_t d) {
          each_seen(steps, 1, x[3], y[3], w[3], [&](std::int64_t oh, std::int64_t th, std::int64_t h) {
            each_seen(steps, 2, x[4], y[4], w[4], [&](std::int64_t ow, std::int64_t tw, std::int64_t i) {
              f(x.at(n, channel, d, h, i), w.at(k, c, td, th, tw), y.at(n, k, od, oh, ow));
            });
          });
        });
      }
}

inline std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

inline std::int64_t extent_of_window(std::int64_t in, std::int64_t extent, const WindowSteps& steps, std::size_t axis) {
  return (in + steps.before[axis] + steps.after[axis] - (extent - 1) * steps.dilation[axis] - 1) / steps.stride[axis] +
         1;
}

}  // namespace troupe::conformance
