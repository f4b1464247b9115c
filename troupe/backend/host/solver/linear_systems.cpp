#include <optional>

#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/kernels/batches.hpp"
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
/// The same for the first that is not a positive number.
template <class T>
int not_positive_on_diagonal(const Packed<T>& m) {
  for (int i = 0; i < m.rows(); ++i)
    if (!(std::real(m.at(i, i)) > 0)) return i + 1;
  return 0;
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
    const int info = lapack.cholesky(by_rows ? "U" : "L", count, data, step);
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
    int info = 0;
    if (op.matrix_kind == op::MatrixKind::positive) {
      info = lapack.cholesky(a);
      if (info == 0) info = lapack.cholesky_solve(a, b);
    } else {
      std::vector<int> pivots(static_cast<std::size_t>(a.rows()));
      info = lapack.lu(a, pivots);
      if (info == 0) info = lapack.lu_solve(a, pivots, b);
    }
    if (info == 0) TROUPE_TRY(b.give(one_of(here(op.x), i)));
    return info;
  });
}

Result<void> run_op(const op::Inverse& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto a = TROUPE_TRY(Packed<T>::from(one_of(here(op.a), i)));
    std::vector<int> pivots(static_cast<std::size_t>(a.rows()));
    int info = lapack.lu(a, pivots);
    if (info == 0) info = TROUPE_TRY(lapack.lu_invert(a, pivots));
    if (info == 0) TROUPE_TRY(a.give(one_of(here(op.out), i)));
    return info;
  });
}

Result<void> run_op(const op::Determinant& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto a = TROUPE_TRY(Packed<T>::from(one_of(here(op.a), i)));
    std::vector<int> pivots(static_cast<std::size_t>(a.rows()));
    const int info = lapack.lu(a, pivots);
    const T determinant = info == 0 ? product_of_diagonal<T>(a, pivots) : T(0);
    store(here(op.out).data + i * op.out.strides[0] * static_cast<std::int64_t>(sizeof(T)), determinant);
    return 0;
  });
}

Result<void> run_op(const op::Lu& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto a = TROUPE_TRY(Packed<T>::from(one_of(here(op.a), i)));
    std::vector<int> pivots(static_cast<std::size_t>(std::min(a.rows(), a.columns())));
    const int info = lapack.lu(a, pivots);
    for (int& pivot : pivots) --pivot;
    TROUPE_TRY(a.give(one_of(here(op.lu), i)));
    TROUPE_TRY(copy(view_of(std::span(pivots)), one_of(here(op.pivots), i)));
    return info;
  });
}

Result<void> run_op(const op::LuSolve& op, const HostViews& here) {
  return for_each_matrix(op, op.lu, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto lu = TROUPE_TRY(Packed<T>::from(one_of(here(op.lu), i)));
    const auto b = TROUPE_TRY(Packed<T>::from(one_of(here(op.b), i)));
    std::vector<int> pivots(static_cast<std::size_t>(lu.rows()));
    if (!from_pivots(one_of(here(op.pivots), i), pivots)) return op::kNotPivots;
    if (const int where = zero_on_diagonal(lu); where != 0) return where;
    const int info = lapack.lu_solve(lu, pivots, b);
    TROUPE_TRY(b.give(one_of(here(op.x), i)));
    return info;
  });
}

Result<void> run_op(const op::Cholesky& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    if (const auto lines = CholeskyLines<T>::of(one_of(here(op.l), i))) {
      TROUPE_TRY(copy(one_of(here(op.a), i), one_of(here(op.l), i)));
      return lines->factor(lapack);
    }
    const auto a = TROUPE_TRY(Packed<T>::from(one_of(here(op.a), i)));
    const int info = lapack.cholesky(a);
    for (int column = 1; column < a.columns(); ++column)
      for (int row = 0; row < column; ++row) a.at(row, column) = T(0);
    if (info != 0) a.fill(nan_of<T>());  // whoever reads it before it is tainted must notice
    TROUPE_TRY(a.give(one_of(here(op.l), i)));
    return info;
  });
}

Result<void> run_op(const op::CholeskySolve& op, const HostViews& here) {
  return for_each_matrix(op, op.l, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto l = TROUPE_TRY(Packed<T>::from(one_of(here(op.l), i)));
    const auto b = TROUPE_TRY(Packed<T>::from(one_of(here(op.b), i)));
    if (const int where = not_positive_on_diagonal(l); where != 0) return where;
    const int info = lapack.cholesky_solve(l, b);
    TROUPE_TRY(b.give(one_of(here(op.x), i)));
    return info;
  });
}

void add_solver(RunTable& table) { table.add(op::SolverOps{}); }

}  // namespace troupe::host
