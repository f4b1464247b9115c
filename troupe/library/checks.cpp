#include "troupe/library/checks.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::checks {

Unexpected refuse(std::string_view op, std::string_view why) {
  return fail(ErrorKind::invalid_argument, std::string(op) + ": " + std::string(why));
}

Result<void> same_types(std::string_view op, std::initializer_list<const AnyArray*> arrays) {
  const DType first = (*arrays.begin())->dtype();
  for (const AnyArray* array : arrays)
    if (array->dtype() != first)
      return refuse(op, "the types differ: " + std::string(name(first)) + " and " + std::string(name(array->dtype())));
  return {};
}

Result<void> type_is_one_of(std::string_view op, DType dtype, std::initializer_list<DType> allowed) {
  if (std::ranges::find(allowed, dtype) != allowed.end()) return {};
  std::string names;
  for (const DType type : allowed) names += " " + std::string(name(type));
  return fail(ErrorKind::unsupported,
              std::string(op) + " does not take " + std::string(name(dtype)) + "; it takes" + names);
}

Result<void> same_shapes(std::string_view op, std::initializer_list<const AnyArray*> arrays) {
  const Shape& first = (*arrays.begin())->shape();
  for (const AnyArray* array : arrays)
    if (array->shape() != first)
      return refuse(op, "the shapes differ: " + first.to_string() + " and " + array->shape().to_string());
  return {};
}

Result<void> ranks(std::string_view op, int rank, std::initializer_list<const AnyArray*> arrays) {
  for (const AnyArray* array : arrays)
    if (array->rank() != rank)
      return refuse(op,
                    "takes an array of rank " + std::to_string(rank) + " here; this is " + array->shape().to_string());
  return {};
}

Result<void> factor(std::string_view op, Factor factor, DType dtype) {
  if (std::isnan(factor.real) || std::isnan(factor.imaginary)) return refuse(op, "a factor is NaN");
  if (factor.imaginary != 0 && !is_complex(dtype))
    return refuse(op, "a complex factor for arrays of " + std::string(name(dtype)));
  return {};
}

}  // namespace troupe::checks
