#include "troupe/library/blas.hpp"

#include <cmath>

#include "troupe/library/checks.hpp"

namespace troupe {
namespace {

using checks::kFourTypes;
using checks::refuse;

/// A vector as a matrix of one column.
op::View column(const AnyArray& x) {
  op::View view = x.view();
  view.shape = Shape{view.shape[0], 1};
  view.strides = Strides{view.strides[0], 1};
  return view;
}
op::View row(const AnyArray& x) {
  op::View view = x.view();
  view.shape = Shape{1, view.shape[0]};
  view.strides = Strides{1, view.strides[0]};
  return view;
}
op::View transposed(const op::View& matrix) {
  op::View view = matrix;
  view.shape = Shape{matrix.shape[1], matrix.shape[0]};
  view.strides = Strides{matrix.strides[1], matrix.strides[0]};
  return view;
}
Triangle other(Triangle triangle) noexcept { return triangle == Triangle::lower ? Triangle::upper : Triangle::lower; }

Result<void> check_elements(std::string_view op, std::initializer_list<const AnyArray*> arrays) {
  TROUPE_TRY(checks::same_types(op, arrays));
  TROUPE_TRY(checks::type_is_one_of(op, (*arrays.begin())->dtype(), kFourTypes));
  return checks::same_shapes(op, arrays);
}

Result<void> check_axpy(Factor alpha, const AnyArray& x, const AnyArray& y) {
  TROUPE_TRY(checks::same_types("axpy", {&x, &y}));
  TROUPE_TRY(checks::factor("axpy", alpha, x.dtype()));
  if (x.dtype() == DType::boolean)
    return fail(ErrorKind::unsupported,
                "axpy has no meaning for bool; it takes floating-point, complex and integer types");
  return checks::same_shapes("axpy", {&x, &y});
}

Result<void> check_products(std::string_view op, const op::View& a, const op::View& b, const op::View& c) {
  const int rank = c.shape.rank();
  const bool fits = a.shape[rank - 1] == b.shape[rank - 2] && c.shape[rank - 2] == a.shape[rank - 2] &&
                    c.shape[rank - 1] == b.shape[rank - 1] &&
                    (rank == 2 || (a.shape[0] == c.shape[0] && b.shape[0] == c.shape[0]));
  if (fits) return {};
  return refuse(op,
                a.shape.to_string() + " times " + b.shape.to_string() + " does not fit into " + c.shape.to_string());
}

Result<void> check_gemm_types(std::string_view op, const AnyArray& a, const AnyArray& b, const AnyArray& c,
                              const GemmOptions& options) {
  TROUPE_TRY(checks::same_types(op, {&a, &b}));
  const DType result = a.dtype() == DType::i8 ? DType::i32 : a.dtype();
  if (!is_floating(a.dtype()) && !is_complex(a.dtype()) && a.dtype() != DType::i8)
    return fail(ErrorKind::unsupported, std::string(op) +
                                            " takes floating-point and complex types, and i8 into i32, not " +
                                            std::string(name(a.dtype())));
  if (c.dtype() != result)
    return refuse(op, "the types differ: a product of " + std::string(name(a.dtype())) + " is of " +
                          std::string(name(result)) + ", not " + std::string(name(c.dtype())));
  TROUPE_TRY(checks::factor(op, options.alpha, a.dtype()));
  TROUPE_TRY(checks::factor(op, options.beta, a.dtype()));
  if (a.dtype() == DType::i8)
    for (const Factor& factor : {options.alpha, options.beta})
      if (factor.real != std::trunc(factor.real) || std::abs(factor.real) > 2147483647.0)
        return refuse(op, "the factors of integers are integers");
  if (options.compute == Compute::tf32 && a.dtype() != DType::f32)
    return fail(ErrorKind::unsupported, std::string(op) + ": tf32 is for matrices of f32");
  return {};
}

Result<void> check_gemm(std::string_view op, const AnyArray& a, const AnyArray& b, const AnyArray& c,
                        const GemmOptions& options, int rank = 2) {
  TROUPE_TRY(check_gemm_types(op, a, b, c, options));
  if (a.rank() != rank || b.rank() != rank || c.rank() != rank)
    return refuse(op, "takes matrices; the shapes are " + a.shape().to_string() + ", " + b.shape().to_string() +
                          " and " + c.shape().to_string());
  return check_products(op, a.view(), b.view(), c.view());
}

op::Gemm make_gemm(const op::View& a, const op::View& b, const op::View& c, const GemmOptions& options) {
  return {.alpha = options.alpha.as_scalar(),
          .beta = options.beta.as_scalar(),
          .compute = options.compute,
          .conjugates_a = options.conjugate_a && is_complex(a.dtype),
          .conjugates_b = options.conjugate_b && is_complex(b.dtype),
          .a = a,
          .b = b,
          .c = c};
}

Result<void> check_four(std::string_view op, std::initializer_list<const AnyArray*> arrays,
                        std::initializer_list<Factor> factors) {
  TROUPE_TRY(checks::same_types(op, arrays));
  const DType dtype = (*arrays.begin())->dtype();
  TROUPE_TRY(checks::type_is_one_of(op, dtype, kFourTypes));
  for (const Factor& factor : factors) TROUPE_TRY(checks::factor(op, factor, dtype));
  return {};
}

Result<void> check_square(std::string_view op, const AnyArray& a) {
  TROUPE_TRY(checks::ranks(op, 2, {&a}));
  if (a.shape()[0] == a.shape()[1]) return {};
  return refuse(op, "takes a square matrix here; this is " + a.shape().to_string());
}

op::Symm make_symm(const op::View& a, const op::View& b, const op::View& c, const SymmOptions& options) {
  op::Symm op{.alpha = options.alpha.as_scalar(),
              .beta = options.beta.as_scalar(),
              .triangle = options.triangle,
              .hermitian = options.hermitian && is_complex(a.dtype),
              .a = a,
              .b = b,
              .c = c};
  if (options.side == Side::left) return op;
  // c = b a is c^T = a^T b^T, and the transpose of a matrix has its halves exchanged.
  op.triangle = other(options.triangle);
  op.a = transposed(a);
  op.b = transposed(b);
  op.c = transposed(c);
  return op;
}

/// What the verdict of an op says that divides by a diagonal.
Result<void> judge_diagonal(std::span<const std::int32_t> words) {
  if (words[0] == 0) return {};
  return fail(Error(ErrorKind::numerical_error,
                    "the triangular matrix is singular: row " + std::to_string(words[0] - 1) +
                        " (counted from 0) has a zero on the diagonal",
                    ErrorOrigin{.native_code = words[0]}));
}

}  // namespace

Blas Device::blas() const { return Blas(*this); }

// ---- vectors ----

Call<void> Blas::axpy(Factor alpha, const AnyArray& x, const AnyArray& y) const {
  if (Result<void> good = check_axpy(alpha, x, y); !good) return fail(std::move(good).error());
  return device_.make_call(op::Axpy{.alpha = alpha.as_scalar(), .x = x.view(), .y = y.view()}, {&x, &y});
}

Call<void> Blas::scal(Factor alpha, const AnyArray& x) const {
  if (Result<void> good = check_four("scal", {&x}, {alpha}); !good) return fail(std::move(good).error());
  return device_.make_call(op::Scal{.alpha = alpha.as_scalar(), .x = x.view()}, {&x});
}

Call<void> Blas::swap(const AnyArray& x, const AnyArray& y) const {
  if (Result<void> good = check_elements("swap", {&x, &y}); !good) return fail(std::move(good).error());
  return device_.make_call(
      op::Rot{.swaps = true, .cosine = op::Scalar(0.0), .sine = op::Scalar(1.0), .x = x.view(), .y = y.view()},
      {&x, &y});
}

Call<void> Blas::rot(const AnyArray& x, const AnyArray& y, double cosine, Factor sine) const {
  Result<void> good = check_elements("rot", {&x, &y});
  if (good) good = checks::factor("rot", cosine, x.dtype());
  if (good) good = checks::factor("rot", sine, x.dtype());
  if (!good) return fail(std::move(good).error());
  return device_.make_call(
      op::Rot{.swaps = false, .cosine = op::Scalar(cosine), .sine = sine.as_scalar(), .x = x.view(), .y = y.view()},
      {&x, &y});
}

Result<void> Blas::check_dot(const AnyArray& x, const AnyArray& y) { return check_elements("dot", {&x, &y}); }

Result<void> Blas::check_measure(op::Measure::What what, const AnyArray& x) {
  constexpr std::array<std::string_view, 4> kNames{"nrm2", "asum", "iamax", "iamin"};
  const std::string_view name = kNames[static_cast<std::size_t>(what)];
  TROUPE_TRY(checks::type_is_one_of(name, x.dtype(), kFourTypes));
  const bool needs_one = what == op::Measure::What::iamax || what == op::Measure::What::iamin;
  if (needs_one && x.element_count() == 0) return refuse(name, "there are no elements to choose from");
  return {};
}

// ---- a matrix and vectors ----

Call<void> Blas::gemv(const AnyArray& a, const AnyArray& x, const AnyArray& y, GemmOptions options) const {
  Result<void> good = check_gemm_types("gemv", a, x, y, options);
  if (good) good = checks::ranks("gemv", 2, {&a});
  if (good) good = checks::ranks("gemv", 1, {&x, &y});
  if (good) good = check_products("gemv", a.view(), column(x), column(y));
  if (!good) return fail(std::move(good).error());
  return device_.make_call(make_gemm(a.view(), column(x), column(y), options), {&a, &x, &y});
}

Call<void> Blas::ger(const AnyArray& x, const AnyArray& y, const AnyArray& a, GerOptions options) const {
  Result<void> good = check_four("ger", {&x, &y, &a}, {options.alpha});
  if (good) good = checks::ranks("ger", 2, {&a});
  if (good) good = checks::ranks("ger", 1, {&x, &y});
  if (good) good = check_products("ger", column(x), row(y), a.view());
  if (!good) return fail(std::move(good).error());
  const GemmOptions product{.alpha = options.alpha, .beta = 1.0, .conjugate_b = options.conjugate};
  return device_.make_call(make_gemm(column(x), row(y), a.view(), product), {&x, &y, &a});
}

Call<void> Blas::symv(const AnyArray& a, const AnyArray& x, const AnyArray& y, SymmOptions options) const {
  Result<void> good = check_four("symv", {&a, &x, &y}, {options.alpha, options.beta});
  if (good) good = check_square("symv", a);
  if (good) good = checks::ranks("symv", 1, {&x, &y});
  if (good) good = check_products("symv", a.view(), column(x), column(y));
  if (good && options.side == Side::right) good = refuse("symv", "a vector stands on the right of its matrix");
  if (!good) return fail(std::move(good).error());
  return device_.make_call(make_symm(a.view(), column(x), column(y), options), {&a, &x, &y});
}

Call<void> Blas::trmv(const AnyArray& a, const AnyArray& x, const AnyArray& y, TriangularOptions options) const {
  if (x.rank() != 1) return refuse("trmv", "takes vectors; this is " + x.shape().to_string());
  return triangular(false, a, x, y, options);
}

Call<void> Blas::trsv(const AnyArray& a, const AnyArray& x, const AnyArray& y, TriangularOptions options) const {
  if (x.rank() != 1) return refuse("trsv", "takes vectors; this is " + x.shape().to_string());
  return triangular(true, a, x, y, options);
}

// ---- matrices ----

Call<void> Blas::gemm(const AnyArray& a, const AnyArray& b, const AnyArray& c, GemmOptions options) const {
  const int rank = c.rank() == 3 ? 3 : 2;
  if (Result<void> good = check_gemm("gemm", a, b, c, options, rank); !good) return fail(std::move(good).error());
  return device_.make_call(make_gemm(a.view(), b.view(), c.view(), options), {&a, &b, &c});
}

Call<void> Blas::gemm_group(std::span<const AnyArray> a, std::span<const AnyArray> b, std::span<const AnyArray> c,
                            GemmOptions options) const {
  constexpr std::string_view kName = "gemm_group";
  if (a.size() != b.size() || a.size() != c.size()) return refuse(kName, "as many of each of a, b and c");
  if (a.size() > op::GemmGroup::kMaxProducts)
    return refuse(kName, "takes up to " + std::to_string(op::GemmGroup::kMaxProducts) + " products");
  if (options.conjugate_a || options.conjugate_b)
    return fail(ErrorKind::unsupported, "gemm_group does not conjugate; gemm does");
  op::GemmGroup op{
      .alpha = options.alpha.as_scalar(), .beta = options.beta.as_scalar(), .compute = options.compute, .matrices = {}};
  const op::Access access_c = op::is_zero(op.beta) ? op::Access::write : op::Access::update;
  std::vector<const AnyArray*> arrays;
  for (std::size_t i = 0; i < a.size(); ++i) {
    Result<void> good = check_gemm(kName, a[i], b[i], c[i], options);
    if (good && a[i].dtype() != a[0].dtype()) good = refuse(kName, "all products are of one type");
    if (!good) return fail(std::move(good).error());
    arrays.insert(arrays.end(), {&a[i], &b[i], &c[i]});
    op.matrices.push_back({op::Access::read, a[i].view()});
    op.matrices.push_back({op::Access::read, b[i].view()});
    op.matrices.push_back({access_c, c[i].view()});
  }
  return device_.make_call(op, arrays);
}

Call<void> Blas::symm(const AnyArray& a, const AnyArray& b, const AnyArray& c, SymmOptions options) const {
  Result<void> good = check_four("symm", {&a, &b, &c}, {options.alpha, options.beta});
  if (good) good = check_square("symm", a);
  if (good) good = checks::ranks("symm", 2, {&b, &c});
  if (good)
    good = options.side == Side::left ? check_products("symm", a.view(), b.view(), c.view())
                                      : check_products("symm", b.view(), a.view(), c.view());
  if (!good) return fail(std::move(good).error());
  return device_.make_call(make_symm(a.view(), b.view(), c.view(), options), {&a, &b, &c});
}

Call<void> Blas::rank_k(std::string_view name, const AnyArray& a, const AnyArray* b, const AnyArray& c, bool hermitian,
                        const SyrkOptions& options) const {
  Result<void> good = check_four(name, {&a, b ? b : &a, &c}, {options.alpha, options.beta});
  if (good) good = checks::ranks(name, 2, {&a, b ? b : &a, &c});
  if (good && b) good = checks::same_shapes(name, {&a, b});
  if (good) good = check_products(name, a.view(), transposed(a.view()), c.view());
  if (good && hermitian && (options.beta.imaginary != 0 || (!b && options.alpha.imaginary != 0)))
    good = refuse(name, "a Hermitian result has real factors");
  if (!good) return fail(std::move(good).error());
  const op::Syrk op{.alpha = options.alpha.as_scalar(),
                    .beta = options.beta.as_scalar(),
                    .triangle = options.triangle,
                    .hermitian = hermitian && is_complex(a.dtype()),
                    .has_b = b != nullptr,
                    .a = a.view(),
                    .b = b ? b->view() : op::View{},
                    .c = c.view()};
  if (b) return device_.make_call(op, {&a, b, &c});
  return device_.make_call(op, {&a, &c});
}

Call<void> Blas::syrk(const AnyArray& a, const AnyArray& c, SyrkOptions options) const {
  return rank_k("syrk", a, nullptr, c, false, options);
}
Call<void> Blas::herk(const AnyArray& a, const AnyArray& c, SyrkOptions options) const {
  return rank_k("herk", a, nullptr, c, true, options);
}
Call<void> Blas::syr2k(const AnyArray& a, const AnyArray& b, const AnyArray& c, SyrkOptions options) const {
  return rank_k("syr2k", a, &b, c, false, options);
}
Call<void> Blas::her2k(const AnyArray& a, const AnyArray& b, const AnyArray& c, SyrkOptions options) const {
  return rank_k("her2k", a, &b, c, true, options);
}

Call<void> Blas::triangular(bool solves, const AnyArray& a, const AnyArray& b, const AnyArray& out,
                            const TriangularOptions& options) const {
  const bool vectors = b.rank() == 1;
  const std::string_view name = solves ? (vectors ? "trsv" : "trsm") : (vectors ? "trmv" : "trmm");
  Result<void> good = check_four(name, {&a, &b, &out}, {options.alpha});
  if (good) good = check_square(name, a);
  if (good && !vectors) good = checks::ranks(name, 2, {&b});
  if (good) good = checks::same_shapes(name, {&b, &out});
  if (good && vectors && options.side == Side::right) good = refuse(name, "a vector stands on the right of its matrix");
  if (!good) return fail(std::move(good).error());
  const bool left = options.side == Side::left;
  if (b.shape()[left ? 0 : 1] != a.shape()[0])
    return refuse(name, "a matrix " + a.shape().to_string() + " and " + b.shape().to_string() + " do not fit");
  // x a = b is a^T x^T = b^T, and the transpose of a matrix has its halves exchanged.
  op::Triangular op{.alpha = options.alpha.as_scalar(),
                    .triangle = left ? options.triangle : other(options.triangle),
                    .solves = solves,
                    .unit_diagonal = options.unit_diagonal,
                    .conjugates_a = options.conjugate && is_complex(a.dtype()),
                    .a = left ? a.view() : transposed(a.view()),
                    .b = vectors ? column(b)
                         : left  ? b.view()
                                 : transposed(b.view()),
                    .out = vectors ? column(out)
                           : left  ? out.view()
                                   : transposed(out.view()),
                    .verdict = {}};
  if (!solves) return device_.make_call(op, {&a, &b, &out});
  Result<HostArray<std::int32_t>> verdict = device_.host_array<std::int32_t>({1});
  if (!verdict) return fail(std::move(verdict).error());
  op.verdict = verdict->view();
  const std::array<const AnyArray*, 4> arrays{&a, &b, &out, &*verdict};
  return device_.make_judged_call<void>({}, op, arrays, *verdict, judge_diagonal);
}

Call<void> Blas::trmm(const AnyArray& a, const AnyArray& b, const AnyArray& c, TriangularOptions options) const {
  if (b.rank() != 2) return refuse("trmm", "takes matrices; this is " + b.shape().to_string());
  return triangular(false, a, b, c, options);
}
Call<void> Blas::trsm(const AnyArray& a, const AnyArray& b, const AnyArray& x, TriangularOptions options) const {
  if (b.rank() != 2) return refuse("trsm", "takes matrices; this is " + b.shape().to_string());
  return triangular(true, a, b, x, options);
}

Call<void> Blas::geam(const AnyArray& a, const AnyArray& b, const AnyArray& c, GeamOptions options) const {
  Result<void> good = check_four("geam", {&a, &b, &c}, {options.alpha, options.beta});
  if (good) good = checks::same_shapes("geam", {&a, &b, &c});
  if (!good) return fail(std::move(good).error());
  return device_.make_call(op::Geam{.alpha = options.alpha.as_scalar(),
                                    .beta = options.beta.as_scalar(),
                                    .conjugates_a = options.conjugate_a && is_complex(a.dtype()),
                                    .conjugates_b = options.conjugate_b && is_complex(b.dtype()),
                                    .a = a.view(),
                                    .b = b.view(),
                                    .c = c.view()},
                           {&a, &b, &c});
}

}  // namespace troupe
