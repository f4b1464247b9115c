#include <optional>

#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/kernels/batches.hpp"
#include "troupe/backend/host/solver/finite.hpp"
#include "troupe/backend/host/solver/solver_ops.hpp"

namespace troupe::host {
namespace {

template <class T>
T nan_of() {
  return T(std::numeric_limits<detail::RealType<T>>::quiet_NaN());
}

/// Where the diagonal first has a zero, counted from 1; 0 when it has none. Of factors that were not passed off as
/// good, this is what is wrong.
template <class T>
int zero_on_diagonal(const Packed<T>& m) {
  for (int i = 0; i < m.rows(); ++i)
    if (m.at(i, i) == T(0)) return i + 1;
  return 0;
}
/// The same for the first that is not a positive number. An infinity is none, nor is a NaN, which LAPACK lets pass.
template <class T>
int not_positive_on_diagonal(const T* first, int count, int leading) {
  for (int i = 0; i < count; ++i) {
    const auto element = std::real(first[std::int64_t{i} * leading + i]);
    if (!(element > 0) || !std::isfinite(element)) return i + 1;
  }
  return 0;
}
template <class T>
int not_positive_on_diagonal(const Packed<T>& m) {
  return not_positive_on_diagonal(m.data(), m.rows(), m.leading());
}

/// LAPACK does not look at the imaginary part of the diagonal of a Hermitian matrix.
template <class T>
bool diagonal_is_finite(const T* first, int count, int leading) {
  for (int i = 0; i < count; ++i)
    if (!is_finite(first[std::int64_t{i} * leading + i])) return false;
  return true;
}

/// a becomes l and u; the verdict on them. `matrix` is what a was taken from.
template <class T>
Result<std::int32_t> factor(const LapackCalls<T>& lapack, const Packed<T>& a, std::span<int> pivots,
                            const HostView& matrix, Team& team) {
  const int info = lapack.lu(a, pivots);
  const bool is_good = all_finite(a, team);
  if (info == 0 && is_good) return 0;
  return why<T>(matrix, Read::all, info != 0 ? info : op::kOverflow);
}
/// The same for the lower triangle. Each element of a row of l counts for the one on the diagonal, so that one tells of
/// all.
template <class T>
Result<std::int32_t> factor_positive(const LapackCalls<T>& lapack, const Packed<T>& a, const HostView& matrix) {
  if (!diagonal_is_finite(a.data(), a.rows(), a.leading())) return op::kNotFinite;
  int info = lapack.cholesky(a);
  if (info == 0) info = not_positive_on_diagonal(a);
  if (info == 0) return 0;
  return why<T>(matrix, Read::lower, info);
}

/// As LAPACK counts them, from 1; false when one is not a row from its own downwards.
bool from_pivots(const HostView& view, std::vector<int>& pivots) {
  const int n = static_cast<int>(view.shape[0]);
  for (int i = 0; i < n; ++i) {
    const auto pivot = load<std::int32_t>(view.data + i * view.strides[0] * 4);
    if (pivot < i || pivot >= n) return false;
    pivots[static_cast<std::size_t>(i)] = pivot + 1;
  }
  return true;
}

/// Each factor is in the range of the type, their product need not be until the last.
template <class T>
T product_of_diagonal(const Packed<T>& lu, std::span<const int> pivots) {
  using Wide = std::conditional_t<detail::kIsComplex<T>, std::complex<double>, double>;
  Wide product(1);
  for (int i = 0; i < lu.rows(); ++i) {
    product *= Wide(lu.at(i, i));
    if (pivots[static_cast<std::size_t>(i)] != i + 1) product = -product;
  }
  return T(product);
}

/// An output that LAPACK can work in: without gaps along its rows or its columns. What are rows here are columns for
/// LAPACK, the lower triangle its upper one, and l l^H its u^H u.
template <class T>
struct CholeskyLines {
  T* data;
  int count;
  int step;
  bool by_rows;

  static std::optional<CholeskyLines> of(const HostView& l) {
    const std::int64_t n = l.shape[0];
    const bool by_rows = l.strides[1] == 1;
    const std::int64_t step = l.strides[by_rows ? 0 : 1];
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(l.data) % alignof(T) == 0;
    if (n < 1 || n > kMostLines || !(by_rows || l.strides[0] == 1) || step < n || step > kMostElements || !is_aligned)
      return std::nullopt;
    return CholeskyLines{reinterpret_cast<T*>(l.data), static_cast<int>(n), static_cast<int>(step), by_rows};
  }

  template <class Lapack>
  int factor(const Lapack& lapack) const {
    const bool is_finite = diagonal_is_finite(data, count, step);
    int info = is_finite ? lapack.cholesky(by_rows ? "U" : "L", count, data, step) : op::kNotFinite;
    if (info == 0) info = not_positive_on_diagonal(data, count, step);
    for (int i = 0; i < count; ++i) {
      T* const line = data + std::int64_t{i} * step;
      if (info != 0)
        std::fill_n(line, count, nan_of<T>());  // whoever reads it before it is tainted must notice
      else if (by_rows)
        std::fill(line + i + 1, line + count, T(0));
      else
        std::fill_n(line, i, T(0));
    }
    return info;
  }

