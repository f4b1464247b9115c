// The stabilized method of biconjugate gradients, for any square matrix, preconditioned from the right: what it watches
// is the residual itself.
#include <limits>

#include "troupe/backend/host/sparse/iterate_system.hpp"
#include "troupe/backend/host/sparse/sparse_ops.hpp"

namespace troupe::host {
namespace {

template <class T, class I>
struct Bicgstab {
  using S = SumOf<T>;
  enum Word : std::uint8_t { kRho = op::kReportScalars, kAlpha = kRho + 2, kOmega = kAlpha + 2, kIsFresh = kOmega + 2 };

  System<T, I> on;
  T* x = on.state_vector(0);
  T* r = on.state_vector(1);
  T* shadow = on.state_vector(2);
  T* p = on.state_vector(3);
  T* v = on.state_vector(4);
  T* hat = on.scratch_vector(0);  // M p
  T* hat_of_r = on.scratch_vector(1);
  T* t = on.scratch_vector(2);

  S get(std::int64_t word) const noexcept { return sum_of<S>(on.account[word], on.account[word + 1]); }
  void put(std::int64_t word, const S& sum) const noexcept {
    on.account[word] = real_of(sum);
    on.account[word + 1] = imaginary_of(sum);
  }
  /// Nothing to divide by: so small beside what it was made of that all of it is rounding.
  static bool is_nothing(const S& sum, double size) noexcept {
    constexpr double kEpsilon = std::numeric_limits<RealOf<T>>::epsilon();
    return !(std::abs(sum) > kEpsilon * kEpsilon * size);
  }

  void begin() noexcept {
    on.vectors.copy(r, shadow);
    on.vectors.fill(p, T{});
    on.vectors.fill(v, T{});
    on.account[kIsFresh] = 1;
  }
  /// The next direction. From a shadow that r has become orthogonal to, it begins anew.
  void turn() noexcept {
    S rho = on.vectors.dot(shadow, r);
    const double size = on.vectors.norm(shadow) * on.vectors.norm(r);
    if (is_nothing(rho, size)) {
      begin();
      rho = on.vectors.dot(r, r);
    }
    if (on.account[kIsFresh] != 0) {
      on.vectors.copy(r, p);
    } else {
      const T beta = as_element<T>(rho / get(kRho) * (get(kAlpha) / get(kOmega)));
      const T omega = as_element<T>(get(kOmega));
      on.vectors.each(4 * Vectors<T>::kSize, [&](std::int64_t i) {
        p[i] = sparse::plus_product(r[i], beta, sparse::plus_product(p[i], -omega, v[i]));
      });
    }
    on.account[kIsFresh] = 0;
    put(kRho, rho);
  }
  void round() noexcept {
    turn();
    on.preconditioner.apply(p, hat);
    const S along = on.rows.multiply_and_dot(hat, v, shadow);
    if (!std::isfinite(std::abs(along))) return on.account.stop(Stopped::not_finite);
    if (is_nothing(along, on.vectors.norm(shadow) * on.vectors.norm(v))) return on.account.stop(Stopped::breakdown);
    put(kAlpha, get(kRho) / along);
    const T alpha = as_element<T>(get(kAlpha));
    const double half = std::sqrt(on.vectors.template sum<double>(6 * Vectors<T>::kSize, [&](std::int64_t i) {
      x[i] = sparse::plus_product(x[i], alpha, hat[i]);
      r[i] = sparse::plus_product(r[i], -alpha, v[i]);
      return square(r[i]);
    }));
    if (!on.account.is_small(half)) return stabilize(half);
    on.account.note(half);
    on.confirm(r);
    if (on.account[op::kReportStopped] == 0) begin();
  }
  /// The second half of a round, which makes r smaller along A M r.
  void stabilize(double half) noexcept {
    on.preconditioner.apply(r, hat_of_r);
    on.rows.multiply(hat_of_r, t);
    const auto sums = on.vectors.template sum<TwoSums<S, double>>(
        2 * Vectors<T>::kSize, [&](std::int64_t i) { return TwoSums<S, double>{inner(t[i], r[i]), square(t[i])}; });
    if (is_nothing(sums.first, half * std::sqrt(sums.second))) {
      on.account.note(half);
      if (on.account[op::kReportStopped] == 0) on.account.stop(Stopped::breakdown);
      return;
    }
    put(kOmega, sums.first / sums.second);
    const T omega = as_element<T>(get(kOmega));
    const double norm = std::sqrt(on.vectors.template sum<double>(6 * Vectors<T>::kSize, [&](std::int64_t i) {
      x[i] = sparse::plus_product(x[i], omega, hat_of_r[i]);
      r[i] = sparse::plus_product(r[i], -omega, t[i]);
      return square(r[i]);
    }));
    on.account.note(norm);
    if (on.account.is_small(norm)) on.confirm(r);
  }
};

}  // namespace

Result<void> run_op(const op::SparseBicgstab& op, const HostViews& here) {
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> {
    Bicgstab<T, I> bicgstab{System<T, I>(op, here)};
    if (op.is_first) {
      bicgstab.on.begin(op, here, bicgstab.r);
      bicgstab.begin();
    }
    while (bicgstab.on.account.goes_on()) bicgstab.round();
    return {};
  });
}

}  // namespace troupe::host
