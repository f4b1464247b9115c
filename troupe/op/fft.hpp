// Fourier transforms as data. What is transformed follows from the types: complex to complex, in place or not; real to
// the half of the spectrum that says it all, and back. The other axes are a batch; arrays have any strides. Complex
// numbers of f16 are pairs along one more axis, the last, which is not counted among those that are transformed.
#pragma once

#include <array>
#include <span>

#include "troupe/core/kinds.hpp"
#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kFftFamily{9};

/// Along one axis.
inline constexpr std::int64_t kMaxFftLength = std::int64_t{1} << 31;
inline constexpr std::int32_t kMaxFftAxes = 3;

/// The axes that are transformed, each counted from 0. Along the last of them real transforms have half a spectrum.
struct FftAxes {
  std::int32_t count = 1;
  std::int32_t first = 0;
  std::int32_t second = 0;
  std::int32_t third = 0;

  /// Needs i < count.
  int operator[](int i) const noexcept { return i == 0 ? first : i == 1 ? second : third; }
  int last() const noexcept { return (*this)[count - 1]; }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("count", self.count);
    v.field("first", self.first);
    v.field("second", self.second);
    v.field("third", self.third);
  }
  friend bool operator==(const FftAxes&, const FftAxes&) = default;
};

/// Whether a side of a transform is real; `other` is its spectrum, or what it is the spectrum of.
inline bool is_real_side(const View& side, const View& other) noexcept {
  return side.dtype == DType::f16 ? side.shape.rank() < other.shape.rank() : !is_complex(side.dtype);
}
/// The shape of a side's numbers: of pairs, without their axis.
inline Shape shape_of_numbers(const View& side, bool is_real) noexcept {
  if (side.dtype != DType::f16 || is_real || side.shape.rank() == 0) return side.shape;
  return Shape(std::span(side.shape.begin(), static_cast<std::size_t>(side.shape.rank() - 1)));
}

/// How many elements a line of half a spectrum has.
constexpr std::int64_t half_of(std::int64_t length) noexcept { return length / 2 + 1; }

/// A length that is quick to transform, `least` or a little more.
std::int64_t quick_fft_length(std::int64_t least) noexcept;
/// Roughly the multiplications.
std::uint64_t fft_work(const View& view, const FftAxes& axes) noexcept;
/// What is multiplied with every number of the result, where `whole` has the extents that are transformed.
double fft_factor(bool is_inverse, FftNorm norm, const FftAxes& axes, const Shape& whole) noexcept;

/// y = the spectrum of x. Of a real x it is the half of it along the last axis.
struct FftForward {
  static constexpr Kind kKind = kind(kFftFamily, 0);
  static constexpr std::string_view kName = "fft.forward";
  static constexpr bool kTakesInPlace = true;
  static constexpr bool kIsInverse = false;
  FftNorm norm = FftNorm::backward;
  FftAxes axes;
  View x;
  View y;

  bool is_real() const noexcept { return is_real_side(x, y); }
  /// With all elements of the transform.
  const View& whole() const noexcept { return x; }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("norm", self.norm);
    v.field("axes", self.axes);
    v.reads("x", self.x);
    v.writes("y", self.y);
  }
  std::uint64_t work() const noexcept { return fft_work(whole(), axes); }
  friend bool operator==(const FftForward&, const FftForward&) = default;
};

/// y = what x is the spectrum of. For a real y, x is the half of it along the last axis.
struct FftInverse {
  static constexpr Kind kKind = kind(kFftFamily, 1);
  static constexpr std::string_view kName = "fft.inverse";
  static constexpr bool kTakesInPlace = true;
  static constexpr bool kIsInverse = true;
  FftNorm norm = FftNorm::backward;
  FftAxes axes;
  View x;
  View y;

  bool is_real() const noexcept { return is_real_side(y, x); }
  const View& whole() const noexcept { return y; }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("norm", self.norm);
    v.field("axes", self.axes);
    v.reads("x", self.x);
    v.writes("y", self.y);
  }
  std::uint64_t work() const noexcept { return fft_work(whole(), axes); }
  friend bool operator==(const FftInverse&, const FftInverse&) = default;
};

using FftOps = OpList<FftForward, FftInverse>;

Result<void> check(const FftForward& op);
Result<void> check(const FftInverse& op);

}  // namespace troupe::inline v0::op
