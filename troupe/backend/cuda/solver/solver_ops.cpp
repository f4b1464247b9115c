#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/solver/solver_ops.hpp"

#include <cstdlib>

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/backend/cuda/solver/gpu_solver.hpp"
#include "troupe/backend/cuda/solver/solver_kernels.hpp"
#include "troupe/backend/four_types.hpp"

namespace troupe::cuda {
namespace {

/// Calls `f(solver)` with the one of the batch's type; not for a batch without matrices.
template <class F>
Result<void> with_solver(const op::View& batch, const LaneTools& on, F&& f) {
  if (batch.shape[0] == 0) return {};
  return backend::visit_four("a solver", batch.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    return f(TROUPE_TRY(GpuSolver<T>::make(on)));
  });
}

template <class T>
T element_of(const GpuSolver<T>&);

/// Not of matrices that `failed` knows of.
template <class T>
Result<void> check_diagonal(const GpuPacked<T>& a, bool positive, int* verdict, const int* failed = nullptr) {
  return launch_solver_kernel(a.on(), SolverKernel::check_diagonal, dtype_of<T>, a.batch_ll() * a.rows_ll(),
                              static_cast<const T*>(a.data()), a.rows_ll(), a.batch_ll(), static_cast<int>(positive),
                              failed, verdict);
}

/// What was given, before it is computed with.
template <class T>
Result<void> check_matrix(const GpuPacked<T>& a, const GpuVerdict& verdict, bool lower = false) {
  return a.find_not_finite(lower, op::kNotFinite, verdict.own_words());
}
template <class T>
Result<void> check_sides(const GpuPacked<T>& b, const GpuVerdict& verdict) {
  return b.find_not_finite(false, op::kSidesNotFinite, verdict.own_words());
}
/// What came out of finite numbers, factors and solutions: an infinity in a factor may leave a solution that is finite,
/// and wrong. Of a matrix that the library failed they may be anything.
template <class T>
Result<void> check_result(const GpuPacked<T>& x, const GpuVerdict& verdict) {
  return x.find_not_finite(false, op::kOverflow, verdict.own_words(), verdict.library_words());
}

op::View transposed(const op::View& batch) {
  op::View turned = batch;
  std::swap(turned.shape[1], turned.shape[2]);
  std::swap(turned.strides[1], turned.strides[2]);
  return turned;
}

bool lies_in_rows(const op::View& batch) { return std::abs(batch.strides[2]) < std::abs(batch.strides[1]); }

/// Pivots as the library has them, to those that begin at 0.
Result<void> give_pivots(const LaneTools& on, const GpuPivots& pivots, const GpuPacked<std::int32_t>& from_zero) {
  return launch_solver_kernel(on, SolverKernel::give_pivots, {}, from_zero.count(),
                              static_cast<const long long*>(pivots.wide()), static_cast<const int*>(pivots.narrow()),
                              static_cast<long long>(from_zero.count()), from_zero.data());
}
/// The other way; one that is no row from its own downwards is its own, and the verdict says so.
template <class T>
Result<void> take_pivots(const GpuPacked<T>& lu, const GpuPacked<std::int32_t>& from_zero, const GpuPivots& pivots,
                         const GpuVerdict& verdict) {
  return launch_solver_kernel(lu.on(), SolverKernel::take_pivots, {}, from_zero.count(),
                              static_cast<const int*>(from_zero.data()), lu.rows_ll(), lu.batch_ll(), pivots.wide(),
                              pivots.narrow(), verdict.own_words());
}

/// Of a matrix that is singular, pivots have been seen that nobody had written. What is solved with them is not given
/// out, but it must not take the GPU somewhere else.
template <class T>
Result<void> keep_in_range(const GpuPacked<T>& lu, const GpuPivots& pivots) {
  const GpuVerdict nobodys = TROUPE_TRY(GpuVerdict::make(lu.on(), lu.batch()));
  const auto from_zero = TROUPE_TRY(GpuPacked<std::int32_t>::make(lu.on(), lu.batch(), lu.rows(), 1));
  TROUPE_TRY(give_pivots(lu.on(), pivots, from_zero));
  return take_pivots(lu, from_zero, pivots, nobodys);
}

}  // namespace