 private:
  static constexpr std::int64_t kMostLines = std::int64_t{1} << 14;  // as many elements as other solvers take
};

}  // namespace

Result<void> run_op(const op::Solve& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto a = TROUPE_TRY(Packed<T>::from(one_of(here(op.a), i)));
    const auto b = TROUPE_TRY(Packed<T>::from(one_of(here(op.b), i)));
    if (op.matrix_kind == op::MatrixKind::positive) {
      if (const auto verdict = TROUPE_TRY(factor_positive<T>(lapack, a, one_of(here(op.a), i))); verdict != 0)
        return verdict;
      (void)lapack.cholesky_solve(a, b);
    } else {
      std::vector<int> pivots(static_cast<std::size_t>(a.rows()));
      if (const auto verdict = TROUPE_TRY(factor<T>(lapack, a, pivots, one_of(here(op.a), i), here.team()));
          verdict != 0)
        return verdict;
      (void)lapack.lu_solve(a, pivots, b);
    }
    TROUPE_TRY(b.give(one_of(here(op.x), i)));
    return judge_solutions(b, one_of(here(op.b), i), here.team());
  });
}

Result<void> run_op(const op::Inverse& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto a = TROUPE_TRY(Packed<T>::from(one_of(here(op.a), i)));
    std::vector<int> pivots(static_cast<std::size_t>(a.rows()));
    if (const auto verdict = TROUPE_TRY(factor<T>(lapack, a, pivots, one_of(here(op.a), i), here.team())); verdict != 0)
      return verdict;
    if (const int info = TROUPE_TRY(lapack.lu_invert(a, pivots)); info != 0) return info;
    TROUPE_TRY(a.give(one_of(here(op.out), i)));
    return all_finite(a, here.team()) ? 0 : op::kOverflow;
  });
}

Result<void> run_op(const op::Determinant& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto a = TROUPE_TRY(Packed<T>::from(one_of(here(op.a), i)));
    std::vector<int> pivots(static_cast<std::size_t>(a.rows()));
    const std::int32_t verdict = TROUPE_TRY(factor<T>(lapack, a, pivots, one_of(here(op.a), i), here.team()));
    if (verdict < 0) return verdict;
    const T determinant = verdict == 0 ? product_of_diagonal<T>(a, pivots) : T(0);  // of a singular one
    store(here(op.out).data + i * op.out.strides[0] * static_cast<std::int64_t>(sizeof(T)), determinant);
    return is_finite(determinant) ? 0 : op::kOverflow;
  });
}

Result<void> run_op(const op::Lu& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto a = TROUPE_TRY(Packed<T>::from(one_of(here(op.a), i)));
    std::vector<int> pivots(static_cast<std::size_t>(std::min(a.rows(), a.columns())));
    const std::int32_t verdict = TROUPE_TRY(factor<T>(lapack, a, pivots, one_of(here(op.a), i), here.team()));
    for (int& pivot : pivots) --pivot;
    TROUPE_TRY(a.give(one_of(here(op.lu), i)));
    TROUPE_TRY(copy(view_of(std::span(pivots)), one_of(here(op.pivots), i)));
    return verdict;
  });
}

Result<void> run_op(const op::LuSolve& op, const HostViews& here) {
  return for_each_matrix(op, op.lu, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto lu = TROUPE_TRY(Packed<T>::from(one_of(here(op.lu), i)));
    const auto b = TROUPE_TRY(Packed<T>::from(one_of(here(op.b), i)));
    std::vector<int> pivots(static_cast<std::size_t>(lu.rows()));
    if (!from_pivots(one_of(here(op.pivots), i), pivots)) return op::kNotPivots;
    if (!all_finite(lu, here.team())) return op::kNotFinite;
    if (const int where = zero_on_diagonal(lu); where != 0) return where;
    (void)lapack.lu_solve(lu, pivots, b);
    TROUPE_TRY(b.give(one_of(here(op.x), i)));
    return judge_solutions(b, one_of(here(op.b), i), here.team());
  });
}

Result<void> run_op(const op::Cholesky& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    if (const auto lines = CholeskyLines<T>::of(one_of(here(op.l), i))) {
      TROUPE_TRY(copy(one_of(here(op.a), i), one_of(here(op.l), i)));
      const int info = lines->factor(lapack);
      if (info == 0) return 0;
      return why<T>(one_of(here(op.a), i), Read::lower, info);
    }
    const auto a = TROUPE_TRY(Packed<T>::from(one_of(here(op.a), i)));
    const std::int32_t verdict = TROUPE_TRY(factor_positive<T>(lapack, a, one_of(here(op.a), i)));
    for (int column = 1; column < a.columns(); ++column)
      for (int row = 0; row < column; ++row) a.at(row, column) = T(0);
    if (verdict != 0) a.fill(nan_of<T>());  // whoever reads it before it is tainted must notice
    TROUPE_TRY(a.give(one_of(here(op.l), i)));
    return verdict;
  });
}

Result<void> run_op(const op::CholeskySolve& op, const HostViews& here) {
  return for_each_matrix(op, op.l, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto l = TROUPE_TRY(Packed<T>::from(one_of(here(op.l), i)));
    const auto b = TROUPE_TRY(Packed<T>::from(one_of(here(op.b), i)));
    if (!lower_is_finite(l, here.team())) return op::kNotFinite;
    if (const int where = not_positive_on_diagonal(l); where != 0) return where;
    (void)lapack.cholesky_solve(l, b);
    TROUPE_TRY(b.give(one_of(here(op.x), i)));
    return judge_solutions(b, one_of(here(op.b), i), here.team());
  });
}

void add_solver(RunTable& table) { table.add(op::SolverOps{}); }

}  // namespace troupe::host
