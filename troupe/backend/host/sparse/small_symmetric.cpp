#include "troupe/backend/host/sparse/small_symmetric.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace troupe::host {

Result<SmallSymmetric> SmallSymmetric::make(std::int64_t most) {
  SmallSymmetric made;
  made.most_ = most;
  made.memory_ = TROUPE_TRY(make_scratch(2 * most * most * static_cast<std::int64_t>(sizeof(double))));
  made.numbers_ = reinterpret_cast<double*>(made.memory_.get());
  made.vectors_ = made.numbers_ + most * most;
  std::fill_n(made.numbers_, 2 * most * most, 0.0);
  return made;
}

/// Makes element (p, q) zero.
void SmallSymmetric::rotate(std::int64_t p, std::int64_t q, std::int64_t count) noexcept {
  const double off = at(p, q);
  if (off == 0) return;
  const double slope = (at(q, q) - at(p, p)) / (2 * off);
  const double t = (slope < 0 ? -1 : 1) / (std::abs(slope) + std::hypot(slope, 1.0));
  const double c = 1 / std::hypot(t, 1.0), s = t * c;
  const auto turn = [c, s](double& a, double& b) {
    const double was = a;
    a = c * was - s * b;
    b = s * was + c * b;
  };
  for (std::int64_t k = 0; k < count; ++k) turn(at(k, p), at(k, q));
  for (std::int64_t k = 0; k < count; ++k) turn(at(p, k), at(q, k));
  for (std::int64_t k = 0; k < count; ++k) turn(vectors_[p * most_ + k], vectors_[q * most_ + k]);
  at(p, q) = at(q, p) = 0;
}

/// Rotates every element away once. Gives the sum of the squares of what was there.
double SmallSymmetric::sweep(std::int64_t count) noexcept {
  double off = 0;
  for (std::int64_t p = 0; p < count; ++p)
    for (std::int64_t q = p + 1; q < count; ++q) {
      off += at(p, q) * at(p, q);
      rotate(p, q, count);
    }
  return off;
}

void SmallSymmetric::diagonalize(std::int64_t count) noexcept {
  constexpr int kMostSweeps = 40;  // it takes 6 to 12: their number grows with the logarithm of the extent
  double size = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::fill_n(vectors_ + i * most_, count, 0.0);
    vectors_[i * most_ + i] = 1;
    for (std::int64_t j = 0; j < count; ++j) size += at(i, j) * at(i, j);
  }
  for (int i = 0; i < kMostSweeps; ++i)
    if (sweep(count) <= 1e-34 * size) return;
}

void SmallSymmetric::sort(std::int64_t count, bool largest_first) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t best = i;
    for (std::int64_t j = i + 1; j < count; ++j)
      if (largest_first ? value(j) > value(best) : value(j) < value(best)) best = j;
    if (best == i) continue;
    std::swap(at(i, i), at(best, best));
    std::swap_ranges(vectors_ + i * most_, vectors_ + i * most_ + count, vectors_ + best * most_);
  }
}

}  // namespace troupe::host
