// What normalizations do with numbers that lie side by side: the mean and deviation of a row, and the way through them
// and back.
#pragma once

#include <cmath>
#include <cstdint>

#include "troupe/backend/host/dnn/dnn_dense.hpp"

namespace troupe::host {

/// The mean that is subtracted, and what is then multiplied by.
template <class C>
struct Moments {
  C mean{};
  C inverse{};  // 1 / sqrt(variance + epsilon)
  C normal(C x) const noexcept { return (x - mean) * inverse; }
};

/// Not centred: the mean square instead of the variance, and a mean of 0. Needs a number at least.
template <class C>
Moments<C> moments_of(const C* row, std::int64_t length, double epsilon, bool centred) noexcept {
  const auto count = static_cast<double>(length);
  const double mean = centred ? sum_of(length, [&](std::int64_t i) { return row[i]; }) / count : 0.0;
  const double squares = sum_of(length, [&](std::int64_t i) {
    const double off = static_cast<double>(row[i]) - mean;
    return off * off;
  });
  return {static_cast<C>(mean), static_cast<C>(1 / std::sqrt(squares / count + epsilon))};
}

/// With a scale and a shift for each number, or null.
template <class C>
void normalize(const Moments<C>& moments, const C* in, const C* scale, const C* shift, C* out,
               std::int64_t length) noexcept {
  for (std::int64_t i = 0; i < length; ++i) out[i] = moments.normal(in[i]);
  for (std::int64_t i = 0; scale && i < length; ++i) out[i] *= scale[i];
  for (std::int64_t i = 0; shift && i < length; ++i) out[i] += shift[i];
}
/// With one for all.
template <class C>
void normalize_channel(const Moments<C>& moments, const C* in, C scale, C shift, C* out, std::int64_t length) noexcept {
  for (std::int64_t i = 0; i < length; ++i) out[i] = moments.normal(in[i]) * scale + shift;
}

/// The means of what comes back, and of that times the normalized numbers.
template <class C>
struct BackSums {
  C mean{};
  C product{};
  C through(const Moments<C>& moments, C back, C x) const noexcept {
    return moments.inverse * (back - mean - moments.normal(x) * product);
  }
};

template <class C>
void normalize_back(const Moments<C>& moments, const C* back, const C* in, const C* scale, C* out, std::int64_t length,
                    bool centred) noexcept {
  const auto scaled = [&](std::int64_t i) { return scale ? back[i] * scale[i] : back[i]; };
  const auto count = static_cast<double>(length);
  BackSums<C> sums;
  if (centred) sums.mean = static_cast<C>(sum_of(length, scaled) / count);
  sums.product =
      static_cast<C>(sum_of(length, [&](std::int64_t i) { return scaled(i) * moments.normal(in[i]); }) / count);
  for (std::int64_t i = 0; i < length; ++i) out[i] = sums.through(moments, scaled(i), in[i]);
}

}  // namespace troupe::host