Result<void> run_op(const op::Solve& op, const LaneTools& on) {
  return with_solver(op.a, on, [&](const auto& solver) -> Result<void> {
    using T = decltype(element_of(solver));
    const GpuVerdict verdict = TROUPE_TRY(GpuVerdict::make(on, op.a.shape[0]));
    const auto a = TROUPE_TRY(GpuPacked<T>::from(on, op.a));
    const auto b = TROUPE_TRY(GpuPacked<T>::from(on, op.b));
    const bool is_positive = op.matrix_kind == op::MatrixKind::positive;
    TROUPE_TRY(check_matrix(a, verdict, is_positive));
    TROUPE_TRY(check_sides(b, verdict));
    if (a.count() > 0 && is_positive) {
      TROUPE_TRY(solver.cholesky(a, verdict.library_words()));
      TROUPE_TRY(check_diagonal(a, true, verdict.own_words(), verdict.library_words()));
      TROUPE_TRY(solver.cholesky_solve(a, b, verdict.ignored_word()));
    } else if (a.count() > 0) {
      const GpuPivots pivots = TROUPE_TRY(solver.pivots_for(a));
      TROUPE_TRY(solver.lu(a, pivots, verdict.library_words()));
      TROUPE_TRY(check_result(a, verdict));
      TROUPE_TRY(keep_in_range(a, pivots));
      TROUPE_TRY(solver.lu_solve(a, pivots, b, verdict.ignored_word()));
    }
    TROUPE_TRY(check_result(b, verdict));
    TROUPE_TRY(b.give(op.x));
    return verdict.give(op.verdict);
  });
}

Result<void> run_op(const op::Inverse& op, const LaneTools& on) {
  return with_solver(op.a, on, [&](const auto& solver) -> Result<void> {
    using T = decltype(element_of(solver));
    const GpuVerdict verdict = TROUPE_TRY(GpuVerdict::make(on, op.a.shape[0]));
    const auto a = TROUPE_TRY(GpuPacked<T>::from(on, op.a));
    if (a.count() == 0) return verdict.give(op.verdict);
    const auto out = TROUPE_TRY(GpuPacked<T>::make(on, a.batch(), a.rows(), a.rows()));
    TROUPE_TRY(out.make_identity());
    TROUPE_TRY(check_matrix(a, verdict));
    const GpuPivots pivots = TROUPE_TRY(solver.pivots_for(a));
    TROUPE_TRY(solver.lu(a, pivots, verdict.library_words()));
    TROUPE_TRY(check_result(a, verdict));
    TROUPE_TRY(keep_in_range(a, pivots));
    TROUPE_TRY(solver.lu_solve(a, pivots, out, verdict.ignored_word()));
    TROUPE_TRY(check_result(out, verdict));
    TROUPE_TRY(out.give(op.out));
    return verdict.give(op.verdict);
  });
}

Result<void> run_op(const op::Determinant& op, const LaneTools& on) {
  return with_solver(op.a, on, [&](const auto& solver) -> Result<void> {
    using T = decltype(element_of(solver));
    const GpuVerdict verdict = TROUPE_TRY(GpuVerdict::make(on, op.a.shape[0]));
    const auto a = TROUPE_TRY(GpuPacked<T>::from(on, op.a));
    const auto out = TROUPE_TRY(GpuPacked<T>::make(on, a.batch(), 1, 1));
    const GpuPivots pivots = TROUPE_TRY(solver.pivots_for(a));
    const GpuVerdict of_lu = TROUPE_TRY(GpuVerdict::make(on, op.a.shape[0]));  // a singular matrix has a determinant
    TROUPE_TRY(check_matrix(a, verdict));
    if (a.count() > 0) TROUPE_TRY(solver.lu(a, pivots, of_lu.library_words()));
    constexpr long long kThreadsForEach = 32;
    TROUPE_TRY(launch_solver_kernel(
        on, SolverKernel::determinant, dtype_of<T>, kThreadsForEach * a.batch_ll(), static_cast<const T*>(a.data()),
        a.rows_ll(), a.batch_ll(), static_cast<const long long*>(pivots.wide()),
        static_cast<const int*>(pivots.narrow()), static_cast<const int*>(of_lu.library_words()), out.data()));
    TROUPE_TRY(check_result(out, verdict));
    TROUPE_TRY(out.give_vectors(op.out));
    return verdict.give(op.verdict);
  });
}

