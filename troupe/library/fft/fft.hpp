// Fourier transforms on a device: `gpu.fft()`. Arrays of c64 or c128, or of f32 or f64 on the real side, with any
// strides and of any length, primes included. One to three axes are transformed, the last one unless told; the others
// are a batch.
//
//   CO_TRY(co_await gpu.fft().forward(x, y));                       // complex to complex; y may be x itself
//   CO_TRY(co_await gpu.fft().forward(image, half, {.axes = {0, 1}}));  // real to half of its spectrum
//   CO_TRY(co_await gpu.fft().inverse(half, image, {.axes = {0, 1}}));  // and back
#pragma once

#include <utility>
#include <vector>

#include "troupe/core/kinds.hpp"
#include "troupe/device/device.hpp"
#include "troupe/library/tensor/tensor.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What a transform can be told.
struct FftOptions {
  detail::Axes axes = -1;            // one to three; below 0 from the end; `{0, 1}`, or a list made at run time
  FftNorm norm = FftNorm::backward;  // where the factor is
};
static_assert(std::is_trivially_destructible_v<FftOptions>, "safe inside a co_await with g++ 12");

/// Which part of a convolution is wanted, of a and b with n and m elements.
enum class ConvolveMode : std::uint8_t {
  full,   // n + m - 1 elements: wherever a and b meet
  same,   // the middle of it, as many as the longer one has
  valid,  // where the shorter one lies wholly within the longer one: |n - m| + 1 elements
};

/// Fourier transforms on a device: `gpu.fft()`.
class Fft {
 public:
  explicit Fft(Device device) noexcept : device_(std::move(device)) {}

  /// y = the spectrum of x along the axes. Complex to complex: of one type and shape, and y may be x. Real to complex:
  /// along the last of the axes, y has the first n / 2 + 1 numbers of the spectrum, and the others are their
  /// conjugates.
  Call<void> forward(const AnyArray& x, const AnyArray& y, FftOptions options = {}) const;
  /// y = what x is the spectrum of. When y is real, x is half a spectrum along the last of the axes, whose length is
  /// y's; the imaginary parts of its first number, and for even lengths of its last, do not count.
  Call<void> inverse(const AnyArray& x, const AnyArray& y, FftOptions options = {}) const;

  /// y = x, turned so that frequency 0, which a transform puts first, is in the middle, along the axes; y is not x.
  Call<void> fftshift(const AnyArray& x, const AnyArray& y, detail::Axes axes) const;
  /// Along all axes.
  Call<void> fftshift(const AnyArray& x, const AnyArray& y) const;
  /// The way back.
  Call<void> ifftshift(const AnyArray& x, const AnyArray& y, detail::Axes axes) const;
  Call<void> ifftshift(const AnyArray& x, const AnyArray& y) const;

  /// out = the convolution of a and b along their last axis, by transforms: sums of a[i] b[k - i]. All of one type,
  /// f32, f64, c64 or c128, and the axes before the last are the same batch. It is one call with one end, and several
  /// ops: no op may write a or b between the first and the last.
  Call<void> convolve(const AnyArray& a, const AnyArray& b, const AnyArray& out,
                      ConvolveMode mode = ConvolveMode::full) const;
  /// The same for sums of a[i + k] times the conjugate of b[i].
  Call<void> correlate(const AnyArray& a, const AnyArray& b, const AnyArray& out,
                       ConvolveMode mode = ConvolveMode::full) const;

 private:
  Device device_;
};

/// The frequencies of a spectrum of n numbers, in cycles for each unit of `spacing`, which lies between two samples: 0,
/// the positive ones, the negative ones. Empty for an n below 1.
std::vector<double> fftfreq(std::int64_t n, double spacing = 1);
/// Those of half a spectrum: n / 2 + 1, none negative.
std::vector<double> rfftfreq(std::int64_t n, double spacing = 1);

}  // namespace troupe::inline v0
#pragma GCC visibility pop
