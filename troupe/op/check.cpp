#include "troupe/op/check.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "troupe/op/overlap.hpp"

namespace troupe::inline v0::op {
namespace {

std::string text(std::string_view view) { return std::string(view); }
std::string type_name(DType dtype) { return text(troupe::name(dtype)); }
std::string type_name(const View& view) { return type_name(view.dtype); }

std::string kind_of_array(int rank) {
  switch (rank) {
    case 0: return "one element";
    case 1: return "a vector";
    case 2: return "a matrix";
    case 3: return "a batch of matrices, [batch, rows, columns]";
    default: return "an array of " + std::to_string(rank) + " dimensions";
  }
}

/// The fewest digits that give the same number again.
std::string digits_of(double number) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

/// Whether a `T` can be that number.
template <std::integral T>
bool holds(const Scalar& scalar) {
  using Limits = std::numeric_limits<T>;
  return visit(scalar.dtype(), [&]<class From>(std::type_identity<From>) {
    if constexpr (std::integral<From>) {
      const auto number = +scalar.as<From>();  // a bool is an int by that
      return std::cmp_greater_equal(number, +Limits::min()) && std::cmp_less_equal(number, +Limits::max());
    } else {
      const auto number = scalar.as<std::complex<double>>();
      const double beyond = std::ldexp(1.0, Limits::digits);  // one more than the greatest
      return number.imag() == 0 && std::trunc(number.real()) == number.real() && number.real() < beyond &&
             number.real() >= static_cast<double>(Limits::min());
    }
  });
}

}  // namespace

std::string number_of(const Scalar& scalar) {
  const auto number = scalar.as<std::complex<double>>();
  if (number.imag() == 0) return digits_of(number.real());
  return digits_of(number.real()) + (std::signbit(number.imag()) ? "" : "+") + digits_of(number.imag()) + "i";
}

std::string names_of(std::span<const DType> types) {
  std::string names;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i > 0) names += i + 1 == types.size() ? " or " : ", ";
    names += troupe::name(types[i]);
  }
  return names;
}

Unexpected refuse(std::string_view call, const std::string& why) {
  return fail(ErrorKind::invalid_argument, text(call) + ": " + why);
}

Unexpected refuse_unsupported(std::string_view call, const std::string& why) {
  return fail(ErrorKind::unsupported, text(call) + ": " + why);
}

Result<void> check_same_types(std::string_view call, std::initializer_list<NamedView> views) {
  const NamedView& first = *views.begin();
  for (const NamedView& other : views)
    if (other.view.dtype != first.view.dtype)
      return refuse(call, text(first.name) + " is " + type_name(first.view) + " and " + text(other.name) + " is " +
                              type_name(other.view) + "; they must have the same type");
  return {};
}

Result<void> check_type(std::string_view call, const NamedView& view, DType dtype) {
  if (view.view.dtype == dtype) return {};
  return refuse(call, text(view.name) + " is " + type_name(view.view) + "; it must be " + text(troupe::name(dtype)));
}

Result<void> check_type_is_one_of(std::string_view call, const NamedView& view, std::initializer_list<DType> allowed) {
  if (std::ranges::find(allowed, view.view.dtype) != allowed.end()) return {};
  return refuse_unsupported(call,
                            text(view.name) + " is " + type_name(view.view) + "; it must be " + names_of(allowed));
}

Result<void> check_same_shapes(std::string_view call, std::initializer_list<NamedView> views) {
  const NamedView& first = *views.begin();
  for (const NamedView& other : views)
    if (other.view.shape != first.view.shape)
      return refuse(call, text(first.name) + " is " + first.view.shape.to_string() + " and " + text(other.name) +
                              " is " + other.view.shape.to_string() + "; they must have the same shape");
  return {};
}

Result<void> check_shape(std::string_view call, const NamedView& view, const Shape& shape) {
  if (view.view.shape == shape) return {};
  return refuse(call, text(view.name) + " is " + view.view.shape.to_string() + "; it must be " + shape.to_string());
}