Result<void> run_op(const op::Lu& op, const LaneTools& on) {
  return with_solver(op.a, on, [&](const auto& solver) -> Result<void> {
    using T = decltype(element_of(solver));
    const GpuVerdict verdict = TROUPE_TRY(GpuVerdict::make(on, op.a.shape[0]));
    const auto lu = TROUPE_TRY(GpuPacked<T>::make_for(on, op.lu));
    TROUPE_TRY(lu.take(op.a));
    if (lu.count() == 0) return verdict.give(op.verdict);
    const GpuPivots pivots = TROUPE_TRY(solver.pivots_for(lu));
    TROUPE_TRY(check_matrix(lu, verdict));
    TROUPE_TRY(solver.lu(lu, pivots, verdict.library_words()));
    TROUPE_TRY(check_result(lu, verdict));
    const auto from_zero = TROUPE_TRY(GpuPacked<std::int32_t>::make(on, lu.batch(), solver.pivots_of(lu), 1));
    TROUPE_TRY(give_pivots(on, pivots, from_zero));
    TROUPE_TRY(from_zero.give_vectors(op.pivots));
    TROUPE_TRY(lu.give(op.lu));
    return verdict.give(op.verdict);
  });
}

Result<void> run_op(const op::LuSolve& op, const LaneTools& on) {
  return with_solver(op.lu, on, [&](const auto& solver) -> Result<void> {
    using T = decltype(element_of(solver));
    const GpuVerdict verdict = TROUPE_TRY(GpuVerdict::make(on, op.lu.shape[0]));
    const auto lu = TROUPE_TRY(GpuPacked<T>::from(on, op.lu));
    if (lu.count() == 0) return verdict.give(op.verdict);
    const auto b = TROUPE_TRY(GpuPacked<T>::from(on, op.b));
    const auto from_zero = TROUPE_TRY(GpuPacked<std::int32_t>::make(on, lu.batch(), lu.rows(), 1));
    TROUPE_TRY(from_zero.take_vectors(op.pivots));
    const GpuPivots pivots = TROUPE_TRY(solver.pivots_for(lu));
    TROUPE_TRY(take_pivots(lu, from_zero, pivots, verdict));
    TROUPE_TRY(check_matrix(lu, verdict));
    TROUPE_TRY(check_diagonal(lu, false, verdict.own_words()));
    TROUPE_TRY(check_sides(b, verdict));
    TROUPE_TRY(solver.lu_solve(lu, pivots, b, verdict.ignored_word()));
    TROUPE_TRY(check_result(b, verdict));
    TROUPE_TRY(b.give(op.x));
    return verdict.give(op.verdict);
  });
}

Result<void> run_op(const op::Cholesky& op, const LaneTools& on) {
  return with_solver(op.a, on, [&](const auto& solver) -> Result<void> {
    using T = decltype(element_of(solver));
    const GpuVerdict verdict = TROUPE_TRY(GpuVerdict::make(on, op.a.shape[0]));
    // Rows are turned for it, though the upper triangle of a transpose would do: for that cuSOLVER takes 2.7 times as
    // long (4096 x 4096 on an H200).
    const auto l = TROUPE_TRY(GpuPacked<T>::make_for(on, op.l));
    TROUPE_TRY(l.take_triangle(true, op.a));
    if (l.count() == 0) return verdict.give(op.verdict);
    TROUPE_TRY(check_matrix(l, verdict, true));
    TROUPE_TRY(solver.cholesky(l, verdict.library_words()));
    TROUPE_TRY(check_diagonal(l, true, verdict.own_words(), verdict.library_words()));
    TROUPE_TRY(verdict.join());
    if (solver.is_batched(l.batch(), l.rows())) {  // what was zero is not any more
      TROUPE_TRY(l.give_triangle(true, op.l, verdict.own_words()));
    } else {
      TROUPE_TRY(l.fail_matrices(verdict.own_words()));
      TROUPE_TRY(l.give(op.l));
    }
    return verdict.give(op.verdict);
  });
}

Result<void> run_op(const op::CholeskySolve& op, const LaneTools& on) {
  return with_solver(op.l, on, [&](const auto& solver) -> Result<void> {
    using T = decltype(element_of(solver));
    const GpuVerdict verdict = TROUPE_TRY(GpuVerdict::make(on, op.l.shape[0]));
    const auto l = TROUPE_TRY(GpuPacked<T>::from(on, op.l));
    const auto b = TROUPE_TRY(GpuPacked<T>::from(on, op.b));
    TROUPE_TRY(check_matrix(l, verdict, true));
    TROUPE_TRY(check_diagonal(l, true, verdict.own_words()));
    TROUPE_TRY(check_sides(b, verdict));
    TROUPE_TRY(solver.cholesky_solve(l, b, verdict.ignored_word()));
    TROUPE_TRY(check_result(b, verdict));
    TROUPE_TRY(b.give(op.x));
    return verdict.give(op.verdict);
  });
}

