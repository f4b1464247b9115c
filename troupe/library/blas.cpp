#include "troupe/library/blas.hpp"

#include "troupe/library/checks.hpp"

namespace troupe {
namespace {

Result<void> check_axpy(Factor alpha, const AnyArray& x, const AnyArray& y) {
  TROUPE_TRY(checks::same_types("axpy", {&x, &y}));
  TROUPE_TRY(checks::factor("axpy", alpha, x.dtype()));
  if (x.dtype() == DType::boolean)
    return fail(ErrorKind::unsupported,
                "axpy has no meaning for bool; it takes floating-point, complex and integer types");
  return checks::same_shapes("axpy", {&x, &y});
}

Result<void> check_gemm(const AnyArray& a, const AnyArray& b, const AnyArray& c, const GemmOptions& options) {
  TROUPE_TRY(checks::same_types("gemm", {&a, &b, &c}));
  TROUPE_TRY(checks::factor("gemm", options.alpha, a.dtype()));
  TROUPE_TRY(checks::factor("gemm", options.beta, a.dtype()));
  if (!is_floating(a.dtype()) && !is_complex(a.dtype()))
    return fail(ErrorKind::unsupported,
                "gemm takes floating-point and complex types, not " + std::string(name(a.dtype())));
  if (a.rank() != 2 || b.rank() != 2 || c.rank() != 2)
    return checks::refuse("gemm", "takes matrices; the shapes are " + a.shape().to_string() + ", " +
                                      b.shape().to_string() + " and " + c.shape().to_string());
  if (a.shape()[1] != b.shape()[0] || c.shape()[0] != a.shape()[0] || c.shape()[1] != b.shape()[1])
    return checks::refuse("gemm", a.shape().to_string() + " times " + b.shape().to_string() + " does not fit into " +
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
