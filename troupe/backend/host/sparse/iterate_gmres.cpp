// The method of generalized minimal residuals, for any square matrix, preconditioned from the right: a restart of as
// many rounds as the op has. Only x goes from one to the next.
#include <array>
#include <limits>

#include "troupe/backend/host/sparse/iterate_system.hpp"
#include "troupe/backend/host/sparse/sparse_ops.hpp"

namespace troupe::host {
namespace {

/// What orthogonalizing leaves: an upper triangle, made so by rotations as its columns come, and the right side.
template <class S>
class Triangle {
 public:
  S* column(std::int64_t j) noexcept { return &numbers_[static_cast<std::size_t>(j * (j + 3) / 2)]; }

  void begin(double norm) noexcept { right_[0] = norm; }
  /// Turns column `j`, of j + 2 numbers, and the right side. Gives what is left of the residual.
  double turn(std::int64_t j) noexcept {
    S* const h = column(j);
    for (std::int64_t i = 0; i < j; ++i) rotate(i, h[i], h[i + 1]);
    const double a = std::abs(h[j]), b = std::abs(h[j + 1]), length = std::hypot(a, b);
    const auto at = static_cast<std::size_t>(j);
    cosines_[at] = length == 0 ? 1 : a / length;
    sines_[at] = length == 0 ? S{} : (a == 0 ? S{1} : h[j] / a) * conjugate(h[j + 1]) / length;
    rotate(j, h[j], h[j + 1]);
    right_[at + 1] = S{};
    rotate(j, right_[at], right_[at + 1]);
    return std::abs(right_[at + 1]);
  }
  /// Solves for the first `count` unknowns, in place of the right side; false when it cannot.
  bool solve(std::int64_t count) noexcept {
    for (std::int64_t i = count; i-- > 0;) {
      S& y = right_[static_cast<std::size_t>(i)];
      const S diagonal = column(i)[i];
      if (diagonal == S{}) return false;
      y /= diagonal;
      for (std::int64_t k = 0; k < i; ++k) right_[static_cast<std::size_t>(k)] -= column(i)[k] * y;
    }
    return true;
  }
  /// What the last of `count` unknowns is divided by.
  double pivot(std::int64_t count) noexcept { return std::abs(column(count - 1)[count - 1]); }
  const S& unknown(std::int64_t i) const noexcept { return right_[static_cast<std::size_t>(i)]; }

 private:
  static double conjugate(double s) noexcept { return s; }
  static std::complex<double> conjugate(const std::complex<double>& s) noexcept { return std::conj(s); }
  void rotate(std::int64_t i, S& upper, S& lower) const noexcept {
    const double c = cosines_[static_cast<std::size_t>(i)];
    const S s = sines_[static_cast<std::size_t>(i)], was = upper;
    upper = c * was + s * lower;
    lower = c * lower - conjugate(s) * was;
  }

  static constexpr auto kMost = static_cast<std::size_t>(op::kMaxBasis);
  std::array<S, kMost*(kMost + 3) / 2> numbers_{};
  std::array<S, kMost + 1> right_{};
  std::array<double, kMost> cosines_{};
  std::array<S, kMost> sines_{};
};

template <class T, class I>
struct Gmres {
  System<T, I> on;
  T* x = on.state_vector(0);
  T* z = on.scratch_vector(0);
  T* w = on.scratch_vector(1);
  Triangle<SumOf<T>>& triangle;

  T* basis(std::int64_t j) const noexcept { return on.scratch_vector(2 + j); }

