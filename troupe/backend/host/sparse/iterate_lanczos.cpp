// Lanczos with full orthogonalization and a thick restart: a cycle builds the basis up, and begins the next one with
// the best that it has found.
#include <limits>
#include <numeric>
#include <vector>

#include "troupe/backend/host/sparse/iterate_system.hpp"
#include "troupe/backend/host/sparse/small_symmetric.hpp"
#include "troupe/backend/host/sparse/sparse_ops.hpp"

namespace troupe::host {
namespace {

template <class T, class I>
struct Lanczos {
  const op::SparseLanczos& op;
  Rows<T, I> rows;
  Account account;
  T* state;
  T* scratch;
  SmallSymmetric& projected;  // what the matrix is in the basis
  double scale = 0;           // the largest number in it
  double beta = 0;            // the norm of what leaves the basis

  std::int64_t n() const noexcept { return op.matrix.rows; }
  std::int64_t kept() const noexcept { return op::kept_vectors(op.wanted, op.basis); }
  T* basis(std::int64_t j) const noexcept { return scratch + j * n(); }
  T* w() const noexcept { return basis(op.basis + 1); }

  /// Twice: the second time takes what rounding left.
  double orthogonalize(T* vector, std::int64_t count) const noexcept {
    for (int time = 0; time < 2; ++time)
      for (std::int64_t i = 0; i < count; ++i)
        rows.vectors.add(vector, as_element<T>(-rows.vectors.dot(basis(i), vector)), basis(i));
    return rows.vectors.norm(vector);
  }
  void put(std::int64_t j, const T* vector, double norm) const noexcept {
    const T factor = as_element<T>(SumOf<T>(1 / norm));
    T* const out = basis(j);
    rows.vectors.each(2 * Vectors<T>::kSize, [&](std::int64_t i) { out[i] = times(factor, vector[i]); });
  }
  /// The first vector of all.
  bool begin(const HostViews& here) noexcept {
    if (op.starts_at)
      rows.vectors.copy(here.data<T>(op.state), w(), op.state.strides[0]);
    else
      rows.vectors.fill_at_random(w(), 0);
    const double norm = rows.vectors.norm(w());
    if (!std::isfinite(norm) || norm == 0) {
      account.stop(norm == 0 ? Stopped::breakdown : Stopped::not_finite);
      return false;
    }
    put(0, w(), norm);
    return true;
  }
  /// What the cycle before found.
  void go_on(const T* last, const double* report) noexcept {
    rows.vectors.times_as_long(kept() + 1).copy(last, basis(0));
    for (std::int64_t i = 0; i < kept(); ++i) {
      projected.at(i, i) = report[op::kReportWords + i];
      projected.at(i, kept()) = projected.at(kept(), i) = report[op::kReportWords + kept() + i];
      scale = std::max(scale, std::abs(projected.at(i, i)));
    }
  }
  /// Builds the basis up from vector `first`. Gives how many it has: fewer than it may have where there are no others.
  std::int64_t grow(std::int64_t first) noexcept {
    constexpr double kEpsilon = std::numeric_limits<RealOf<T>>::epsilon();
    for (std::int64_t j = first; j < op.basis; ++j) {
      projected.at(j, j) = real_of(rows.multiply_and_dot(basis(j), w(), basis(j)));
      beta = orthogonalize(w(), j + 1);
      scale = std::max({scale, std::abs(projected.at(j, j)), beta});
      if (!std::isfinite(scale) || !std::isfinite(beta) || !std::isfinite(projected.at(j, j))) {
        account.stop(Stopped::not_finite);
        return j;
      }
      if (scale > 0 && scale < kLeastNorm) {
        account.stop(Stopped::breakdown);
        return j;
      }
      if (beta <= 10 * kEpsilon * scale) {
        beta = 0;  // the basis is closed: another direction may show what it has not seen
        if (j + 1 == n()) return j + 1;
        double norm = 0;
        for (std::uint64_t seed = 1; seed <= 8 && norm < 0.01; ++seed) {
          rows.vectors.fill_at_random(w(), seed + 8 * static_cast<std::uint64_t>(j));
          rows.vectors.scale(w(), as_element<T>(SumOf<T>(1 / rows.vectors.norm(w()))));
          norm = orthogonalize(w(), j + 1);
        }
        put(j + 1, w(), norm);
      } else {
        put(j + 1, w(), beta);
      }
      if (j + 1 < op.basis) projected.at(j, j + 1) = projected.at(j + 1, j) = beta;
    }
    return op.basis;
  }
  /// Ritz vectors and values, the wanted ones first, for the user or the next cycle.
  void restart(std::int64_t count) noexcept {
    projected.diagonalize(count);
    projected.sort(count, op.which == Extreme::largest);
    double worst = 0;
    for (std::int64_t i = 0; i < kept(); ++i) {
      T* const out = state + i * n();
      rows.vectors.fill(out, T{});
      if (i >= count) continue;
      for (std::int64_t j = 0; j < count; ++j)
        rows.vectors.add(out, as_element<T>(SumOf<T>(projected.vector(i, j))), basis(j));
      const double coupling = beta * projected.vector(i, count - 1);
      account[op::kReportWords + i] = projected.value(i);
      account[op::kReportWords + kept() + i] = coupling;
      if (i < op.wanted) worst = std::max(worst, std::abs(coupling));
    }
    T* const last = state + kept() * n();
    if (count < op.basis || beta == 0)
      rows.vectors.fill(last, T{});
    else
      rows.vectors.copy(basis(count), last);
    double largest = 0;
    for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(projected.value(i)));
    account[op::kReportLimit] = op.relative ? op.tolerance * largest : op.tolerance;
    account[op::kReportRounds] += 1;
    account[op::kReportResidual] = worst;
    if (account.is_small(worst)) account.stop(Stopped::converged);
  }
  /// There is no end of this cycle: what the one before found, or zeros.
  void leave(const HostViews& here) noexcept {
    const Vectors<T> all = rows.vectors.times_as_long(kept() + 1);
    if (op.is_first) return all.fill(state, T{});
    all.copy(here.data<T>(op.state), state);
    std::copy_n(here.data<double>(op.report) + op::kReportWords, 2 * kept(), &account[op::kReportWords]);
  }
};

}  // namespace

Result<void> run_op(const op::SparseLanczos& op, const HostViews& here) {
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> {
    SmallSymmetric projected = TROUPE_TRY(SmallSymmetric::make(op.basis));
    Lanczos<T, I> lanczos{
        .op = op,
        .rows = Rows<T, I>(op.matrix, here),
        .account = Account(here.data<double>(op.next_report), op.is_first ? nullptr : here.data<double>(op.report),
                           op.next_report.shape[0], 1),
        .state = here.data<T>(op.next_state),
        .scratch = here.data<T>(op.scratch),
        .projected = projected};
    std::int64_t count = 0;
    if (op.is_first) {
      if (lanczos.begin(here)) count = lanczos.grow(0);
    } else if (lanczos.account.goes_on()) {
      lanczos.go_on(here.data<T>(op.state), here.data<double>(op.report));
      count = lanczos.grow(lanczos.kept());
    }
    if (lanczos.account.goes_on())
      lanczos.restart(count);
    else
      lanczos.leave(here);
    return {};
  });
}

}  // namespace troupe::host
