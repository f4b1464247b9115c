#include "troupe/backend/host/kernels/batches.hpp"
#include "troupe/backend/host/solver/finite.hpp"
#include "troupe/backend/host/solver/solver_ops.hpp"

namespace troupe::host {
namespace {

/// What stands below the diagonal becomes zero.
template <class T>
void clear_below(const Packed<T>& m) {
  for (int column = 0; column < m.columns(); ++column)
    for (int row = column + 1; row < m.rows(); ++row) m.at(row, column) = T(0);
}

template <class T>
void conjugate_all(const Packed<T>& m) {
  if constexpr (detail::kIsComplex<T>)
    for (T& element : m.elements()) element = std::conj(element);
}

/// The first columns of `to` become those of `from`.
template <class T>
void copy_columns(const Packed<T>& from, const Packed<T>& to, int count) {
  const auto elements = static_cast<std::size_t>(count) * static_cast<std::size_t>(from.rows());
  std::ranges::copy(from.elements().first(elements), to.elements().begin());
}

/// Whether a column depends on those before it, as far as the type can tell.
template <class T>
bool is_rank_deficient(const Packed<T>& r) {
  const int n = std::min(r.rows(), r.columns());
  detail::RealType<T> largest = 0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(r.at(i, i)));
  constexpr detail::RealType<T> kRankMargin = 4;  // what rounding leaves of a column, in the type's last places
  const detail::RealType<T> least = largest * kRankMargin * std::numeric_limits<detail::RealType<T>>::epsilon() *
                                    static_cast<detail::RealType<T>>(r.rows());
  for (int i = 0; i < n; ++i)
    if (std::abs(r.at(i, i)) <= least) return true;
  return false;
}

/// x has the solutions in its first rows. With fewer rows than columns, a^H = q r gives a = r^H q^H.
template <class T>
Result<std::int32_t> least_squares(const LapackCalls<T>& lapack, const HostView& a, const HostView& b,
                                   const HostView& x, Team& team) {
  const bool is_wide = a.shape[0] < a.shape[1];
  const auto factors = TROUPE_TRY(Packed<T>::from(is_wide ? transposed(a) : a));
  if (is_wide) conjugate_all(factors);
  std::vector<T> tau(static_cast<std::size_t>(factors.columns()));
  TROUPE_TRY(lapack.qr(factors, tau));
  if (!all_finite(factors, team)) return why<T>(a, Read::all, op::kOverflow);
  if (is_rank_deficient(factors)) return op::kRankDeficient;
  const auto sides = TROUPE_TRY(Packed<T>::make(factors.rows(), b.shape[1]));
  sides.fill(T(0));
  HostView first_rows{.data = reinterpret_cast<std::byte*>(sides.data()),
                      .dtype = b.dtype,
                      .shape = b.shape,
                      .strides = {1, factors.rows()}};
  TROUPE_TRY(copy(b, first_rows));
  if (!is_wide) TROUPE_TRY(lapack.apply_q(true, factors, tau, sides));
  if (const int info = lapack.solve_upper(is_wide, factors, sides); info != 0) return op::kRankDeficient;
  if (is_wide) TROUPE_TRY(lapack.apply_q(false, factors, tau, sides));
  TROUPE_TRY(sides.give(x));
  return judge_solutions(sides, b, team);
}

/// Needs at least as many rows as columns: of a wide matrix, the transpose is decomposed.
template <class T>
Result<std::int32_t> jacobi_svd(const LapackCalls<T>& lapack, const Packed<T>& a, std::span<detail::RealType<T>> s,
                                const Packed<T>& u, const Packed<T>& vt) {
  const int n = vt.columns();
  const auto v = TROUPE_TRY(Packed<T>::make(n, n));
  const int info = TROUPE_TRY(lapack.jacobi(a, s, u, v));
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) vt.at(row, column) = conjugate(v.at(column, row));
  return info;
}

struct SvdViews {
  HostView a;
  HostView s;
  HostView u;
  HostView vt;
};

