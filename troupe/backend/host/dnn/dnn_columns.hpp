// A convolution as a product of matrices: what each filter element sees of x, a row of columns for each channel and
// place in the filter; and the way back, which adds such rows to x. Everything here is row-major, with three axes of
// space.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "troupe/op/dnn_convolution.hpp"

namespace troupe::host {

/// The extents and steps of a convolution, axes of space that are missing in front.
struct ConvolutionShape {
  ConvolutionShape(const op::View& x, const op::View& w, const op::View& y, const op::DnnWindow& its_window,
                   std::int64_t its_groups) noexcept
      : batch(x.shape[0]),
        groups(its_groups),
        channels(x.shape[1] / its_groups),
        filters(w.shape[0] / its_groups),
        window(in_three(its_window, space_of(x))) {
    const int space = space_of(x);
    for (int i = 0; i < op::kMaxSpace; ++i) {
      const int axis = i - (op::kMaxSpace - space) + 2;
      const auto n = static_cast<std::size_t>(i);
      in[n] = axis < 2 ? 1 : x.shape[axis];
      extent[n] = axis < 2 ? 1 : w.shape[axis];
      out[n] = axis < 2 ? 1 : y.shape[axis];
    }
  }
  std::int64_t ins() const noexcept { return in[0] * in[1] * in[2]; }
  std::int64_t outs() const noexcept { return out[0] * out[1] * out[2]; }
  std::int64_t taps() const noexcept { return extent[0] * extent[1] * extent[2]; }
  /// Rows of columns of a group.
  std::int64_t depth() const noexcept { return channels * taps(); }
  /// Whether x itself is its columns.
  bool is_pointwise() const noexcept { return taps() == 1 && window == op::DnnWindow{}; }

  std::int64_t batch;
  std::int64_t groups;
  std::int64_t channels;  // of a group
  std::int64_t filters;   // of a group
  op::DnnWindow window;
  op::SpaceNumbers in{};
  op::SpaceNumbers extent{};
  op::SpaceNumbers out{};
};

/// Of one tap, along the last axis of space: outputs `begin` to before `end` see x, the first of them at `first`.
struct TapSpan {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t first;
};
inline TapSpan span_of_tap(const ConvolutionShape& of, std::int64_t tap, std::int64_t from, std::int64_t to) noexcept {
  const std::int64_t stride = of.window.stride[2];
  const std::int64_t off = tap * of.window.dilation[2] - of.window.before[2];  // where output 0 looks
  const std::int64_t begin = off >= 0 ? 0 : (-off + stride - 1) / stride;
  const std::int64_t end = of.in[2] - off <= 0 ? 0 : (of.in[2] - off - 1) / stride + 1;
  const std::int64_t first = std::clamp(begin, from, to);
  return {first, std::clamp(end, first, to), first * stride + off};
}

/// Calls `f(row of x, output of the columns, tap's column)` for each row of outputs from `begin` to before `end`:
/// `f(x_row, first_output, from, to)`, where outputs `from` to before `to` of a row of y begin at column
/// `first_output`, and `x_row` is where in the channel the row of x begins, or -1 where the tap sees padding.
template <class F>
void each_output_row(const ConvolutionShape& of, std::int64_t tap, std::int64_t begin, std::int64_t end, const F& f) {
  const std::int64_t tap_h = tap / of.extent[2] % of.extent[1];
  const std::int64_t tap_d = tap / of.extent[2] / of.extent[1];
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t row = at / of.out[2];
    const std::int64_t from = at - row * of.out[2];
    const std::int64_t to = std::min(of.out[2], from + end - at);
    const std::int64_t d = row / of.out[1] * of.window.stride[0] - of.window.before[0] + tap_d * of.window.dilation[0];
    const std::int64_t h = row % of.out[1] * of.window.stride[1] - of.window.before[1] + tap_h * of.window.dilation[1];
    const bool is_inside = d >= 0 && d < of.in[0] && h >= 0 && h < of.in[1];
    f(is_inside ? (d * of.in[1] + h) * of.in[2] : -1, at - begin, from, to);
    at += to - from;
  }
}

/// What a tap sees of a channel, for outputs `begin` to before `end`.
template <class C>
void gather_tap(const ConvolutionShape& of, const C* channel, std::int64_t tap, std::int64_t begin, std::int64_t end,
                C* row) noexcept {
  const std::int64_t stride = of.window.stride[2];
  each_output_row(of, tap, begin, end, [&](std::int64_t x, std::int64_t at, std::int64_t from, std::int64_t to) {
    C* const out = row + at;
    if (x < 0) return void(std::fill_n(out, to - from, C(0)));
    const TapSpan span = span_of_tap(of, tap % of.extent[2], from, to);
    std::fill_n(out, span.begin - from, C(0));
    const C* const in = channel + x + span.first;
    const std::int64_t count = span.end - span.begin;
    C* const seen = out + (span.begin - from);
    if (stride == 1)
      std::copy_n(in, count, seen);
    else
      for (std::int64_t i = 0; i < count; ++i) seen[i] = in[i * stride];
    std::fill_n(out + (span.end - from), to - span.end, C(0));
  });
}

/// Adds what all outputs of a tap give back to a channel.
template <class C>
void scatter_tap(const ConvolutionShape& of, const C* row, std::int64_t tap, C* channel) noexcept {
  const std::int64_t stride = of.window.stride[2];
  each_output_row(of, tap, 0, of.outs(), [&](std::int64_t x, std::int64_t at, std::int64_t from, std::int64_t to) {
    if (x < 0) return;
    const TapSpan span = span_of_tap(of, tap % of.extent[2], from, to);
    C* const out = channel + x + span.first;
    const C* const in = row + at + (span.begin - from);
    const std::int64_t count = span.end - span.begin;
    for (std::int64_t i = 0; i < count; ++i) out[i * stride] += in[i];
  });
}

}  // namespace troupe::host
