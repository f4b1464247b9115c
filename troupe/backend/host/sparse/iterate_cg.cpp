// Conjugate gradients, for matrices that are symmetric or Hermitian and positive definite.
#include "troupe/backend/host/sparse/iterate_system.hpp"
#include "troupe/backend/host/sparse/sparse_ops.hpp"

namespace troupe::host {
namespace {

constexpr std::int64_t kRho = op::kReportScalars;

template <class T, class I>
struct Cg {
  System<T, I> on;
  T* x = on.state_vector(0);
  T* r = on.state_vector(1);
  T* p = on.state_vector(2);
  T* q = on.scratch_vector(0);
  T* z = on.preconditioner.is_none() ? r : on.scratch_vector(1);

  /// z = M r. Gives r z, which is positive or an end.
  double precondition() noexcept {
    const double rho =
        real_of(on.preconditioner.is_none() ? on.vectors.dot(r, r) : on.preconditioner.apply_and_dot(r, z));
    if (!std::isfinite(rho))
      on.account.stop(Stopped::not_finite);
    else if (rho <= 0)
      on.account.stop(Stopped::not_positive_definite);
    return rho;
  }
  void begin() noexcept {
    if (!on.account.goes_on()) return on.vectors.fill(p, T{});
    on.account[kRho] = precondition();
    on.vectors.copy(z, p);
  }
  /// Without a preconditioner the norm of r is all that there is to know of it.
  void round() noexcept {
    const double curvature = real_of(on.rows.multiply_and_dot(p, q, p));
    if (!std::isfinite(curvature)) return on.account.stop(Stopped::not_finite);
    if (curvature <= 0) return on.account.stop(Stopped::not_positive_definite);
    const T alpha = as_element<T>(SumOf<T>(on.account[kRho] / curvature));
    const double square_of_r = on.vectors.template sum<double>(6 * Vectors<T>::kSize, [&](std::int64_t i) {
      x[i] = sparse::plus_product(x[i], alpha, p[i]);
      r[i] = sparse::plus_product(r[i], -alpha, q[i]);
      return square(r[i]);
    });
    on.account.note(std::sqrt(square_of_r));
    if (!std::isfinite(square_of_r)) return;
    bool is_new = false;
    if (on.account.is_small(std::sqrt(square_of_r))) {
      on.confirm(r);
      if (on.account[op::kReportStopped] != 0) return;
      is_new = true;
    }
    const double rho = on.preconditioner.is_none() && !is_new ? square_of_r : precondition();
    if (on.account[op::kReportStopped] != 0) return;
    const T beta = as_element<T>(SumOf<T>(rho / on.account[kRho]));
    on.account[kRho] = rho;
    on.vectors.each(3 * Vectors<T>::kSize, [&](std::int64_t i) { p[i] = sparse::plus_product(z[i], beta, p[i]); });
  }
};

}  // namespace

Result<void> run_op(const op::SparseCg& op, const HostViews& here) {
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> {
    Cg<T, I> cg{System<T, I>(op, here)};
    if (op.is_first) {
      cg.on.begin(op, here, cg.r);
      cg.begin();
    }
    while (cg.on.account.goes_on()) cg.round();
    return {};
  });
}

}  // namespace troupe::host
