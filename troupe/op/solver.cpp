#include "troupe/op/solver.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {
namespace {

/// The views of one op, looked at one after another; says what the first one is that does not fit.
class Fit {
 public:
  /// `a` is the batch of matrices that all others must fit.
  Fit(std::string_view op, std::string_view name, const View& a)
      : op_(op), first_(name), dtype_(a.dtype), status_(check_type_is_one_of(op, {name, a}, kFourTypes)) {
    if (has_rank(name, a, 3)) {
      batch_ = a.shape[0];
      rows_ = a.shape[1];
      columns_ = a.shape[2];
    }
  }

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  std::int64_t lesser() const noexcept { return std::min(rows_, columns_); }
  const Result<void>& status() const noexcept { return status_; }

  Fit& square(std::string_view name) {
    if (status_ && rows_ != columns_) refuse(name, {rows_, columns_}, "it must be square");
    return *this;
  }
  Fit& matrix(std::string_view name, const View& view, std::int64_t rows, std::int64_t columns) {
    if (!has_type(name, view, dtype_) || !has_rank(name, view, 3) || !has_batch(name, view)) return *this;
    if (view.shape[1] != rows || view.shape[2] != columns)
      refuse(name, {view.shape[1], view.shape[2]}, "it must be " + Shape{rows, columns}.to_string());
    return *this;
  }
  /// Right-hand sides, or the solutions of as many.
  Fit& sides(std::string_view name, const View& view, std::int64_t rows, std::optional<std::int64_t> columns = {}) {
    return matrix(name, view, rows, columns.value_or(view.shape.rank() == 3 ? view.shape[2] : 0));
  }
  Fit& vector(std::string_view name, const View& view, std::int64_t length, DType dtype) {
    if (!has_type(name, view, dtype) || !has_rank(name, view, 2) || !has_batch(name, view)) return *this;
    if (view.shape[1] != length) refuse(name, {view.shape[1]}, "it must be " + Shape{length}.to_string());
    return *this;
  }
  /// One for each matrix.
  Fit& numbers(std::string_view name, const View& view, DType dtype) {
    if (has_type(name, view, dtype) && has_rank(name, view, 1)) (void)has_batch(name, view);
    return *this;
  }
  Fit& verdict(const View& view) {
    numbers("verdict", view, DType::i32);
    if (status_ && view.shape[0] > 1 && view.strides[0] != 1)
      status_ = op::refuse(op_, "verdict has strides " + view.strides.to_string() + "; it must be contiguous");
    return *this;
  }

 private:
  void refuse(std::string_view name, const Shape& shape, const std::string& needed) {
    status_ = op::refuse(op_, std::string(name) + " is " + shape.to_string() + "; " + needed);
  }
  bool has_type(std::string_view name, const View& view, DType dtype) {
    if (status_) status_ = check_type(op_, {name, view}, dtype);
    return status_.has_value();
  }
  bool has_rank(std::string_view name, const View& view, int rank) {
    constexpr std::array kForms{"a vector, one number for each matrix", "a vector, or a batch of vectors",
                                "a matrix, or a batch of matrices"};
    if (status_ && (view.shape.rank() != rank || view.strides.rank() != rank))
      refuse(name, view.shape, "it must be " + std::string(kForms[static_cast<std::size_t>(rank - 1)]));
    return status_.has_value();
  }
  bool has_batch(std::string_view name, const View& view) {
    if (status_ && view.shape[0] != batch_)
      status_ = op::refuse(op_, std::string(name) + " is a batch of " + std::to_string(view.shape[0]) + " and " +
                                    std::string(first_) + " is a batch of " + std::to_string(batch_) +
                                    "; the batches must have the same size");
    return status_.has_value();
  }

  std::string_view op_;
  std::string_view first_;
  DType dtype_;
  std::int64_t batch_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  Result<void> status_;
};

std::int64_t columns_of(const View& view) { return view.shape.rank() == 3 ? view.shape[2] : 0; }

}  // namespace

