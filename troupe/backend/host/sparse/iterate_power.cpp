// Power iteration: the eigenvalue of largest absolute value, and its vector.
#include "troupe/backend/host/sparse/iterate_system.hpp"
#include "troupe/backend/host/sparse/sparse_ops.hpp"

namespace troupe::host {
namespace {

template <class T, class I>
struct Power {
  Rows<T, I> rows;
  Account account;
  T* v;
  T* w;

  void begin(const op::SparsePower& op, const HostViews& here) noexcept {
    if (op.starts_at)
      rows.vectors.copy(here.data<T>(op.state), v, op.state.strides[0]);
    else
      rows.vectors.fill_at_random(v, 0);
    const double norm = rows.vectors.norm(v);
    if (!std::isfinite(norm)) return account.stop(Stopped::not_finite);
    if (norm == 0) return account.stop(Stopped::breakdown);
    rows.vectors.scale(v, as_element<T>(SumOf<T>(1 / norm)));
  }
  void round(const op::SparsePower& op) noexcept {
    const SumOf<T> value = rows.multiply_and_dot(v, w, v);
    account[op::kReportValue] = real_of(value);
    account[op::kReportValueImaginary] = imaginary_of(value);
    const T factor = as_element<T>(value);
    const auto sums = rows.vectors.template sum<TwoSums<double, double>>(2 * Vectors<T>::kSize, [&](std::int64_t i) {
      return TwoSums<double, double>{square(sparse::plus_product(w[i], -factor, v[i])), square(w[i])};
    });
    account[op::kReportLimit] = op.relative ? op.tolerance * std::abs(value) : op.tolerance;
    const double residual = std::sqrt(sums.first);
    account.note(residual);
    if (account[op::kReportStopped] != 0) return;
    if (value != SumOf<T>{} && std::abs(value) < kLeastNorm) return account.stop(Stopped::breakdown);
    if (account.is_small(residual)) return account.stop(Stopped::converged);
    const T scale = as_element<T>(SumOf<T>(1 / std::sqrt(sums.second)));
    rows.vectors.each(2 * Vectors<T>::kSize, [&](std::int64_t i) { v[i] = times(scale, w[i]); });
  }
};

}  // namespace

Result<void> run_op(const op::SparsePower& op, const HostViews& here) {
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> {
    Power<T, I> power{
        .rows = Rows<T, I>(op.matrix, here),
        .account = Account(here.data<double>(op.next_report), op.is_first ? nullptr : here.data<double>(op.report),
                           op.next_report.shape[0], op.rounds),
        .v = here.data<T>(op.next_state),
        .w = here.data<T>(op.scratch)};
    if (op.is_first)
      power.begin(op, here);
    else
      power.rows.vectors.copy(here.data<T>(op.state), power.v);
    while (power.account.goes_on()) power.round(op);
    return {};
  });
}

}  // namespace troupe::host
