// What the suites of the dnn family's topics on rows and lists share: references in higher precision, written as the
// formulas stand in docs/training.md, and slopes of them by differences.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {

/// The derivatives of a function of many numbers, by central differences.
template <class W>
std::vector<W> slopes_of(std::vector<W> x, const std::function<W(const std::vector<W>&)>& function) {
  const W step = static_cast<W>(1e-4);
  std::vector<W> slopes(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const W at = x[i];
    x[i] = at + step;
    const W above = function(x);
    x[i] = at - step;
    slopes[i] = (above - function(x)) / (2 * step);
    x[i] = at;
  }
  return slopes;
}
/// How many roundings of the type slopes by differences are off, beside those of the op.
template <class T>
double off_by_difference() {
  return 1e-7 / epsilon<T>();
}

/// Calls `f(first, step)` for each row along an axis: its elements are first, first + step, ... in row-major order.
template <class F>
void for_rows(const Shape& shape, int axis, const F& f) {
  std::int64_t inner = 1, outer = 1;
  for (int i = 0; i < axis; ++i) outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::int64_t j = 0; j < inner; ++j)
      f(static_cast<std::size_t>(i * shape[axis] * inner + j), static_cast<std::size_t>(inner));
}

/// log softmax of all rows along an axis.
template <class W>
std::vector<W> log_softmax_of(std::vector<W> x, const Shape& shape, int axis) {
  const auto length = static_cast<std::size_t>(shape[axis]);
  for_rows(shape, axis, [&](std::size_t first, std::size_t step) {
    W greatest = x[first];
    for (std::size_t i = 0; i < length; ++i) greatest = std::max(greatest, x[first + i * step]);
    W sum = 0;
    for (std::size_t i = 0; i < length; ++i) sum += std::exp(x[first + i * step] - greatest);
    for (std::size_t i = 0; i < length; ++i) x[first + i * step] -= greatest + std::log(sum);
  });
  return x;
}
template <class W>
std::vector<W> softmax_of(std::vector<W> x, const Shape& shape, int axis) {
  x = log_softmax_of(std::move(x), shape, axis);
  for (W& number : x) number = std::exp(number);
  return x;
}
template <class W>
W dot(const std::vector<W>& a, const std::vector<W>& b) {
  W sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// What a judged call says.
inline std::string text_of(const Result<void>& end) {
  return end ? "(it is not refused)" : std::string(end.error().message());
}

}  // namespace troupe::conformance
