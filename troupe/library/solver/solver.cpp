#include "troupe/library/solver/solver.hpp"

#include <algorithm>
#include <vector>

#include "troupe/device/make_call.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/solver.hpp"

namespace troupe::inline v0 {
namespace {

// ---- views as ops want them: everything is a batch ----

op::View with_dimension(const op::View& view, int at) {
  std::vector<std::int64_t> extents(view.shape.begin(), view.shape.end());
  std::vector<std::int64_t> distances(view.strides.begin(), view.strides.end());
  extents.insert(extents.begin() + at, 1);
  distances.insert(distances.begin() + at, 1);
  op::View more = view;
  more.shape = Shape(std::span<const std::int64_t>(extents));
  more.strides = Strides(std::span<const std::int64_t>(distances));
  return more;
}

/// The arrays of one call: the first one decides whether they are batches.
class Form {
 public:
  explicit Form(const AnyArray& first) noexcept : is_batch_(first.rank() == 3) {}

  op::View matrix(const AnyArray& array) const { return of_rank(array, 2); }
  op::View vector(const AnyArray& array) const { return of_rank(array, 1); }
  /// Right-hand sides: a single one may lack its dimension.
  op::View sides(const AnyArray& array) const {
    if (array.rank() == (is_batch_ ? 2 : 1)) {
      const op::View view = with_dimension(array.view(), array.rank());
      return is_batch_ ? view : with_dimension(view, 0);
    }
    return matrix(array);
  }

 private:
  op::View of_rank(const AnyArray& array, int rank) const {
    return !is_batch_ && array.rank() == rank ? with_dimension(array.view(), 0) : array.view();
  }
  bool is_batch_;
};

// ---- verdicts ----

using Words = std::span<const std::int32_t>;

Result<void> judge(std::string_view op, Words words, std::string (*explain)(std::int32_t word)) {
  const auto failed = std::ranges::count_if(words, [](std::int32_t word) { return word != 0; });
  if (failed == 0) return {};
  const auto first = std::ranges::find_if(words, [](std::int32_t word) { return word != 0; });
  std::string what;
  switch (*first) {
    case op::kNotFinite: what = "contains a NaN or an infinity"; break;
    case op::kNotPivots: what = "has pivots that no factorization made"; break;
    case op::kRankDeficient: what = "is rank-deficient: its columns or rows depend on each other"; break;
    case op::kNoConvergence: what = "does not let the iteration converge"; break;
    case op::kSidesNotFinite: what = "has right-hand sides with a NaN or an infinity"; break;
    case op::kOverflow: what = "gives a result that is too large for its type"; break;
    default: what = explain(*first);
  }
  std::string message = std::string(op) + ": ";
  if (words.size() == 1)
    message += "the matrix " + what;
  else
    message += "matrix " + std::to_string(first - words.begin()) + " of the batch " + what + "; " +
               std::to_string(failed) + " of " + std::to_string(words.size()) + " failed";
  return fail(Error(ErrorKind::numerical_error, std::move(message),
                    ErrorOrigin{.library = "solver", .native_code = *first, .op = std::string(op)}));
}

std::string singular(std::int32_t word) {
  return "is singular: pivot " + std::to_string(word) + ", counted from 1, is 0";
}
std::string indefinite(std::int32_t word) {
  return "is not positive definite: its leading minor of order " + std::to_string(word) + " is not positive";
}
std::string no_convergence(std::int32_t word) {
  return "does not let the iteration converge (info " + std::to_string(word) + ")";
}
/// LAPACK's `info` has both: up to n for the iteration, n + i for b.
std::string no_convergence_or_indefinite(std::int32_t word) {
  return "does not let the iteration converge, or b is not positive definite (info " + std::to_string(word) + ")";
}

/// A call with a verdict, which is the last view of all these ops.
template <class Op>
Call<void> make_judged(const Device& device, Op op, const op::View& batch, std::vector<const AnyArray*> arrays,
                       Result<void> (*judge)(Words)) {
  const std::int64_t count = batch.shape.rank() == 3 ? batch.shape[0] : 1;
  Result<HostArray<std::int32_t>> verdict = device.host_array<std::int32_t>({count});
  if (!verdict) return fail(std::move(verdict).error());
  op.verdict = verdict->view();
  arrays.push_back(&*verdict);
  return make_judged_call<void>(device, {}, op, arrays, *verdict, judge);
}

}  // namespace

Call<void> Solver::solve(const AnyArray& a, const AnyArray& b, const AnyArray& x) const {
  const Form form(a);
  const op::Solve op{.matrix_kind = op::MatrixKind::general,
                     .a = form.matrix(a),
                     .b = form.sides(b),
                     .x = form.sides(x),
                     .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &b, &x}, [](Words words) { return judge("solve", words, singular); });
}

