#include "troupe/library/fft/fft.hpp"

#include "troupe/device/make_call.hpp"
#include "troupe/library/tensor/reduced_axes.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/fft.hpp"

namespace troupe::inline v0 {
namespace {

/// The axes of an array, as the op has them. How many it takes is the op's to say.
Result<op::FftAxes> axes_of(std::string_view call, const std::string& name, const Shape& shape,
                            const detail::Axes& axes) {
  const detail::Axes counted = TROUPE_TRY(detail::counted_axes(call, name, shape, axes));
  op::FftAxes found{.count = counted.size(), .first = 0, .second = 0, .third = 0};
  if (counted.size() > 0) found.first = counted.begin()[0];
  if (counted.size() > 1) found.second = counted.begin()[1];
  if (counted.size() > 2) found.third = counted.begin()[2];
  return found;
}

template <class Op>
Call<void> make_transform(const Device& device, const AnyArray& x, const AnyArray& y, const FftOptions& options) {
  const std::string_view call = op::info_of<Op>().call();
  for (const auto& [name, array] : {std::pair{"x", &x}, {"y", &y}})
    if (Result<void> good = DeviceParts::check(device, call, name, *array); !good) return fail(std::move(good).error());
  // Of an inverse, x is a spectrum, and so complex.
  const bool is_real = !Op::kIsInverse && op::is_real_side(x.view(), y.view());
  Result<op::FftAxes> axes = axes_of(call, "x", op::shape_of_numbers(x.view(), is_real), options.axes);
  if (!axes) return fail(std::move(axes).error());
  const Op op{.norm = options.norm, .axes = *axes, .x = x.view(), .y = y.view()};
  return make_call(device, op, {&x, &y});
}

}  // namespace

Fft Device::fft() const { return Fft(*this); }

Call<void> Fft::forward(const AnyArray& x, const AnyArray& y, FftOptions options) const {
  return make_transform<op::FftForward>(device_, x, y, options);
}
Call<void> Fft::inverse(const AnyArray& x, const AnyArray& y, FftOptions options) const {
  return make_transform<op::FftInverse>(device_, x, y, options);
}

std::vector<double> fftfreq(std::int64_t n, double spacing) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < n; ++i)
    all.push_back(static_cast<double>(i <= (n - 1) / 2 ? i : i - n) / (static_cast<double>(n) * spacing));
  return all;
}

std::vector<double> rfftfreq(std::int64_t n, double spacing) {
  std::vector<double> all;
  for (std::int64_t i = 0; n > 0 && i < op::half_of(n); ++i)
    all.push_back(static_cast<double>(i) / (static_cast<double>(n) * spacing));
  return all;
}

}  // namespace troupe::inline v0
