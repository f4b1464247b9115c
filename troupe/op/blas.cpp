#include "troupe/op/blas.hpp"

#include <cmath>

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {
namespace {

/// One of the four types, all of them the same, and factors that suit it.
Result<void> check_four(std::string_view call, std::initializer_list<NamedView> views,
                        std::initializer_list<NamedScalar> factors) {
  TROUPE_TRY(check_same_types(call, views));
  TROUPE_TRY(check_type_is_one_of(call, *views.begin(), kFourTypes));
  for (const NamedScalar& factor : factors) TROUPE_TRY(check_factor(call, factor, views.begin()->view.dtype));
  return {};
}

Result<void> check_one(std::string_view call, const View& out, DType dtype) {
  TROUPE_TRY(check_type(call, {"the result", out}, dtype));
  if (element_count(out) == 1) return {};
  return refuse(call, "the result is " + out.shape.to_string() + "; it must be one element");
}

/// Of integers, a factor is a whole number that they can hold.
Result<void> check_whole(std::string_view call, const Scalar& alpha, const Scalar& beta) {
  for (const NamedScalar& factor : {NamedScalar{"alpha", alpha}, NamedScalar{"beta", beta}}) {
    const double number = factor.scalar.as<double>();
    if (number == std::trunc(number) && std::abs(number) <= 2147483647.0) continue;
    return fail(ErrorKind::invalid_argument, std::string(call) +
                                                 " of i8 needs whole alpha and beta from -2147483647 to 2147483647; " +
                                                 std::string(factor.name) + " is " + number_of(factor.scalar));
  }
  return {};
}

Result<void> check_gemm(std::string_view call, const View& a, const View& b, const View& c, const Scalar& alpha,
                        const Scalar& beta, Compute compute) {
  TROUPE_TRY(check_same_types(call, {{"a", a}, {"b", b}}));
  if (!is_floating(a.dtype) && !is_complex(a.dtype) && a.dtype != DType::i8)
    return refuse_unsupported(
        call, "a is " + std::string(name(a.dtype)) + "; it must be a floating-point type, a complex type or i8");
  const DType result = a.dtype == DType::i8 ? DType::i32 : a.dtype;
  if (c.dtype != result)
    return refuse(call, "c is " + std::string(name(c.dtype)) + "; it must be " + std::string(name(result)) +
                            " when a and b are " + std::string(name(a.dtype)));
  TROUPE_TRY(check_factor(call, {"alpha", alpha}, a.dtype));
  TROUPE_TRY(check_factor(call, {"beta", beta}, a.dtype));
  if (a.dtype == DType::i8) TROUPE_TRY(check_whole(call, alpha, beta));
  if (compute == Compute::tf32 && a.dtype != DType::f32)
    return refuse_unsupported(call, "Compute::tf32 needs matrices of f32; a is " + std::string(name(a.dtype)));
  const int rank = c.shape.rank() == 3 ? 3 : 2;
  TROUPE_TRY(check_ranks(call, rank, {{"a", a}, {"b", b}, {"c", c}}));
  return check_product(call, {"a", a}, {"b", b}, {"c", c});
}

View transposed(const View& matrix) {
  View view = matrix;
  view.shape = Shape{matrix.shape[1], matrix.shape[0]};
  view.strides = Strides{matrix.strides[1], matrix.strides[0]};
  return view;
}

}  // namespace

Result<void> check(const Axpy& op) {
  TROUPE_TRY(check_same_types("axpy", {{"x", op.x}, {"y", op.y}}));
  if (op.x.dtype == DType::boolean)
    return refuse_unsupported("axpy", "x is bool; it must be a floating-point, complex or integer type");
  TROUPE_TRY(check_factor("axpy", {"alpha", op.alpha}, op.x.dtype));
  return check_same_shapes("axpy", {{"x", op.x}, {"y", op.y}});
}

Result<void> check(const Gemm& op) { return check_gemm("gemm", op.a, op.b, op.c, op.alpha, op.beta, op.compute); }

Result<void> check(const Scal& op) { return check_four("scal", {{"x", op.x}}, {{"alpha", op.alpha}}); }

Result<void> check(const Rot& op) {
  const std::string_view call = op.swaps ? "swap" : "rot";
  TROUPE_TRY(check_four(call, {{"x", op.x}, {"y", op.y}}, {{"cosine", op.cosine}, {"sine", op.sine}}));
  if (op.cosine.as<std::complex<double>>().imag() != 0)
    return refuse(call, "cosine is " + number_of(op.cosine) + "; it must be real");
  return check_same_shapes(call, {{"x", op.x}, {"y", op.y}});
}

Result<void> check(const Dot& op) {
  TROUPE_TRY(check_four("dot", {{"x", op.x}, {"y", op.y}}, {}));
  TROUPE_TRY(check_same_shapes("dot", {{"x", op.x}, {"y", op.y}}));
  return check_one("dot", op.out, op.x.dtype);
}

Result<void> check(const Measure& op) {
  const std::string_view call = enum_names<Measure::What>()[static_cast<std::size_t>(op.what)];
  TROUPE_TRY(check_type_is_one_of(call, {"x", op.x}, kFourTypes));
  const bool finds = op.what == Measure::What::iamax || op.what == Measure::What::iamin;
  if (finds && element_count(op.x) == 0)
    return refuse(call, "x is " + op.x.shape.to_string() + "; it must have at least one element");
  return check_one(call, op.out, finds ? DType::i64 : detail::real_type(op.x.dtype));
}

Result<void> check(const Symm& op) {
  constexpr std::string_view call = "symm";
  TROUPE_TRY(check_four(call, {{"a", op.a}, {"b", op.b}, {"c", op.c}}, {{"alpha", op.alpha}, {"beta", op.beta}}));
  TROUPE_TRY(check_square(call, {"a", op.a}));
  TROUPE_TRY(check_ranks(call, 2, {{"b", op.b}, {"c", op.c}}));
  return check_product(call, {"a", op.a}, {"b", op.b}, {"c", op.c});
}

Result<void> check(const Syrk& op) {
  const std::string_view call = op.hermitian ? (op.has_b ? "her2k" : "herk") : (op.has_b ? "syr2k" : "syrk");
  const View& b = op.has_b ? op.b : op.a;
  TROUPE_TRY(check_four(call, {{"a", op.a}, {"b", b}, {"c", op.c}}, {{"alpha", op.alpha}, {"beta", op.beta}}));
  TROUPE_TRY(check_ranks(call, 2, {{"a", op.a}, {"b", b}, {"c", op.c}}));
  TROUPE_TRY(check_same_shapes(call, {{"a", op.a}, {"b", b}}));
  TROUPE_TRY(check_product(call, {"a", op.a}, {"a'", transposed(op.a)}, {"c", op.c}));
  const auto is_real = [](const Scalar& factor) { return factor.as<std::complex<double>>().imag() == 0; };
  if (op.hermitian && !is_real(op.beta))
    return refuse(call, "beta is " + number_of(op.beta) + "; a Hermitian c needs a real beta");
  if (op.hermitian && !op.has_b && !is_real(op.alpha))
    return refuse(call, "alpha is " + number_of(op.alpha) + "; a Hermitian c needs a real alpha");
  return {};
}

Result<void> check(const Triangular& op) {
  const std::string_view call = op.solves ? "trsm" : "trmm";
  const NamedView out{op.solves ? "x" : "c", op.out};
  TROUPE_TRY(check_four(call, {{"a", op.a}, {"b", op.b}, out}, {{"alpha", op.alpha}}));
  TROUPE_TRY(check_square(call, {"a", op.a}));
  TROUPE_TRY(check_ranks(call, 2, {{"b", op.b}}));
  TROUPE_TRY(check_same_shapes(call, {{"b", op.b}, out}));
  if (op.b.shape[0] != op.a.shape[0])
    return refuse(call, "a is " + op.a.shape.to_string() + " and b is " + op.b.shape.to_string() +
                            "; b must have as many rows as a");
  if (!op.solves) return {};
  TROUPE_TRY(check_type(call, {"verdict", op.verdict}, DType::i32));
  return check_shape(call, {"verdict", op.verdict}, Shape{1});
}

Result<void> check(const Geam& op) {
  TROUPE_TRY(check_four("geam", {{"a", op.a}, {"b", op.b}, {"c", op.c}}, {{"alpha", op.alpha}, {"beta", op.beta}}));
  return check_same_shapes("geam", {{"a", op.a}, {"b", op.b}, {"c", op.c}});
}

Result<void> check(const GemmGroup& op) {
  constexpr std::string_view kCall = "gemm_group";
  if (op.matrices.size() % 3 != 0)
    return refuse(
        kCall, "there are " + std::to_string(op.matrices.size()) + " matrices; each product needs three: a, b and c");
  if (op.matrices.size() / 3 > GemmGroup::kMaxProducts)
    return refuse(kCall, "there are " + std::to_string(op.matrices.size() / 3) + " products; it takes at most " +
                             std::to_string(GemmGroup::kMaxProducts));
  const Access access_c = is_zero(op.beta) ? Access::write : Access::update;
  for (std::size_t i = 0; i < op.matrices.size(); i += 3) {
    const View& a = op.matrices[i].view;
    const View& c = op.matrices[i + 2].view;
    TROUPE_TRY(check_gemm(kCall, a, op.matrices[i + 1].view, c, op.alpha, op.beta, op.compute));
    if (a.dtype != op.matrices[0].view.dtype)
      return refuse(kCall, "product 0 is of " + std::string(name(op.matrices[0].view.dtype)) + " and product " +
                               std::to_string(i / 3) + " is of " + std::string(name(a.dtype)) +
                               "; they must have the same type");
    if (c.shape.rank() != 2)
      return refuse(kCall,
                    "c of product " + std::to_string(i / 3) + " is " + c.shape.to_string() + "; it must be a matrix");
    if (op.matrices[i].access != Access::read || op.matrices[i + 1].access != Access::read ||
        op.matrices[i + 2].access != access_c)
      return refuse(kCall, "product " + std::to_string(i / 3) + " must read a and b, and write c");
  }
  return {};
}

std::uint64_t multiplications(const View& a, const View& c) noexcept {
  const int rank = c.shape.rank();
  if (a.shape.rank() != rank || rank < 1) return 0;
  // All of one type: of mixed signs, clang calls a function that only its own runtime library has.
  auto work = static_cast<std::uint64_t>(a.shape[rank - 1]);
  for (const std::int64_t extent : c.shape)
    if (__builtin_mul_overflow(work, static_cast<std::uint64_t>(extent), &work)) return ~std::uint64_t{0};
  return work;
}

std::uint64_t GemmGroup::work() const noexcept {
  std::uint64_t work = 0;
  for (std::size_t i = 0; i + 2 < matrices.size(); i += 3)
    if (__builtin_add_overflow(work, multiplications(matrices[i].view, matrices[i + 2].view), &work))
      return ~std::uint64_t{0};
  return work;
}

extern const FamilyOps blas_ops = register_ops("blas", BlasOps{});

}  // namespace troupe::inline v0::op
