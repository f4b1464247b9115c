// The inner loops of Fourier transforms, by vector instructions of every level of the CPU. Complex numbers lie in two
// planes, one of real and one of imaginary parts, so that no loop shuffles; a transform of several lines at once has
// them side by side, element by element, and its loops run along the lines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "troupe/backend/host/vectors/vector_level.hpp"

namespace troupe::host {

/// The largest prime that has a stage; lengths with a larger one go by convolution.
inline constexpr int kMaxFftRadix = 31;

/// Numbers in two planes.
template <class T>
struct Planes {
  T* re = nullptr;
  T* im = nullptr;
  /// i times the conjugate: forwards, this is what backwards is the numbers themselves.
  Planes swapped() const noexcept { return {im, re}; }
  operator Planes<const T>() const noexcept  // NOLINT(google-explicit-constructor): as T* becomes const T*
    requires(!std::is_const_v<T>)
  {
    return {re, im};
  }
};

/// One stage of a Stockham transform: of `radix` times `groups` rows of `width` numbers.
template <class T>
struct FftStage {
  int radix = 2;
  std::int64_t groups = 1;
  std::int64_t width = 1;
  const T* twiddles = nullptr;  // for each group, for 1 to radix - 1: real and imaginary part
  const T* roots = nullptr;     // of an odd radix: its cosines, then its sines
};

template <class T>
struct FftRows {
  /// In natural order when all stages are done; `out` overlaps no other plane.
  using Stage = void (*)(const FftStage<T>& stage, Planes<const T> in, Planes<T> out) noexcept;
  std::array<Stage, kMaxFftRadix + 1> stage{};  // null where there is none

  /// Complex numbers, which may be unaligned, to planes and back, times a factor.
  void (*split)(const std::byte* in, Planes<T> out, std::int64_t count) noexcept = nullptr;
  void (*join)(Planes<const T> in, T factor, std::byte* out, std::int64_t count) noexcept = nullptr;
  void (*scale)(T factor, T* row, std::int64_t count) noexcept = nullptr;
  /// Each of `rows` rows of `width` numbers times the factor of that row.
  void (*multiply)(Planes<const T> factors, Planes<T> data, std::int64_t rows, std::int64_t width) noexcept = nullptr;
  /// Row i, of `width` numbers, times coarse[i] fine[i, ...].
  void (*twist)(Planes<const T> coarse, Planes<const T> fine, Planes<T> data, std::int64_t rows,
                std::int64_t width) noexcept = nullptr;

  /// Of 2 n real numbers the even ones are the real parts and the odd ones the imaginary parts of n numbers, whose
  /// spectrum is `in`; `out` is n + 1 rows of the spectrum of the real ones. roots[k] is that of -k / 2n turns.
  void (*to_half)(Planes<const T> in, Planes<const T> roots, Planes<T> out, std::int64_t n,
                  std::int64_t width) noexcept = nullptr;
  /// The way back: what to transform backwards. Everything is twice as large.
  void (*from_half)(Planes<const T> in, Planes<const T> roots, Planes<T> out, std::int64_t n,
                    std::int64_t width) noexcept = nullptr;
};

/// Those of a level; needs a CPU that has it. For f32 and f64.
template <class T>
const FftRows<T>& fft_rows(VectorLevel level) noexcept;
/// Those of this process.
template <class T>
const FftRows<T>& fft_rows() noexcept;

}  // namespace troupe::host
