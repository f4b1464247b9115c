// Functions that are one call of several ops: shifts are copies of parts, convolutions a product between transforms.
#include <algorithm>
#include <utility>

#include "troupe/device/make_call.hpp"
#include "troupe/library/fft/fft.hpp"
#include "troupe/library/tensor/reduced_axes.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/fft.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::inline v0 {
namespace {

/// Ops, each with the one before it.
class OpChain {
 public:
  explicit OpChain(const Device& device) noexcept : device_(device) {}

  template <class Op>
  Result<void> add(const Op& op, std::initializer_list<const AnyArray*> arrays) {
    auto call = TROUPE_TRY(DeviceParts::make_op_call(device_, op::info_of<Op>(), &op,
                                                     std::span<const AnyArray* const>(arrays.begin(), arrays.size())));
    call->before = std::exchange(last_, nullptr);
    last_ = std::move(call);
    return {};
  }
  Result<void> copy(const AnyArray& from, const AnyArray& to) {
    return add(op::Copy{.in = from.view(), .out = to.view()}, {&from, &to});
  }
  /// Of the ops, or why there are none.
  Call<void> finish(Result<void> made) && {
    if (!made) return fail(std::move(made).error());
    return {DeviceParts::state(device_), std::move(last_)};
  }

 private:
  const Device& device_;
  detail::IntrusivePtr<detail::OpCall> last_;
};

// ---- shifts ----

using Part = std::pair<AnyArray, AnyArray>;

/// What becomes what when an axis is turned by `by` elements.
Result<std::vector<Part>> turned(const std::vector<Part>& parts, int axis, std::int64_t by) {
  std::vector<Part> all;
  for (const auto& [x, y] : parts) {
    const std::int64_t length = x.shape()[axis];
    all.emplace_back(TROUPE_TRY(x.slice(axis, 0, length - by)), TROUPE_TRY(y.slice(axis, by, length)));
    all.emplace_back(TROUPE_TRY(x.slice(axis, length - by, length)), TROUPE_TRY(y.slice(axis, 0, by)));
  }
  return all;
}

Result<void> add_shift(OpChain& ops, std::string_view call, const Device& device, const AnyArray& x, const AnyArray& y,
                       const std::optional<detail::Axes>& axes, bool is_inverse) {
  for (const auto& [name, array] : {std::pair{"x", &x}, {"y", &y}})
    TROUPE_TRY(DeviceParts::check(device, call, name, *array));
  TROUPE_TRY(op::check_same_types(call, {{"x", x.view()}, {"y", y.view()}}));
  TROUPE_TRY(op::check_same_shapes(call, {{"x", x.view()}, {"y", y.view()}}));
  if (x.element_count() > 0) TROUPE_TRY(op::check_apart(call, {"x", x.view()}, {"y", y.view()}));
  std::vector<Part> parts{{x, y}};
  const detail::Axes counted = TROUPE_TRY(detail::counted_axes(call, "x", x.shape(), axes));
  for (const int axis : counted) {
    const std::int64_t length = x.shape()[axis], half = length / 2;
    if (half > 0) parts = TROUPE_TRY(turned(parts, axis, is_inverse ? length - half : half));
  }
  for (const auto& [from, to] : parts) TROUPE_TRY(ops.copy(from, to));
  return {};
}

Call<void> make_shift(std::string_view call, const Device& device, const AnyArray& x, const AnyArray& y,
                      const std::optional<detail::Axes>& axes, bool is_inverse) {
  OpChain ops(device);
  Result<void> made = add_shift(ops, call, device, x, y, axes, is_inverse);
  return std::move(ops).finish(std::move(made));
}

// ---- convolutions ----

/// Elements of the full convolution.
struct Wanted {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Of a and b with n and m elements. Where b is the longer one, a correlation counts from its other end.
Wanted wanted_of(ConvolveMode mode, std::int64_t n, std::int64_t m, bool is_correlation) {
  const std::int64_t shorter = std::min(n, m), longer = std::max(n, m);
  switch (mode) {
    case ConvolveMode::same: return {is_correlation && m > n ? shorter / 2 : (shorter - 1) / 2, longer};
    case ConvolveMode::valid: return {shorter - 1, longer - shorter + 1};
    default: return {0, n + m - 1};
  }
}

Shape with_last(Shape shape, std::int64_t length) {
  shape[shape.rank() - 1] = length;
  return shape;
}

/// The arrays of one convolution.
class Convolution {
 public:
  Convolution(std::string_view call, const Device& device, const AnyArray& a, const AnyArray& b, const AnyArray& out)
      : call_(call), device_(device), a_(a), b_(b), out_(out) {}

  Result<void> check(ConvolveMode mode, bool is_correlation) {
    for (const auto& [name, array] : {std::pair{"a", &a_}, {"b", &b_}, {"out", &out_}})
      TROUPE_TRY(DeviceParts::check(device_, call_, name, *array));
    const op::NamedView a{"a", a_.view()}, b{"b", b_.view()}, out{"out", out_.view()};
    TROUPE_TRY(op::check_type_is_one_of(call_, a, op::kFourTypes));
    TROUPE_TRY(op::check_same_types(call_, {a, b, out}));
    for (const op::NamedView& each : {a, b})
      if (each.view.shape.rank() == 0 || each.view.shape[each.view.shape.rank() - 1] == 0)
        return op::refuse(call_, std::string(each.name) + " is " + each.view.shape.to_string() +
                                     "; it needs at least one element along its last axis");
    const std::int64_t n = length(a_), m = length(b_);
    if (n > op::kMaxFftLength || m > op::kMaxFftLength || n + m - 1 > op::kMaxFftLength)
      return op::refuse_unsupported(call_, "the result would have more than 2^31 elements along its last axis");
    if (with_last(b_.shape(), n) != a_.shape())
      return op::refuse(call_, "a is " + a_.shape().to_string() + " and b is " + b_.shape().to_string() +
                                   "; they may differ along the last axis only");
    wanted_ = wanted_of(mode, n, m, is_correlation);
    padded_ = op::quick_fft_length(n + m - 1);
    return op::check_shape(call_, out, with_last(a_.shape(), wanted_.count));
  }

