// Which elements the windows of a pool see along one axis, and which windows see an element: for the CPU and the GPU
// alike.
#pragma once

namespace troupe::inline v0::dnn {

/// One axis of a pool.
struct PoolAxis {
  long long in;
  long long out;
  long long extent;
  long long stride;
  long long before;
  long long dilation;
  int adaptive;
};

/// Elements `begin`, `begin + step`, ... to before `end`.
struct Seen {
  long long begin;
  long long end;
  long long step;
};

/// What window `place` sees.
constexpr Seen seen_by(const PoolAxis& axis, long long place) {
  if (axis.adaptive) return {place * axis.in / axis.out, ((place + 1) * axis.in + axis.out - 1) / axis.out, 1};
  long long begin = place * axis.stride - axis.before;
  const long long end = begin + (axis.extent - 1) * axis.dilation + 1;
  if (begin < 0) begin += (-begin + axis.dilation - 1) / axis.dilation * axis.dilation;
  return {begin, end < axis.in ? end : axis.in, axis.dilation};
}
constexpr long long count_of(const Seen& seen) {
  return seen.begin < seen.end ? (seen.end - seen.begin - 1) / seen.step + 1 : 0;
}
constexpr bool sees(const Seen& seen, long long element) {
  return element >= seen.begin && element < seen.end && (element - seen.begin) % seen.step == 0;
}

/// The windows that may see an element, `begin` to before `end`; those in between that do not, `sees` tells.
constexpr Seen windows_around(const PoolAxis& axis, long long element) {
  if (axis.adaptive) {
    const long long end = ((element + 1) * axis.out + axis.in - 1) / axis.in;
    return {element * axis.out / axis.in, end < axis.out ? end : axis.out, 1};
  }
  const long long last = (element + axis.before) / axis.stride + 1;
  const long long least = element + axis.before - (axis.extent - 1) * axis.dilation;
  return {least <= 0 ? 0 : (least + axis.stride - 1) / axis.stride, last < axis.out ? last : axis.out, 1};
}

}  // namespace troupe::inline v0::dnn
