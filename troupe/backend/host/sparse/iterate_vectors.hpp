// Vectors of an iteration: long loops over the team, of which each does all that it can to the elements it passes, and
// sums that have the same bits for every team, because they are joined in a fixed tree. Sums are of doubles for all
// types: an iteration lives off them.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "troupe/backend/host/team/team.hpp"
#include "troupe/backend/sparse_steps.hpp"
#include "troupe/core/element.hpp"

namespace troupe::host {

template <class T>
using SumOf = std::conditional_t<detail::kIsComplex<T>, std::complex<double>, double>;

template <class T>
using RealOf = decltype(std::abs(T{}));

/// conj(a) b.
template <class T>
SumOf<T> inner(const T& a, const T& b) noexcept {
  if constexpr (detail::kIsComplex<T>) {
    const double ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
    return {ar * br + ai * bi, ar * bi - ai * br};
  } else {
    return static_cast<double>(a) * static_cast<double>(b);
  }
}
/// The square of the absolute value.
template <class T>
double square(const T& a) noexcept {
  if constexpr (detail::kIsComplex<T>)
    return static_cast<double>(a.real()) * a.real() + static_cast<double>(a.imag()) * a.imag();
  else
    return static_cast<double>(a) * static_cast<double>(a);
}
/// a b, without the detour for infinities.
template <class T>
T times(const T& a, const T& b) noexcept {
  return backend::sparse::plus_product(T{}, a, b);
}
template <class T>
T as_element(const SumOf<T>& sum) noexcept {
  return static_cast<T>(sum);
}
inline double real_of(double sum) noexcept { return sum; }
inline double real_of(const std::complex<double>& sum) noexcept { return sum.real(); }
inline double imaginary_of(double) noexcept { return 0; }
inline double imaginary_of(const std::complex<double>& sum) noexcept { return sum.imag(); }
template <class S>
S sum_of(double real, double imaginary) noexcept {
  if constexpr (std::is_same_v<S, double>)
    return real;
  else
    return {real, imaginary};
}

/// Two sums of one pass.
template <class A, class B>
struct TwoSums {
  A first{};
  B second{};
  TwoSums& operator+=(const TwoSums& other) noexcept {
    first += other.first;
    second += other.second;
    return *this;
  }
};

/// `length` elements of each vector, and the team that goes through them.
template <class T>
class Vectors {
 public:
  Vectors(Team& team, std::int64_t length) noexcept : team_(team), length_(length) {}

  /// Those of several vectors that lie one behind the other.
  Vectors times_as_long(std::int64_t count) const noexcept { return {team_, count * length_}; }

  /// `f(i)` for each element. `bytes` is what it moves for one.
  template <class F>
  void each(std::int64_t bytes, const F& f) const noexcept {
    team_.run(length_, Grain::of_bytes(bytes), [&](std::int64_t begin, std::int64_t end) noexcept {
      for (std::int64_t i = begin; i < end; ++i) f(i);
    });
  }
  /// The sum of `f(i)`. Several sums grow side by side in each block, so that none waits for the one before.
  template <class S, class F>
  S sum(std::int64_t bytes, const F& f) const noexcept {
    return team_.reduce(
        length_, Grain::of_bytes(bytes), S{},
        [&](std::int64_t begin, std::int64_t end) noexcept {
          std::array<S, 4> sums{};
          std::int64_t i = begin;
          for (; i + 4 <= end; i += 4)
            for (std::int64_t k = 0; k < 4; ++k) sums[static_cast<std::size_t>(k)] += f(i + k);
          for (; i < end; ++i) sums[0] += f(i);
          sums[0] += sums[1];
          sums[2] += sums[3];
          return sums[0] += sums[2];
        },
        [](S left, const S& right) noexcept { return left += right; });
  }

  SumOf<T> dot(const T* a, const T* b) const noexcept {
    return sum<SumOf<T>>(2 * kSize, [=](std::int64_t i) { return inner(a[i], b[i]); });
  }
  double norm(const T* a) const noexcept {
    return std::sqrt(sum<double>(kSize, [=](std::int64_t i) { return square(a[i]); }));
  }
  void fill(T* out, const T& number) const noexcept {
    each(kSize, [=](std::int64_t i) { out[i] = number; });
  }
  void copy(const T* from, T* to, std::int64_t step = 1) const noexcept {
    each(2 * kSize, [=](std::int64_t i) { to[i] = from[i * step]; });
  }
  void scale(T* a, const T& factor) const noexcept {
    each(2 * kSize, [=](std::int64_t i) { a[i] = times(factor, a[i]); });
  }
  /// to += factor from.
  void add(T* to, const T& factor, const T* from) const noexcept {
    each(3 * kSize, [=](std::int64_t i) { to[i] = backend::sparse::plus_product(to[i], factor, from[i]); });
  }
  /// Numbers that look like chance, the same for one `seed` everywhere.
  void fill_at_random(T* out, std::uint64_t seed) const noexcept {
    const auto number = [](std::uint64_t x) {
      x += 0x9E3779B97F4A7C15U;
      x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
      x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
      return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1.0;
    };
    each(kSize, [=](std::int64_t i) {
      const std::uint64_t at = (seed << 40) + 2 * static_cast<std::uint64_t>(i);
      out[i] = as_element<T>(sum_of<SumOf<T>>(number(at), number(at + 1)));
    });
  }

  static constexpr std::int64_t kSize = static_cast<std::int64_t>(sizeof(T));

 private:
  Team& team_;
  std::int64_t length_;
};

}  // namespace troupe::host