std::uint64_t cubic_work(const View& matrices) noexcept {
  constexpr double kHuge = 1e18;
  if (matrices.shape.rank() != 3) return 0;
  const auto extent = [&](int i) { return static_cast<double>(matrices.shape[i]); };
  const double work = extent(0) * extent(1) * extent(2) * std::min(extent(1), extent(2));
  return work > 0 ? static_cast<std::uint64_t>(std::min(work, kHuge)) : 0;
}

Result<void> check(const Solve& op) {
  Fit fit(op.matrix_kind == MatrixKind::positive ? "solve_positive" : "solve", "a", op.a);
  fit.square("a").sides("b", op.b, fit.rows()).sides("x", op.x, fit.rows(), columns_of(op.b)).verdict(op.verdict);
  return fit.status();
}

Result<void> check(const Inverse& op) {
  Fit fit("inverse", "a", op.a);
  fit.square("a").matrix("out", op.out, fit.rows(), fit.rows()).verdict(op.verdict);
  return fit.status();
}

Result<void> check(const Determinant& op) {
  Fit fit("determinant", "a", op.a);
  return fit.square("a").numbers("out", op.out, op.a.dtype).verdict(op.verdict).status();
}

Result<void> check(const Lu& op) {
  Fit fit("lu", "a", op.a);
  fit.matrix("lu", op.lu, fit.rows(), fit.columns()).vector("pivots", op.pivots, fit.lesser(), DType::i32);
  return fit.verdict(op.verdict).status();
}

Result<void> check(const LuSolve& op) {
  Fit fit("lu_solve", "lu", op.lu);
  fit.square("lu").vector("pivots", op.pivots, fit.rows(), DType::i32).sides("b", op.b, fit.rows());
  return fit.sides("x", op.x, fit.rows(), columns_of(op.b)).verdict(op.verdict).status();
}

Result<void> check(const Cholesky& op) {
  Fit fit("cholesky", "a", op.a);
  return fit.square("a").matrix("l", op.l, fit.rows(), fit.rows()).verdict(op.verdict).status();
}

Result<void> check(const CholeskySolve& op) {
  Fit fit("cholesky_solve", "l", op.l);
  fit.square("l").sides("b", op.b, fit.rows()).sides("x", op.x, fit.rows(), columns_of(op.b)).verdict(op.verdict);
  return fit.status();
}

Result<void> check(const Qr& op) {
  Fit fit("qr", "a", op.a);
  const bool is_full = columns_of(op.q) == fit.rows();
  const std::int64_t inner = is_full ? fit.rows() : fit.lesser();
  fit.matrix("q", op.q, fit.rows(), inner).matrix("r", op.r, inner, fit.columns());
  return fit.verdict(op.verdict).status();
}

Result<void> check(const LeastSquares& op) {
  Fit fit("least_squares", "a", op.a);
  fit.sides("b", op.b, fit.rows()).sides("x", op.x, fit.columns(), columns_of(op.b)).verdict(op.verdict);
  return fit.status();
}

Result<void> check(const Svd& op) {
  Fit fit("svd", "a", op.a);
  fit.vector("s", op.s, fit.lesser(), detail::real_type(op.a.dtype)).verdict(op.verdict);
  if (!op.wants_vectors()) return fit.status();
  const bool is_thin = columns_of(op.u) == fit.lesser() && op.vt.shape.rank() == 3 && op.vt.shape[1] == fit.lesser();
  fit.matrix("u", op.u, fit.rows(), is_thin ? fit.lesser() : fit.rows());
  return fit.matrix("vt", op.vt, is_thin ? fit.lesser() : fit.columns(), fit.columns()).status();
}

Result<void> check(const Eigh& op) {
  Fit fit("eigh", "a", op.a);
  fit.square("a").vector("w", op.w, fit.rows(), detail::real_type(op.a.dtype)).verdict(op.verdict);
  if (op.is_generalized) fit.matrix("b", op.b, fit.rows(), fit.rows());
  if (op.wants_vectors()) fit.matrix("v", op.v, fit.rows(), fit.rows());
  return fit.status();
}

extern const FamilyOps solver_ops = register_ops("solver", SolverOps{});

}  // namespace troupe::inline v0::op