  Result<void> add_to(OpChain& ops, bool is_correlation) {
    const AnyArray a = TROUPE_TRY(add_padded(ops, a_));
    const AnyArray b = TROUPE_TRY(is_correlation ? add_turned(ops) : add_padded(ops, b_));
    const AnyArray spectrum = TROUPE_TRY(add_forward(ops, a));
    const AnyArray other = TROUPE_TRY(add_forward(ops, b));
    const op::Scalar one(1.0);
    TROUPE_TRY(ops.add(op::BinaryOp{.function = Binary::mul,
                                    .numbers = 0,
                                    .factors = {one, one},
                                    .in = {spectrum.view(), other.view()},
                                    .out = spectrum.view()},
                       {&spectrum, &other, &spectrum}));
    TROUPE_TRY(
        ops.add(op::FftInverse{.norm = {}, .axes = last_axis(), .x = spectrum.view(), .y = a.view()}, {&spectrum, &a}));
    return ops.copy(TROUPE_TRY(a.slice(a.rank() - 1, wanted_.first, wanted_.first + wanted_.count)), out_);
  }

 private:
  static std::int64_t length(const AnyArray& array) { return array.shape()[array.rank() - 1]; }
  op::FftAxes last_axis() const { return {.count = 1, .first = a_.rank() - 1, .second = 0, .third = 0}; }

  /// Zeros, and where the elements of `like` go.
  Result<std::pair<AnyArray, AnyArray>> add_zeros(OpChain& ops, const AnyArray& like) {
    AnyArray made(like.dtype());
    TROUPE_TRY(DeviceParts::allocate(device_, made, with_last(like.shape(), padded_)));
    TROUPE_TRY(ops.add(op::Fill{.out = made.view(), .value = op::Scalar(0.0)}, {&made}));
    AnyArray place = TROUPE_TRY(made.slice(made.rank() - 1, 0, length(like)));
    return std::pair{std::move(made), std::move(place)};
  }
  Result<AnyArray> add_padded(OpChain& ops, const AnyArray& array) {
    auto [made, place] = TROUPE_TRY(add_zeros(ops, array));
    TROUPE_TRY(ops.copy(array, place));
    return made;
  }
  /// b, backwards and conjugated: its convolution is the correlation.
  Result<AnyArray> add_turned(OpChain& ops) {
    auto [made, place] = TROUPE_TRY(add_zeros(ops, b_));
    const AnyArray backwards = TROUPE_TRY(b_.slice(b_.rank() - 1, length(b_) - 1, -1, -1));
    if (!is_complex(b_.dtype())) {
      TROUPE_TRY(ops.copy(backwards, place));
    } else {
      TROUPE_TRY(ops.add(op::UnaryOp{.function = Unary::conj,
                                     .numbers = 0,
                                     .factors = {op::Scalar(1.0)},
                                     .in = {backwards.view()},
                                     .out = place.view()},
                         {&backwards, &place}));
    }
    return made;
  }
  /// The spectrum, of complex numbers in their place.
  Result<AnyArray> add_forward(OpChain& ops, const AnyArray& x) {
    AnyArray y = x;
    if (!is_complex(x.dtype())) {
      y = AnyArray(x.dtype() == DType::f64 ? DType::c128 : DType::c64);
      TROUPE_TRY(DeviceParts::allocate(device_, y, with_last(x.shape(), op::half_of(padded_))));
    }
    TROUPE_TRY(ops.add(op::FftForward{.norm = {}, .axes = last_axis(), .x = x.view(), .y = y.view()}, {&x, &y}));
    return y;
  }

  std::string_view call_;
  const Device& device_;
  const AnyArray& a_;
  const AnyArray& b_;
  const AnyArray& out_;
  Wanted wanted_;
  std::int64_t padded_ = 1;
};

Call<void> make_convolution(std::string_view call, const Device& device, const AnyArray& a, const AnyArray& b,
                            const AnyArray& out, ConvolveMode mode, bool is_correlation) {
  OpChain ops(device);
  Convolution convolution(call, device, a, b, out);
  Result<void> made = convolution.check(mode, is_correlation);
  if (made) made = convolution.add_to(ops, is_correlation);
  return std::move(ops).finish(std::move(made));
}

}  // namespace

Call<void> Fft::fftshift(const AnyArray& x, const AnyArray& y, detail::Axes axes) const {
  return make_shift("fftshift", device_, x, y, axes, false);
}
Call<void> Fft::fftshift(const AnyArray& x, const AnyArray& y) const {
  return make_shift("fftshift", device_, x, y, {}, false);
}
Call<void> Fft::ifftshift(const AnyArray& x, const AnyArray& y, detail::Axes axes) const {
  return make_shift("ifftshift", device_, x, y, axes, true);
}
Call<void> Fft::ifftshift(const AnyArray& x, const AnyArray& y) const {
  return make_shift("ifftshift", device_, x, y, {}, true);
}

Call<void> Fft::convolve(const AnyArray& a, const AnyArray& b, const AnyArray& out, ConvolveMode mode) const {
  return make_convolution("convolve", device_, a, b, out, mode, false);
}
Call<void> Fft::correlate(const AnyArray& a, const AnyArray& b, const AnyArray& out, ConvolveMode mode) const {
  return make_convolution("correlate", device_, a, b, out, mode, true);
}

}  // namespace troupe::inline v0