Call<void> Solver::solve_positive(const AnyArray& a, const AnyArray& b, const AnyArray& x) const {
  const Form form(a);
  const op::Solve op{.matrix_kind = op::MatrixKind::positive,
                     .a = form.matrix(a),
                     .b = form.sides(b),
                     .x = form.sides(x),
                     .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &b, &x},
                     [](Words words) { return judge("solve_positive", words, indefinite); });
}

Call<void> Solver::inverse(const AnyArray& a, const AnyArray& out) const {
  const Form form(a);
  const op::Inverse op{.a = form.matrix(a), .out = form.matrix(out), .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &out}, [](Words words) { return judge("inverse", words, singular); });
}

namespace {

Result<void> judge_determinant(Words words) { return judge("determinant", words, singular); }

}  // namespace

Call<void> Solver::determinant_into(const AnyArray& a, const AnyArray& out) const {
  if (a.rank() != 2)
    return op::refuse("determinant",
                      "a is " + a.shape().to_string() + "; it must be a matrix; for a batch use determinants");
  const op::Determinant op{.a = Form(a).matrix(a), .out = out.view(), .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &out}, judge_determinant);
}

Call<void> Solver::determinants(const AnyArray& a, const AnyArray& out) const {
  const op::Determinant op{.a = a.view(), .out = out.view(), .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &out}, judge_determinant);
}

Call<void> Solver::lu(const AnyArray& a, const AnyArray& lu, const AnyArray& pivots) const {
  const Form form(a);
  const op::Lu op{.a = form.matrix(a), .lu = form.matrix(lu), .pivots = form.vector(pivots), .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &lu, &pivots}, [](Words words) { return judge("lu", words, singular); });
}

Call<void> Solver::lu_solve(const AnyArray& lu, const AnyArray& pivots, const AnyArray& b, const AnyArray& x) const {
  const Form form(lu);
  const op::LuSolve op{
      .lu = form.matrix(lu), .pivots = form.vector(pivots), .b = form.sides(b), .x = form.sides(x), .verdict = {}};
  return make_judged(device_, op, op.lu, {&lu, &pivots, &b, &x},
                     [](Words words) { return judge("lu_solve", words, singular); });
}

Call<void> Solver::cholesky(const AnyArray& a, const AnyArray& l) const {
  const Form form(a);
  const op::Cholesky op{.a = form.matrix(a), .l = form.matrix(l), .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &l}, [](Words words) { return judge("cholesky", words, indefinite); });
}

Call<void> Solver::cholesky_solve(const AnyArray& l, const AnyArray& b, const AnyArray& x) const {
  const Form form(l);
  const op::CholeskySolve op{.l = form.matrix(l), .b = form.sides(b), .x = form.sides(x), .verdict = {}};
  return make_judged(device_, op, op.l, {&l, &b, &x}, [](Words words) {
    return judge("cholesky_solve", words, [](std::int32_t word) {
      return "is no Cholesky factor: element " + std::to_string(word) +
             " of its diagonal, counted from 1, is not positive";
    });
  });
}