  /// w = A M v, without what it has of the vectors before. Gives its norm.
  double next(std::int64_t j) noexcept {
    on.preconditioner.apply(basis(j), z);
    SumOf<T>* const h = triangle.column(j);
    on.rows.multiply(z, w);
    for (std::int64_t i = 0; i <= j; ++i) {
      h[i] = on.vectors.dot(basis(i), w);
      on.vectors.add(w, as_element<T>(-h[i]), basis(i));
    }
    return on.vectors.norm(w);
  }
  /// One restart. `residual` is that of x, and the first vector of the basis its direction.
  void restart(double residual, std::int64_t rounds) noexcept {
    on.vectors.scale(basis(0), as_element<T>(SumOf<T>(1 / residual)));
    triangle.begin(residual);
    std::int64_t used = 0;
    bool is_closed = false;
    double largest = 0, left = residual;
    while (used < rounds && on.account[op::kReportStopped] == 0 && !is_closed && !on.account.is_small(left)) {
      const double norm = next(used);
      if (!std::isfinite(norm)) return on.account.stop(Stopped::not_finite);
      largest = std::max(largest, norm);
      for (std::int64_t i = 0; i <= used; ++i) largest = std::max(largest, std::abs(triangle.column(used)[i]));
      is_closed = norm <= 4 * kEpsilon * largest;  // the basis has all that the matrix can reach
      triangle.column(used)[used + 1] = is_closed ? 0 : norm;
      left = triangle.turn(used);
      on.account.note(left);
      if (!is_closed) {
        const T scale = as_element<T>(SumOf<T>(1 / norm));
        T* const out = basis(used + 1);
        on.vectors.each(2 * Vectors<T>::kSize, [&](std::int64_t i) { out[i] = times(scale, w[i]); });
      }
      ++used;
    }
    if (on.account[op::kReportStopped] != 0) return;
    // A closed basis of a singular matrix has a direction more than the matrix makes of it.
    const bool is_singular = is_closed && triangle.pivot(used) <= 4 * kEpsilon * largest;
    advance(is_singular ? used - 1 : used, residual, is_singular);
  }
  /// x += M V y, unless that makes the residual larger, as rounding may where the matrix is nearly singular.
  void advance(std::int64_t used, double residual, bool is_singular) noexcept {
    const bool is_solved = triangle.solve(used);
    double now = residual;
    if (is_solved) {
      on.vectors.fill(w, T{});
      for (std::int64_t i = 0; i < used; ++i) on.vectors.add(w, as_element<T>(triangle.unknown(i)), basis(i));
      on.preconditioner.apply(w, z);
      on.vectors.each(3 * Vectors<T>::kSize, [&](std::int64_t i) { w[i] = sparse::plus_product(x[i], T{1}, z[i]); });
      const double then = on.rows.residual(on.b, on.b_step, w, basis(0));
      if (then < residual) {
        on.vectors.copy(w, x);
        now = then;
      }
    }
    on.account[op::kReportRestart] = 0;
    on.settle(now);
    if (on.account[op::kReportStopped] != 0) return;
    // Where nearly all of the residual has gone, it is the basis that rounding has made singular.
    const bool has_gone = now <= std::sqrt(kEpsilon) * residual;
    if (!is_solved || (is_singular && !has_gone))
      on.account.stop(Stopped::breakdown);
    else if (!(now < residual * kStagnates))
      on.account.stop(Stopped::stagnated);
  }
  static constexpr double kEpsilon = std::numeric_limits<RealOf<T>>::epsilon();
  /// A restart that leaves more than this of the residual is the last one.
  static constexpr double kStagnates = 1 - 1e-6;
};

}  // namespace

Result<void> run_op(const op::SparseGmres& op, const HostViews& here) {
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> {
    const Scratch memory = TROUPE_TRY(make_scratch(static_cast<std::int64_t>(sizeof(Triangle<SumOf<T>>))));
    auto* const triangle = ::new (memory.get()) Triangle<SumOf<T>>;
    Gmres<T, I> gmres{.on = System<T, I>(op, here), .triangle = *triangle};
    if (op.is_first) gmres.on.begin(op, here, gmres.basis(0));
    if (!gmres.on.account.goes_on()) return {};
    const double residual = gmres.on.rows.residual(gmres.on.b, gmres.on.b_step, gmres.x, gmres.basis(0));
    gmres.restart(residual, op.rounds);
    return {};
  });
}

}  // namespace troupe::host
