#include "troupe/op/check.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::inline v0::op {
namespace {

std::string text(std::string_view view) { return std::string(view); }
std::string type_name(const View& view) { return text(troupe::name(view.dtype)); }

std::string kind_of_array(int rank) {
  switch (rank) {
    case 0: return "one element";
    case 1: return "a vector";
    case 2: return "a matrix";
    default: return "an array of rank " + std::to_string(rank);
  }
}

}  // namespace

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
      return refuse(call, "the types differ: " + text(first.name) + " is " + type_name(first.view) + ", " +
                              text(other.name) + " is " + type_name(other.view));
  return {};
}

Result<void> check_type(std::string_view call, const NamedView& view, DType dtype) {
  if (view.view.dtype == dtype) return {};
  return refuse(call, text(view.name) + " is " + type_name(view.view) + "; it must be " + text(troupe::name(dtype)));
}

Result<void> check_type_is_one_of(std::string_view call, DType dtype, std::initializer_list<DType> allowed) {
  if (std::ranges::find(allowed, dtype) != allowed.end()) return {};
  std::string names;
  for (const DType type : allowed) names += " " + text(troupe::name(type));
  return fail(ErrorKind::unsupported,
              text(call) + " does not take " + text(troupe::name(dtype)) + "; it takes" + names);
}

Result<void> check_same_shapes(std::string_view call, std::initializer_list<NamedView> views) {
  const NamedView& first = *views.begin();
  for (const NamedView& other : views)
    if (other.view.shape != first.view.shape)
      return refuse(call, "the shapes differ: " + text(first.name) + " is " + first.view.shape.to_string() + ", " +
                              text(other.name) + " is " + other.view.shape.to_string());
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
  const bool fits = left[rank - 1] == right[rank - 2] && result[rank - 2] == left[rank - 2] &&
                    result[rank - 1] == right[rank - 1] &&
                    (rank == 2 || (left[0] == result[0] && right[0] == result[0]));
  if (fits) return {};
  return refuse(call, text(a.name) + " " + left.to_string() + " times " + text(b.name) + " " + right.to_string() +
                          " does not fit into " + text(c.name) + " " + result.to_string());
}

Result<void> check_factor(std::string_view call, const NamedScalar& factor, DType dtype) {
  const auto number = factor.scalar.as<std::complex<double>>();
  if (std::isnan(number.real()) || std::isnan(number.imag())) return refuse(call, text(factor.name) + " is NaN");
  if (number.imag() != 0 && !is_complex(dtype))
    return refuse(call,
                  text(factor.name) + " is complex; arrays of " + text(troupe::name(dtype)) + " take a real factor");
  return {};
}

Result<void> check_finite(std::string_view call, std::string_view name, double number) {
  if (std::isfinite(number)) return {};
  return refuse(call, text(name) + " is " + (std::isnan(number) ? "NaN" : "infinite") + "; it must be finite");
}

}  // namespace troupe::inline v0::op