Result<void> run_op(const op::Qr& op, const LaneTools& on) {
  return with_solver(op.a, on, [&](const auto& solver) -> Result<void> {
    using T = decltype(element_of(solver));
    const GpuVerdict verdict = TROUPE_TRY(GpuVerdict::make(on, op.a.shape[0]));
    const auto a = TROUPE_TRY(GpuPacked<T>::from(on, op.a));
    const auto q = TROUPE_TRY(GpuPacked<T>::make(on, a.batch(), op.q.shape[1], op.q.shape[2]));
    const int reflectors = std::min(a.rows(), a.columns());
    const auto tau = TROUPE_TRY(GpuPacked<T>::make(on, a.batch(), reflectors, 1));
    if (reflectors == 0) {
      TROUPE_TRY(q.make_identity());
      TROUPE_TRY(q.give(op.q));
      return verdict.give(op.verdict);
    }
    TROUPE_TRY(check_matrix(a, verdict));
    TROUPE_TRY(solver.qr(a, tau, verdict.ignored_word()));
    TROUPE_TRY(check_result(a, verdict));
    TROUPE_TRY(solver.form_q(a, tau, q, verdict.ignored_word()));
    TROUPE_TRY(q.give(op.q));
    TROUPE_TRY(a.give_triangle(false, op.r, nullptr));
    return verdict.give(op.verdict);
  });
}

Result<void> run_op(const op::LeastSquares& op, const LaneTools& on) {
  return with_solver(op.a, on, [&](const auto& solver) -> Result<void> {
    using T = decltype(element_of(solver));
    const GpuVerdict verdict = TROUPE_TRY(GpuVerdict::make(on, op.a.shape[0]));
    const bool is_wide = op.a.shape[1] < op.a.shape[2];  // then a^H = q r gives a = r^H q^H
    const auto a = TROUPE_TRY(GpuPacked<T>::from(on, is_wide ? transposed(op.a) : op.a));
    const auto sides = TROUPE_TRY(GpuPacked<T>::make(on, a.batch(), a.rows(), op.b.shape[2]));
    const auto tau = TROUPE_TRY(GpuPacked<T>::make(on, a.batch(), a.columns(), 1));
    TROUPE_TRY(sides.clear());
    TROUPE_TRY(sides.take(op.b));
    TROUPE_TRY(check_matrix(a, verdict));
    TROUPE_TRY(check_sides(sides, verdict));
    if (a.count() > 0) {
      if (is_wide) TROUPE_TRY(a.conjugate());
      TROUPE_TRY(solver.qr(a, tau, verdict.ignored_word()));
      TROUPE_TRY(check_result(a, verdict));
      constexpr long long kThreadsForEach = 32;
      TROUPE_TRY(launch_solver_kernel(on, SolverKernel::check_rank, dtype_of<T>, kThreadsForEach * a.batch_ll(),
                                      static_cast<const T*>(a.data()), a.rows_ll(), a.columns_ll(), a.batch_ll(),
                                      verdict.own_words()));
    }
    if (a.count() > 0 && sides.count() > 0) {
      if (!is_wide) TROUPE_TRY(solver.apply_q(true, a, tau, sides, verdict.ignored_word()));
      TROUPE_TRY(solver.solve_upper(is_wide, a, sides));
      if (is_wide) TROUPE_TRY(solver.apply_q(false, a, tau, sides, verdict.ignored_word()));
    }
    TROUPE_TRY(check_result(sides, verdict));
    TROUPE_TRY(sides.give(op.x));
    return verdict.give(op.verdict);
  });
}

