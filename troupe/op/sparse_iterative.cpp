#include "troupe/op/sparse_iterative.hpp"

#include <algorithm>
#include <cmath>

#include "troupe/op/check.hpp"

namespace troupe::inline v0::op {
namespace {

/// That type and shape, and without gaps.
Result<void> check_whole(std::string_view call, const NamedView& view, DType dtype, const Shape& shape) {
  TROUPE_TRY(check_type(call, view, dtype));
  TROUPE_TRY(check_shape(call, view, shape));
  if (view.view.strides.rank() == shape.rank() && is_contiguous(shape, view.view.strides)) return {};
  return refuse(call,
                std::string(view.name) + " has strides " + view.view.strides.to_string() + "; it must be contiguous");
}

Result<void> check_matrix(std::string_view call, const SparseView& matrix) {
  if (matrix.format != SparseFormat::csr)
    return refuse(call, "the matrix is " + std::string(troupe::name(matrix.format)) +
                            "; it must be CSR: convert(matrix, SparseFormat::csr) makes one");
  if (const Result<void> good = check(matrix); !good)
    return fail(good.error().kind(), std::string(call) + ": " + std::string(good.error().message()));
  if (matrix.rows == matrix.columns) return {};
  return refuse(call, "the matrix is " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns) +
                          "; it must be square");
}

/// The arrays that carry an iteration from op to op.
struct Carried {
  const View& state;
  const View& report;
  const View& next_state;
  const View& next_report;
  const View& scratch;
  std::int64_t state_vectors;
  std::int64_t scratch_vectors;
  std::int64_t report_words;
};
template <class Op>
Result<void> check_carried(std::string_view call, const Op& op, const Carried& carried) {
  const DType dtype = op.matrix.values.dtype;
  const std::int64_t n = op.matrix.rows;
  const Shape state{carried.state_vectors, n}, report{carried.report_words};
  if (!op.is_first) {
    TROUPE_TRY(check_whole(call, {"state", carried.state}, dtype, state));
    TROUPE_TRY(check_whole(call, {"report", carried.report}, DType::f64, report));
  } else if (op.starts_at) {
    TROUPE_TRY(check_iterative_vector(call, op.matrix, "x", carried.state));
  }
  TROUPE_TRY(check_whole(call, {"next_state", carried.next_state}, dtype, state));
  TROUPE_TRY(check_whole(call, {"next_report", carried.next_report}, DType::f64, report));
  return check_whole(call, {"scratch", carried.scratch}, dtype, Shape{carried.scratch_vectors, n});
}

/// `least` to `most`, or `invalid_argument`.
Result<void> check_number_of(std::string_view call, std::string_view what, std::int64_t number, std::int64_t least,
                             std::int64_t most) {
  if (number >= least && number <= most) return {};
  return refuse(call, std::string(what) + " is " + std::to_string(number) + "; it must be " + std::to_string(least) +
                          " to " + std::to_string(most));
}

/// How many rounds there is room for in the report, or -1.
std::int64_t room_of(const View& report) noexcept {
  return report.shape.rank() == 1 ? report.shape[0] - kReportWords : -1;
}

template <Method kMethod>
Result<void> check_iterate(const SparseIterate<kMethod>& op) {
  const std::string_view call = name(kMethod);
  TROUPE_TRY(check_iterative(call, op.matrix, op.tolerance));
  const DType dtype = op.matrix.values.dtype;
  const std::int64_t most = kMethod == Method::gmres ? kMaxBasis : kMaxRoundsPerOp;
  const std::int64_t room = room_of(op.next_report);
  TROUPE_TRY(check_number_of(call, "the room of the report, in rounds,", room, 1, most));
  TROUPE_TRY(check_number_of(call, "rounds", op.rounds, 1, room));
  if constexpr (SparseIterate<kMethod>::kSolves) {
    if (op.preconditioning == Preconditioning::jacobi)
      TROUPE_TRY(check_whole(call, {"preconditioner", op.preconditioner}, dtype, {op.matrix.rows}));
    else if (op.preconditioning != Preconditioning::none)
      TROUPE_TRY(check_whole(call, {"preconditioner", op.preconditioner}, dtype, {op.matrix.stored()}));
    TROUPE_TRY(check_iterative_vector(call, op.matrix, "b", op.b));
  }
  return check_carried(call, op,
                       {.state = op.state,
                        .report = op.report,
                        .next_state = op.next_state,
                        .next_report = op.next_report,
                        .scratch = op.scratch,
                        .state_vectors = state_vectors(kMethod),
                        .scratch_vectors = scratch_vectors(kMethod, room),
                        .report_words = kReportWords + room});
}

template <Preconditioning kPreconditioning>
Result<void> check_precondition(const SparsePrecondition<kPreconditioning>& op) {
  const std::string_view call = SparsePrecondition<kPreconditioning>::kName.substr(7);
  TROUPE_TRY(check_matrix(call, op.matrix));
  const std::int64_t numbers = kPreconditioning == Preconditioning::jacobi ? op.matrix.rows : op.matrix.stored();
  TROUPE_TRY(check_whole(call, {"out", op.out}, op.matrix.values.dtype, {numbers}));
  return check_whole(call, {"verdict", op.verdict}, DType::i32, {kSparseVerdictWords});
}

}  // namespace

Result<void> check_iterative(std::string_view call, const SparseView& matrix, double tolerance) {
  TROUPE_TRY(check_matrix(call, matrix));
  TROUPE_TRY(check_finite(call, "tolerance", tolerance));
  if (tolerance > 0) return {};
  return refuse(call, "tolerance is " + number_of(Scalar(tolerance)) + "; it must be above 0");
}

Result<void> check_iterative_vector(std::string_view call, const SparseView& matrix, std::string_view what,
                                    const View& view) {
  TROUPE_TRY(check_type(call, {what, view}, matrix.values.dtype));
  return check_shape(call, {what, view}, {matrix.rows});
}

Result<void> check(const SparseCg& op) { return check_iterate(op); }
Result<void> check(const SparseBicgstab& op) { return check_iterate(op); }
Result<void> check(const SparseGmres& op) { return check_iterate(op); }
Result<void> check(const SparsePower& op) { return check_iterate(op); }

Result<void> check(const SparseLanczos& op) {
  TROUPE_TRY(check_iterative("lanczos", op.matrix, op.tolerance));
  const std::int64_t n = op.matrix.rows;
  if (n < 1) return refuse("lanczos", "the matrix is 0 x 0; it must have a row");
  TROUPE_TRY(check_number_of("lanczos", "basis", op.basis, 1, std::min(n, kMaxBasis)));
  // A basis of all vectors needs none to go on with.
  TROUPE_TRY(
      check_number_of("lanczos", "the number of eigenvalues", op.wanted, 1, op.basis == n ? op.basis : op.basis - 1));
  return check_carried("lanczos", op,
                       {.state = op.state,
                        .report = op.report,
                        .next_state = op.next_state,
                        .next_report = op.next_report,
                        .scratch = op.scratch,
                        .state_vectors = kept_vectors(op.wanted, op.basis) + 1,
                        .scratch_vectors = op.basis + 2,
                        .report_words = lanczos_words(op.wanted, op.basis)});
}

Result<void> check(const SparseJacobi& op) { return check_precondition(op); }
Result<void> check(const SparseIlu0& op) { return check_precondition(op); }
Result<void> check(const SparseIc0& op) { return check_precondition(op); }

}  // namespace troupe::inline v0::op
