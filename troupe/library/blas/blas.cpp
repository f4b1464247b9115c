#include "troupe/library/blas/blas.hpp"

#include "troupe/device/make_call.hpp"
#include "troupe/op/blas.hpp"
#include "troupe/op/check.hpp"

namespace troupe::inline v0 {
namespace {

using op::refuse;

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

/// An array under the name that the call gives it.
struct NamedArray {
  std::string_view name;
  const AnyArray& array;
};

Result<void> check_rank(std::string_view call, int rank, const NamedArray& array) {
  if (!array.array)
    return refuse(call, std::string(array.name) + " is an empty handle: default-constructed or moved from");
  return op::check_ranks(call, rank, {{array.name, array.array.view()}});
}

/// Checks that vectors are vectors and matrices are matrices, in the words of the call; the op's check does the rest.
Result<void> check_ranks(std::string_view call, std::initializer_list<NamedArray> vectors,
                         std::initializer_list<NamedArray> matrices) {
  for (const NamedArray& vector : vectors) TROUPE_TRY(check_rank(call, 1, vector));
  for (const NamedArray& matrix : matrices) TROUPE_TRY(check_rank(call, 2, matrix));
  return {};
}

/// A vector is multiplied from the left only.
Unexpected refuse_right(std::string_view call) {
  return refuse(call, "options.side is Side::right; a vector needs Side::left, with the matrix on its left");
}

/// Checks that a x fits into y.
Result<void> check_gemv(std::string_view call, const AnyArray& a, const AnyArray& x, const AnyArray& y) {
  TROUPE_TRY(check_ranks(call, {{"x", x}, {"y", y}}, {{"a", a}}));
  if (a.shape()[1] == x.shape()[0] && a.shape()[0] == y.shape()[0]) return {};
  return refuse(call, "a is " + a.shape().to_string() + ", x is " + x.shape().to_string() + " and y is " +
                          y.shape().to_string() + "; x must be " + Shape{a.shape()[1]}.to_string() + " and y must be " +
                          Shape{a.shape()[0]}.to_string());
}

op::Gemm make_gemm(const op::View& a, const op::View& b, const op::View& c, const GemmOptions& options) {
  return {.alpha = op::Scalar(options.alpha),
          .beta = op::Scalar(options.beta),
          .compute = options.compute,
          .conjugates_a = options.conjugate_a && is_complex(a.dtype),
          .conjugates_b = options.conjugate_b && is_complex(b.dtype),
          .a = a,
          .b = b,
          .c = c};
}

op::Symm make_symm(const op::View& a, const op::View& b, const op::View& c, const SymmOptions& options) {
  op::Symm op{.alpha = op::Scalar(options.alpha),
              .beta = op::Scalar(options.beta),
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

/// What the verdict of an op that divides by a diagonal means.
Result<void> judge_diagonal(std::span<const std::int32_t> words) {
  if (words[0] == 0) return {};
  return fail(Error(ErrorKind::numerical_error,
                    "the triangular matrix is singular: the diagonal element of row " + std::to_string(words[0] - 1) +
                        ", counted from 0, is zero",
                    ErrorOrigin{.native_code = words[0]}));
}

}  // namespace

Blas Device::blas() const { return Blas(*this); }

// ---- vectors ----

Call<void> Blas::axpy(detail::Factor alpha, const AnyArray& x, const AnyArray& y) const {
  return make_call(device_, op::Axpy{.alpha = op::Scalar(alpha), .x = x.view(), .y = y.view()}, {&x, &y});
}

Call<void> Blas::scal(detail::Factor alpha, const AnyArray& x) const {
  return make_call(device_, op::Scal{.alpha = op::Scalar(alpha), .x = x.view()}, {&x});
}

Call<void> Blas::swap(const AnyArray& x, const AnyArray& y) const {
  return make_call(
      device_, op::Rot{.swaps = true, .cosine = op::Scalar(0.0), .sine = op::Scalar(1.0), .x = x.view(), .y = y.view()},
      {&x, &y});
}

Call<void> Blas::rot(const AnyArray& x, const AnyArray& y, double cosine, detail::Factor sine) const {
  return make_call(
      device_,
      op::Rot{.swaps = false, .cosine = op::Scalar(cosine), .sine = op::Scalar(sine), .x = x.view(), .y = y.view()},
      {&x, &y});
}

Call<void> Blas::dot_into(const AnyArray& x, const AnyArray& y, const AnyArray& out, const DotOptions& options) const {
  const op::Dot op{.conjugates = options.conjugate, .x = x.view(), .y = y.view(), .out = out.view()};
  return make_call(device_, op, {&x, &y, &out});
}

Call<void> Blas::measure_into(Measured what, const AnyArray& x, const AnyArray& out) const {
  static_assert(static_cast<int>(Measured::iamin) == static_cast<int>(op::Measure::What::kLast));
  const op::Measure op{.what = static_cast<op::Measure::What>(what), .x = x.view(), .out = out.view()};
  return make_call(device_, op, {&x, &out});
}

// ---- a matrix and vectors ----

Call<void> Blas::gemv(const AnyArray& a, const AnyArray& x, const AnyArray& y, GemmOptions options) const {
  if (Result<void> good = check_gemv("gemv", a, x, y); !good) return fail(std::move(good).error());
  return make_call(device_, make_gemm(a.view(), column(x), column(y), options), {&a, &x, &y});
}

Call<void> Blas::ger(const AnyArray& x, const AnyArray& y, const AnyArray& a, GerOptions options) const {
  Result<void> good = check_ranks("ger", {{"x", x}, {"y", y}}, {{"a", a}});
  if (good) good = op::check_type_is_one_of("ger", {"a", a.view()}, op::kFourTypes);
  if (good) good = op::check_shape("ger", {"a", a.view()}, Shape{x.shape()[0], y.shape()[0]});
  if (!good) return fail(std::move(good).error());
  const GemmOptions product{.alpha = options.alpha, .beta = 1.0, .conjugate_b = options.conjugate};
  return make_call(device_, make_gemm(column(x), row(y), a.view(), product), {&x, &y, &a});
}

Call<void> Blas::symv(const AnyArray& a, const AnyArray& x, const AnyArray& y, SymmOptions options) const {
  Result<void> good = check_rank("symv", 2, {"a", a});
  if (good) good = op::check_square("symv", {"a", a.view()});
  if (good) good = check_gemv("symv", a, x, y);
  if (good && options.side == Side::right) good = refuse_right("symv");
  if (!good) return fail(std::move(good).error());
  return make_call(device_, make_symm(a.view(), column(x), column(y), options), {&a, &x, &y});
}

Call<void> Blas::trmv(const AnyArray& a, const AnyArray& x, const AnyArray& y, TriangularOptions options) const {
  if (Result<void> good = check_rank("trmv", 1, {"x", x}); !good) return fail(std::move(good).error());
  return triangular(false, a, x, y, options);
}

Call<void> Blas::trsv(const AnyArray& a, const AnyArray& x, const AnyArray& y, TriangularOptions options) const {
  if (Result<void> good = check_rank("trsv", 1, {"x", x}); !good) return fail(std::move(good).error());
  return triangular(true, a, x, y, options);
}

// ---- matrices ----

Call<void> Blas::gemm(const AnyArray& a, const AnyArray& b, const AnyArray& c, GemmOptions options) const {
  return make_call(device_, make_gemm(a.view(), b.view(), c.view(), options), {&a, &b, &c});
}

Call<void> Blas::gemm_group(std::span<const AnyArray> a, std::span<const AnyArray> b, std::span<const AnyArray> c,
                            GemmOptions options) const {
  constexpr std::string_view kName = "gemm_group";
  if (a.size() != b.size() || a.size() != c.size())
    return refuse(kName, "a, b and c have " + std::to_string(a.size()) + ", " + std::to_string(b.size()) + " and " +
                             std::to_string(c.size()) + " matrices; they must have the same number");
  if (a.size() > op::GemmGroup::kMaxProducts)
    return refuse(kName, "there are " + std::to_string(a.size()) + " products; it takes at most " +
                             std::to_string(op::GemmGroup::kMaxProducts));
  if (options.conjugate_a || options.conjugate_b)
    return op::refuse_unsupported(kName, "conjugate_a or conjugate_b is set, and it cannot conjugate; use gemm");
  op::GemmGroup op{
      .alpha = op::Scalar(options.alpha), .beta = op::Scalar(options.beta), .compute = options.compute, .matrices = {}};
  const op::Access access_c = op::is_zero(op.beta) ? op::Access::write : op::Access::update;
  std::vector<const AnyArray*> arrays;
  for (std::size_t i = 0; i < a.size(); ++i) {
    arrays.insert(arrays.end(), {&a[i], &b[i], &c[i]});
    op.matrices.push_back({op::Access::read, a[i].view()});
    op.matrices.push_back({op::Access::read, b[i].view()});
    op.matrices.push_back({access_c, c[i].view()});
  }
  return make_call(device_, op, arrays);
}

Call<void> Blas::symm(const AnyArray& a, const AnyArray& b, const AnyArray& c, SymmOptions options) const {
  Result<void> good = check_ranks("symm", {}, {{"a", a}, {"b", b}, {"c", c}});
  if (!good) return fail(std::move(good).error());
  return make_call(device_, make_symm(a.view(), b.view(), c.view(), options), {&a, &b, &c});
}

Call<void> Blas::rank_k(const AnyArray& a, const AnyArray* b, const AnyArray& c, bool hermitian,
                        const SyrkOptions& options) const {
  const op::Syrk op{.alpha = op::Scalar(options.alpha),
                    .beta = op::Scalar(options.beta),
                    .triangle = options.triangle,
                    .hermitian = hermitian && is_complex(a.dtype()),
                    .has_b = b != nullptr,
                    .a = a.view(),
                    .b = b ? b->view() : op::View{},
                    .c = c.view()};
  if (b) return make_call(device_, op, {&a, b, &c});
  return make_call(device_, op, {&a, &c});
}

Call<void> Blas::syrk(const AnyArray& a, const AnyArray& c, SyrkOptions options) const {
  return rank_k(a, nullptr, c, false, options);
}
Call<void> Blas::herk(const AnyArray& a, const AnyArray& c, SyrkOptions options) const {
  return rank_k(a, nullptr, c, true, options);
}
Call<void> Blas::syr2k(const AnyArray& a, const AnyArray& b, const AnyArray& c, SyrkOptions options) const {
  return rank_k(a, &b, c, false, options);
}
Call<void> Blas::her2k(const AnyArray& a, const AnyArray& b, const AnyArray& c, SyrkOptions options) const {
  return rank_k(a, &b, c, true, options);
}

Call<void> Blas::triangular(bool solves, const AnyArray& a, const AnyArray& b, const AnyArray& out,
                            const TriangularOptions& options) const {
  const bool vectors = b.rank() == 1;
  const std::string_view name = solves ? (vectors ? "trsv" : "trsm") : (vectors ? "trmv" : "trmm");
  Result<void> good = check_rank(name, 2, {"a", a});
  if (good) good = check_rank(name, vectors ? 1 : 2, {vectors ? "x" : "b", b});
  if (good) good = check_rank(name, vectors ? 1 : 2, {vectors ? "y" : (solves ? "x" : "c"), out});
  if (good && vectors && options.side == Side::right) good = refuse_right(name);
  if (!good) return fail(std::move(good).error());
  const bool left = options.side == Side::left;
  // x a = b is a^T x^T = b^T, and the transpose of a matrix has its halves exchanged.
  op::Triangular op{.alpha = op::Scalar(options.alpha),
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
  if (!solves) return make_call(device_, op, {&a, &b, &out});
  Result<HostArray<std::int32_t>> verdict = device_.host_array<std::int32_t>({1});
  if (!verdict) return fail(std::move(verdict).error());
  op.verdict = verdict->view();
  const std::array<const AnyArray*, 4> arrays{&a, &b, &out, &*verdict};
  return make_judged_call<void>(device_, {}, op, arrays, *verdict, judge_diagonal);
}

Call<void> Blas::trmm(const AnyArray& a, const AnyArray& b, const AnyArray& c, TriangularOptions options) const {
  if (Result<void> good = check_rank("trmm", 2, {"b", b}); !good) return fail(std::move(good).error());
  return triangular(false, a, b, c, options);
}
Call<void> Blas::trsm(const AnyArray& a, const AnyArray& b, const AnyArray& x, TriangularOptions options) const {
  if (Result<void> good = check_rank("trsm", 2, {"b", b}); !good) return fail(std::move(good).error());
  return triangular(true, a, b, x, options);
}

Call<void> Blas::geam(const AnyArray& a, const AnyArray& b, const AnyArray& c, GeamOptions options) const {
  return make_call(device_,
                   op::Geam{.alpha = op::Scalar(options.alpha),
                            .beta = op::Scalar(options.beta),
                            .conjugates_a = options.conjugate_a && is_complex(a.dtype()),
                            .conjugates_b = options.conjugate_b && is_complex(b.dtype()),
                            .a = a.view(),
                            .b = b.view(),
                            .c = c.view()},
                   {&a, &b, &c});
}

}  // namespace troupe::inline v0
