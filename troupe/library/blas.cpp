#include "troupe/library/blas.hpp"

#include <cmath>

namespace troupe {
namespace {

Unexpected refuse(std::string message) { return fail(ErrorKind::invalid_argument, std::move(message)); }

Result<void> check_types(std::string_view op, std::initializer_list<const AnyArray*> arrays) {
  const DType first = (*arrays.begin())->dtype();
  for (const AnyArray* array : arrays)
    if (array->dtype() != first)
      return refuse(std::string(op) + ": the types differ: " + std::string(name(first)) + " and " +
                    std::string(name(array->dtype())));
  return {};
}

Result<void> check_factor(std::string_view op, Factor factor, DType dtype) {
  if (std::isnan(factor.real) || std::isnan(factor.imaginary)) return refuse(std::string(op) + ": a factor is NaN");
  if (factor.imaginary != 0 && !is_complex(dtype))
    return refuse(std::string(op) + ": a complex factor for arrays of " + std::string(name(dtype)));
  return {};
}

Result<void> check_axpy(Factor alpha, const AnyArray& x, const AnyArray& y) {
  TROUPE_TRY(check_types("axpy", {&x, &y}));
  TROUPE_TRY(check_factor("axpy", alpha, x.dtype()));
  if (x.dtype() == DType::boolean)
    return fail(ErrorKind::unsupported,
                "axpy has no meaning for bool; it takes floating-point, complex and integer types");
  if (x.shape() != y.shape())
    return refuse("axpy: the shapes differ: " + x.shape().to_string() + " and " + y.shape().to_string());
  return {};
}

Result<void> check_gemm(const AnyArray& a, const AnyArray& b, const AnyArray& c, const GemmOptions& options) {
  TROUPE_TRY(check_types("gemm", {&a, &b, &c}));
  TROUPE_TRY(check_factor("gemm", options.alpha, a.dtype()));
  TROUPE_TRY(check_factor("gemm", options.beta, a.dtype()));
  if (!is_floating(a.dtype()) && !is_complex(a.dtype()))
    return fail(ErrorKind::unsupported,
                "gemm takes floating-point and complex types, not " + std::string(name(a.dtype())));
  if (a.rank() != 2 || b.rank() != 2 || c.rank() != 2)
    return refuse("gemm takes matrices; the shapes are " + a.shape().to_string() + ", " + b.shape().to_string() +
                  " and " + c.shape().to_string());
  if (a.shape()[1] != b.shape()[0] || c.shape()[0] != a.shape()[0] || c.shape()[1] != b.shape()[1])
    return refuse("gemm: " + a.shape().to_string() + " times " + b.shape().to_string() + " does not fit into " +
                  c.shape().to_string());
  return {};
}

}  // namespace

Call<void> Blas::axpy(Factor alpha, const AnyArray& x, const AnyArray& y) const {
  if (Result<void> good = check_axpy(alpha, x, y); !good) return fail(std::move(good).error());
  return device_.make_call(op::Axpy{.alpha = alpha.as_scalar(), .x = x.view(), .y = y.view()}, {&x, &y});
}

Call<void> Blas::gemm(const AnyArray& a, const AnyArray& b, const AnyArray& c, GemmOptions options) const {
  if (Result<void> good = check_gemm(a, b, c, options); !good) return fail(std::move(good).error());
  return device_.make_call(op::Gemm{.alpha = options.alpha.as_scalar(),
                                    .beta = options.beta.as_scalar(),
                                    .a = a.view(),
                                    .b = b.view(),
                                    .c = c.view()},
                           {&a, &b, &c});
}

Blas Device::blas() const { return Blas(*this); }

}  // namespace troupe