Call<void> Solver::qr(const AnyArray& a, const AnyArray& q, const AnyArray& r) const {
  const Form form(a);
  const op::Qr op{.a = form.matrix(a), .q = form.matrix(q), .r = form.matrix(r), .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &q, &r}, [](Words words) { return judge("qr", words, singular); });
}

Call<void> Solver::least_squares(const AnyArray& a, const AnyArray& b, const AnyArray& x) const {
  const Form form(a);
  const op::LeastSquares op{.a = form.matrix(a), .b = form.sides(b), .x = form.sides(x), .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &b, &x},
                     [](Words words) { return judge("least_squares", words, singular); });
}

namespace {

op::SvdAlgorithm algorithm_of(SvdMethod method) noexcept {
  return method == SvdMethod::jacobi ? op::SvdAlgorithm::jacobi : op::SvdAlgorithm::bidiagonal;
}
Result<void> judge_svd(Words words) { return judge("svd", words, no_convergence); }
Result<void> judge_eigh(Words words) { return judge("eigh", words, no_convergence); }
Result<void> judge_generalized(Words words) { return judge("eigh", words, no_convergence_or_indefinite); }

}  // namespace

Call<void> Solver::svd(const AnyArray& a, const AnyArray& u, const AnyArray& s, const AnyArray& vt,
                       SvdOptions options) const {
  const Form form(a);
  const op::Svd op{.algorithm = algorithm_of(options.method),
                   .spectrum = op::Spectrum::vectors,
                   .a = form.matrix(a),
                   .s = form.vector(s),
                   .u = form.matrix(u),
                   .vt = form.matrix(vt),
                   .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &s, &u, &vt}, judge_svd);
}

Call<void> Solver::singular_values(const AnyArray& a, const AnyArray& s, SvdOptions options) const {
  const Form form(a);
  const op::Svd op{.algorithm = algorithm_of(options.method),
                   .spectrum = op::Spectrum::values,
                   .a = form.matrix(a),
                   .s = form.vector(s),
                   .u = {},
                   .vt = {},
                   .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &s}, judge_svd);
}

Call<void> Solver::eigh(const AnyArray& a, const AnyArray& w, const AnyArray& v) const {
  const Form form(a);
  const op::Eigh op{.is_generalized = false,
                    .spectrum = op::Spectrum::vectors,
                    .a = form.matrix(a),
                    .b = {},
                    .w = form.vector(w),
                    .v = form.matrix(v),
                    .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &w, &v}, judge_eigh);
}

Call<void> Solver::eigh(const AnyArray& a, const AnyArray& b, const AnyArray& w, const AnyArray& v) const {
  const Form form(a);
  const op::Eigh op{.is_generalized = true,
                    .spectrum = op::Spectrum::vectors,
                    .a = form.matrix(a),
                    .b = form.matrix(b),
                    .w = form.vector(w),
                    .v = form.matrix(v),
                    .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &b, &w, &v}, judge_generalized);
}

Call<void> Solver::eigenvalues(const AnyArray& a, const AnyArray& w) const {
  const Form form(a);
  const op::Eigh op{.is_generalized = false,
                    .spectrum = op::Spectrum::values,
                    .a = form.matrix(a),
                    .b = {},
                    .w = form.vector(w),
                    .v = {},
                    .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &w}, judge_eigh);
}

Call<void> Solver::eigenvalues(const AnyArray& a, const AnyArray& b, const AnyArray& w) const {
  const Form form(a);
  const op::Eigh op{.is_generalized = true,
                    .spectrum = op::Spectrum::values,
                    .a = form.matrix(a),
                    .b = form.matrix(b),
                    .w = form.vector(w),
                    .v = {},
                    .verdict = {}};
  return make_judged(device_, op, op.a, {&a, &b, &w}, judge_generalized);
}

Solver Device::solver() const { return Solver(*this); }

}  // namespace troupe::inline v0
