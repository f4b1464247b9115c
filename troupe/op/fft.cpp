#include "troupe/op/fft.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "troupe/op/check.hpp"
#include "troupe/op/count_at_most.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {
namespace {

Result<void> check_axes(std::string_view call, const FftAxes& axes, const Shape& whole, std::string_view name) {
  if (axes.count < 1 || axes.count > kMaxFftAxes)
    return refuse(
        call, std::to_string(axes.count) + " axes are given; a transform takes 1 to " + std::to_string(kMaxFftAxes));
  for (int i = axes.count; i < kMaxFftAxes; ++i)
    if (axes[i] != 0)
      return refuse(call, "behind the last of the axes is " + std::to_string(axes[i]) + "; it must be 0");
  for (int i = 0; i < axes.count; ++i) {
    if (axes[i] < 0 || axes[i] >= whole.rank())
      return refuse(call,
                    std::string(name) + " is " + whole.to_string() + "; it has no axis " + std::to_string(axes[i]));
    for (int before = 0; before < i; ++before)
      if (axes[before] == axes[i]) return refuse(call, "axis " + std::to_string(axes[i]) + " is given twice");
    if (whole[axes[i]] > kMaxFftLength)
      return refuse_unsupported(call, std::string(name) + " is " + whole.to_string() +
                                          "; a transform takes up to 2^31 elements along an axis");
  }
  return {};
}

/// Half a spectrum is as long as it says along the last of the axes.
Result<void> check_half(std::string_view call, const FftAxes& axes, const NamedView& whole, const NamedView& spectrum) {
  Shape half = whole.view.shape;
  std::int64_t& last = half[axes.last()];
  if (last == 0)
    return refuse(call, std::string(whole.name) + " is " + half.to_string() +
                            "; a real transform needs at least one element along its last axis");
  last = half_of(last);
  Shape wanted = half;
  if (spectrum.view.dtype == DType::f16) {
    std::vector<std::int64_t> pairs(half.begin(), half.end());
    pairs.push_back(2);
    wanted = Shape(pairs);
  }
  if (spectrum.view.shape == wanted) return {};
  return refuse(call, std::string(spectrum.name) + " is " + spectrum.view.shape.to_string() + "; " +
                          std::string(whole.name) + " is real and " + whole.view.shape.to_string() +
                          ", so it must be " + wanted.to_string());
}

/// Numbers of f16, which cuFFT transforms where lengths are powers of two.
Result<void> check_f16_pair(std::string_view call, const FftAxes& axes, const NamedView& whole,
                            const NamedView& spectrum) {
  TROUPE_TRY(check_same_types(call, {whole, spectrum}));
  const Shape& pairs = spectrum.view.shape;
  if (pairs.rank() == 0 || pairs[pairs.rank() - 1] != 2)
    return refuse(call, std::string(spectrum.name) + " is f16 and " + pairs.to_string() +
                            "; complex numbers of f16 are pairs, so its last axis must have 2 elements");
  const bool is_real = is_real_side(whole.view, spectrum.view);
  const Shape numbers = shape_of_numbers(whole.view, is_real);
  TROUPE_TRY(check_axes(call, axes, numbers, whole.name));
  for (int i = 0; i < axes.count; ++i)
    if (numbers[axes[i]] != 0 && !std::has_single_bit(static_cast<std::uint64_t>(numbers[axes[i]])))
      return refuse_unsupported(call, std::string(whole.name) + " is f16 and has " + std::to_string(numbers[axes[i]]) +
                                          " numbers along axis " + std::to_string(axes[i]) +
                                          "; of f16 they must be a power of two: use f32");
  return is_real ? check_half(call, axes, whole, spectrum) : check_same_shapes(call, {whole, spectrum});
}

/// The numbers of a transform (`whole`) and its spectrum, under the names that the call gives them.
Result<void> check_pair(std::string_view call, const FftAxes& axes, const NamedView& whole, const NamedView& spectrum) {
  if (spectrum.view.dtype == DType::f16) return check_f16_pair(call, axes, whole, spectrum);
  TROUPE_TRY(check_type_is_one_of(call, spectrum, {DType::c64, DType::c128, DType::f16}));
  const DType complex = spectrum.view.dtype, real = detail::real_type(complex);
  if (whole.view.dtype != complex && whole.view.dtype != real)
    return refuse(call, std::string(whole.name) + " is " + std::string(name(whole.view.dtype)) + "; it must be " +
                            std::string(name(complex)) + " or " + std::string(name(real)) + " when " +
                            std::string(spectrum.name) + " is " + std::string(name(complex)));
  TROUPE_TRY(check_axes(call, axes, whole.view.shape, whole.name));
  if (whole.view.dtype == complex) return check_same_shapes(call, {whole, spectrum});
  return check_half(call, axes, whole, spectrum);
}

}  // namespace

std::int64_t quick_fft_length(std::int64_t least) noexcept {
  std::int64_t best = 1;
  while (best < least) best *= 2;
  // With at most two factors of 3 and one of 5 it is nearly as quick as a power of two.
  for (const std::int64_t odd : {3, 5, 9, 15}) {
    std::int64_t candidate = odd;
    while (candidate < least) candidate *= 2;
    best = std::min(best, candidate);
  }
  return best;
}

std::uint64_t fft_work(const View& view, const FftAxes& axes) noexcept {
  std::uint64_t digits = 4;
  for (int i = 0; i < std::min(axes.count, kMaxFftAxes); ++i)
    if (axes[i] >= 0 && axes[i] < view.shape.rank())  // it is asked before the op is checked, too
      digits += static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(view.shape[axes[i]])));
  return count_at_most(view, std::uint64_t{1} << 50) * digits;
}

double fft_factor(bool is_inverse, FftNorm norm, const FftAxes& axes, const Shape& whole) noexcept {
  if (norm == (is_inverse ? FftNorm::forward : FftNorm::backward)) return 1;
  double count = 1;
  for (int i = 0; i < axes.count; ++i) count *= static_cast<double>(whole[axes[i]]);
  return 1 / (norm == FftNorm::ortho ? std::sqrt(count) : count);
}

Result<void> check(const FftForward& op) { return check_pair("forward", op.axes, {"x", op.x}, {"y", op.y}); }
Result<void> check(const FftInverse& op) { return check_pair("inverse", op.axes, {"y", op.y}, {"x", op.x}); }

extern const FamilyOps fft_ops = register_ops("fft", FftOps{});

}  // namespace troupe::inline v0::op