template <class T>
Result<std::int32_t> svd(const LapackCalls<T>& lapack, const op::Svd& op, const SvdViews& views, Team& team) {
  const auto a = TROUPE_TRY(Packed<T>::from(views.a));
  const auto columns_of_u = op.wants_vectors() ? views.u.shape[1] : 0;
  const auto rows_of_vt = op.wants_vectors() ? views.vt.shape[0] : 0;
  const auto u = TROUPE_TRY(Packed<T>::make(op.wants_vectors() ? a.rows() : 0, columns_of_u));
  const auto vt = TROUPE_TRY(Packed<T>::make(rows_of_vt, op.wants_vectors() ? a.columns() : 0));
  std::vector<detail::RealType<T>> s(static_cast<std::size_t>(views.s.shape[0]));
  int info = 0;
  if (!all_finite(a, team)) return op::kNotFinite;
  if (s.empty()) {
    u.make_identity();
    vt.make_identity();
  } else if (op.algorithm == op::SvdAlgorithm::jacobi) {
    info = TROUPE_TRY(jacobi_svd<T>(lapack, a, s, u, vt));
  } else {
    info = TROUPE_TRY(lapack.svd(a, s, u, vt));
  }
  if (info != 0) return info < 0 ? op::kNotFinite : info;
  if (!all_finite(std::span<const detail::RealType<T>>(s))) return op::kNoConvergence;
  TROUPE_TRY(copy(view_of(std::span(s)), views.s));
  if (!op.wants_vectors()) return 0;
  TROUPE_TRY(u.give(views.u));
  TROUPE_TRY(vt.give(views.vt));
  return 0;
}

}  // namespace

Result<void> run_op(const op::Qr& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto a = TROUPE_TRY(Packed<T>::from(one_of(here(op.a), i)));
    std::vector<T> tau(static_cast<std::size_t>(std::min(a.rows(), a.columns())));
    TROUPE_TRY(lapack.qr(a, tau));
    if (!all_finite(a, here.team())) return why<T>(one_of(here(op.a), i), Read::all, op::kOverflow);
    const auto q = TROUPE_TRY(Packed<T>::make(op.q.shape[1], op.q.shape[2]));
    copy_columns(a, q, static_cast<int>(tau.size()));
    TROUPE_TRY(lapack.form_q(q, std::span<const T>(tau)));
    TROUPE_TRY(q.give(one_of(here(op.q), i)));
    clear_below(a);
    TROUPE_TRY(a.give(one_of(here(op.r), i)));
    return 0;
  });
}

Result<void> run_op(const op::LeastSquares& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    return least_squares<T>(lapack, one_of(here(op.a), i), one_of(here(op.b), i), one_of(here(op.x), i), here.team());
  });
}

Result<void> run_op(const op::Svd& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    SvdViews views{.a = one_of(here(op.a), i), .s = one_of(here(op.s), i), .u = {}, .vt = {}};
    if (op.wants_vectors()) {
      views.u = one_of(here(op.u), i);
      views.vt = one_of(here(op.vt), i);
    }
    // Jacobi wants it tall: a^T = (vt^T) s (u^T), without a conjugate anywhere.
    if (op.algorithm == op::SvdAlgorithm::jacobi && views.a.shape[0] < views.a.shape[1]) {
      views.a = transposed(views.a);
      if (op.wants_vectors()) {
        const HostView u = transposed(views.vt);
        views.vt = transposed(views.u);
        views.u = u;
      }
    }
    return svd<T>(lapack, op, views, here.team());
  });
}

Result<void> run_op(const op::Eigh& op, const HostViews& here) {
  return for_each_matrix(op, op.a, here, [&](const auto& lapack, std::int64_t i) -> Result<std::int32_t> {
    using T = decltype(element_of(lapack));
    const auto a = TROUPE_TRY(Packed<T>::from(one_of(here(op.a), i)));
    const std::int64_t size_of_b = op.is_generalized ? a.rows() : 0;
    const auto b = op.is_generalized ? TROUPE_TRY(Packed<T>::from(one_of(here(op.b), i)))
                                     : TROUPE_TRY(Packed<T>::make(size_of_b, size_of_b));
    if (!lower_is_finite(a, here.team()) || !lower_is_finite(b, here.team())) return op::kNotFinite;
    std::vector<detail::RealType<T>> w(static_cast<std::size_t>(a.rows()));
    const int info = TROUPE_TRY(lapack.eigh(a, op.is_generalized ? &b : nullptr, w, op.wants_vectors()));
    if (info != 0) return info;
    if (!all_finite(std::span<const detail::RealType<T>>(w))) return op::kNoConvergence;
    TROUPE_TRY(copy(view_of(std::span(w)), one_of(here(op.w), i)));
    if (op.wants_vectors()) TROUPE_TRY(a.give(one_of(here(op.v), i)));
    return 0;
  });
}

}  // namespace troupe::host