Result<void> check_ranks(std::string_view call, int rank, std::initializer_list<NamedView> views) {
  for (const NamedView& view : views)
    if (view.view.shape.rank() != rank)
      return refuse(call,
                    text(view.name) + " is " + view.view.shape.to_string() + "; it must be " + kind_of_array(rank));
  return {};
}

Result<void> check_square(std::string_view call, const NamedView& view) {
  if (Result<void> good = check_ranks(call, 2, {view}); !good) return good;
  if (view.view.shape[0] == view.view.shape[1]) return {};
  return refuse(call, text(view.name) + " is " + view.view.shape.to_string() + "; it must be square");
}

Result<void> check_product(std::string_view call, const NamedView& a, const NamedView& b, const NamedView& c) {
  const Shape& left = a.view.shape;
  const Shape& right = b.view.shape;
  const Shape& result = c.view.shape;
  const int rank = result.rank();
  if (rank == 3 && (left[0] != result[0] || right[0] != result[0]))
    return refuse(call, text(a.name) + ", " + text(b.name) + " and " + text(c.name) + " are batches of " +
                            std::to_string(left[0]) + ", " + std::to_string(right[0]) + " and " +
                            std::to_string(result[0]) + " matrices; the batches must have the same size");
  if (left[rank - 1] != right[rank - 2])
    return refuse(call, text(a.name) + " is " + left.to_string() + " and " + text(b.name) + " is " + right.to_string() +
                            "; " + text(a.name) + " must have as many columns as " + text(b.name) + " has rows");
  Shape product = left;
  product[rank - 1] = right[rank - 1];
  if (result == product) return {};
  return refuse(call, text(c.name) + " is " + result.to_string() + "; " + text(a.name) + " " + left.to_string() +
                          " times " + text(b.name) + " " + right.to_string() + " makes " + product.to_string());
}

Result<void> check_factor(std::string_view call, const NamedScalar& factor, DType dtype) {
  const auto number = factor.scalar.as<std::complex<double>>();
  if (std::isnan(number.real()) || std::isnan(number.imag()))
    return refuse(call, text(factor.name) + " is NaN; it must be a number");
  if (number.imag() != 0 && !is_complex(dtype))
    return refuse(call, text(factor.name) + " is " + number_of(factor.scalar) + "; arrays of " +
                            text(troupe::name(dtype)) + " need a real " + text(factor.name));
  return {};
}

Result<void> check_number(std::string_view call, const NamedScalar& number, DType dtype) {
  TROUPE_TRY(check_factor(call, number, dtype));
  return visit(dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    if constexpr (std::integral<T>) {
      if (holds<T>(number.scalar)) return {};
      const std::string least = std::to_string(+std::numeric_limits<T>::min());
      const std::string greatest = std::to_string(+std::numeric_limits<T>::max());
      return refuse(call, text(number.name) + " is " + number_of(number.scalar) + "; with " + type_name(dtype) +
                              " it must be a whole number from " + least + " to " + greatest);
    }
    return {};
  });
}

Result<void> check_finite(std::string_view call, std::string_view name, double number) {
  if (std::isfinite(number)) return {};
  return refuse(call, text(name) + " is " + (std::isnan(number) ? "NaN" : "infinite") + "; it must be finite");
}

Result<void> check_apart(std::string_view call, const NamedView& one, const NamedView& other) {
  const Overlap found = overlap_of(one.view, other.view);
  if (found == Overlap::none) return {};
  const auto layout = [](const NamedView& view) {
    return std::string(view.name) + " is " + view.view.shape.to_string() + " with strides " +
           view.view.strides.to_string();
  };
  std::string why = std::string(one.name) + " and " + std::string(other.name);
  why += found == Overlap::some ? " overlap"
                                : " lie in one another, and it would take too long to tell whether they share an "
                                  "element (" +
                                      layout(one) + ", " + layout(other) + ")";
  return refuse(call, why + ", and the op would write one of them; use another array");
}

}  // namespace troupe::inline v0::op