namespace {

/// cuSOLVER wants it tall, and in columns: a^T = (vt^T) s (u^T), without a conjugate anywhere.
op::Svd made_tall(const op::Svd& op) {
  const bool is_square = op.a.shape[1] == op.a.shape[2];
  if (is_square ? !lies_in_rows(op.a) : op.a.shape[1] > op.a.shape[2]) return op;
  op::Svd tall = op;
  tall.a = transposed(op.a);
  if (op.wants_vectors()) {
    tall.u = transposed(op.vt);
    tall.vt = transposed(op.u);
  }
  return tall;
}

/// v is what comes out of Jacobi's method, and vt is its adjoint.
template <class T>
Result<void> svd_by_jacobi(const GpuSolver<T>& solver, const op::Svd& op, const GpuPacked<T>& a,
                           const GpuPacked<detail::RealType<T>>& s, int* info) {
  const LaneTools& on = a.on();
  const bool for_all = solver.has_jacobi_for_all(a.batch(), a.rows(), a.columns());
  const bool is_thin = !for_all && (!op.wants_vectors() || op.u.shape[2] < a.rows());
  const auto u = TROUPE_TRY(GpuPacked<T>::make(on, a.batch(), a.rows(), is_thin ? a.columns() : a.rows()));
  const auto v = TROUPE_TRY(GpuPacked<T>::make(on, a.batch(), a.columns(), a.columns()));
  if (for_all)
    TROUPE_TRY(solver.jacobi_for_all(a, s, u, v, op.wants_vectors(), info));
  else
    TROUPE_TRY(solver.jacobi(a, s, u, v, op.wants_vectors(), info));
  if (!op.wants_vectors()) return {};
  TROUPE_TRY(u.give(op.u));
  TROUPE_TRY(v.conjugate());
  return v.give(transposed(op.vt));
}

template <class T>
Result<void> svd_by_bidiagonal(const GpuSolver<T>& solver, const op::Svd& op, const GpuPacked<T>& a,
                               const GpuPacked<detail::RealType<T>>& s, int* info) {
  const LaneTools& on = a.on();
  const std::int64_t columns_of_u = op.wants_vectors() ? op.u.shape[2] : 0;
  const auto u = TROUPE_TRY(GpuPacked<T>::make(on, a.batch(), a.rows(), columns_of_u));
  const auto vt = TROUPE_TRY(GpuPacked<T>::make(on, a.batch(), a.columns(), a.columns()));
  TROUPE_TRY(solver.svd(a, s, u, vt, op.wants_vectors(), info));
  if (!op.wants_vectors()) return {};
  TROUPE_TRY(u.give(op.u));
  return vt.give(op.vt);
}

}  // namespace

Result<void> run_op(const op::Svd& any, const LaneTools& on) {
  return with_solver(any.a, on, [&](const auto& solver) -> Result<void> {
    using T = decltype(element_of(solver));
    const op::Svd op = made_tall(any);
    const GpuVerdict verdict = TROUPE_TRY(GpuVerdict::make(on, op.a.shape[0]));
    const auto a = TROUPE_TRY(GpuPacked<T>::from(on, op.a));
    if (a.count() == 0) {
      if (op.wants_vectors()) {
        const auto u = TROUPE_TRY(GpuPacked<T>::make(on, a.batch(), a.rows(), op.u.shape[2]));
        TROUPE_TRY(u.make_identity());
        TROUPE_TRY(u.give(op.u));
      }
      return verdict.give(op.verdict);
    }
    const auto s = TROUPE_TRY(GpuPacked<detail::RealType<T>>::make(on, a.batch(), a.columns(), 1));
    TROUPE_TRY(a.check_finite(false, op::kNotFinite, verdict.own_words()));
    if (op.algorithm == op::SvdAlgorithm::jacobi || solver.has_jacobi_for_all(a.batch(), a.rows(), a.columns()))
      TROUPE_TRY(svd_by_jacobi<T>(solver, op, a, s, verdict.library_words()));
    else
      TROUPE_TRY(svd_by_bidiagonal<T>(solver, op, a, s, verdict.library_words()));
    TROUPE_TRY(s.check_finite(false, op::kNoConvergence, verdict.library_words()));
    TROUPE_TRY(s.give_vectors(op.s));
    return verdict.give(op.verdict);
  });
}

Result<void> run_op(const op::Eigh& op, const LaneTools& on) {
  return with_solver(op.a, on, [&](const auto& solver) -> Result<void> {
    using T = decltype(element_of(solver));
    const GpuVerdict verdict = TROUPE_TRY(GpuVerdict::make(on, op.a.shape[0]));
    const auto a = TROUPE_TRY(GpuPacked<T>::from(on, op.a));
    if (a.count() == 0) return verdict.give(op.verdict);
    const auto w = TROUPE_TRY(GpuPacked<detail::RealType<T>>::make(on, a.batch(), a.rows(), 1));
    TROUPE_TRY(a.check_finite(true, op::kNotFinite, verdict.own_words()));
    if (op.is_generalized) {
      const auto b = TROUPE_TRY(GpuPacked<T>::from(on, op.b));
      TROUPE_TRY(b.check_finite(true, op::kNotFinite, verdict.own_words()));
      TROUPE_TRY(solver.generalized_eigh(a, b, w, op.wants_vectors(), verdict.library_words()));
    } else {
      TROUPE_TRY(solver.eigh(a, w, op.wants_vectors(), verdict.library_words()));
    }
    TROUPE_TRY(w.check_finite(false, op::kNoConvergence, verdict.library_words()));
    TROUPE_TRY(w.give_vectors(op.w));
    if (op.wants_vectors()) TROUPE_TRY(a.give(op.v));
    return verdict.give(op.verdict);
  });
}

void add_solver(RunTable& table) { table.add(op::SolverOps{}); }

}  // namespace troupe::cuda

#endif
