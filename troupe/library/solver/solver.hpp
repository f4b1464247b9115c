// Dense solvers on a device: `gpu.solver()`. Matrices are two-dimensional arrays of f32, f64, c64 or c128 with any
// strides; an array of rank 3 is a batch of them, and the same functions take it. Outputs must not overlap inputs, so
// that every call can be run again after a crash.
//
//   CO_TRY(co_await gpu.solver().solve(a, b, x));  // a [n, n]; b and x [n] or [n, k]
//
// When the matrix is singular or not positive definite, an iteration does not converge, an input has a NaN or an
// infinity in it, or a result does not fit the type, the call ends in `numerical_error`. The message says where, and
// for a batch how many matrices failed. The outputs are tainted then.
#pragma once

#include "troupe/device/device.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// How singular values are computed.
enum class SvdMethod : std::uint8_t {
  automatic,  // the usual one of the backend, by way of a bidiagonal matrix
  jacobi,     // slower; more exact for small singular values when the columns differ much in size
};
/// What `svd` and `singular_values` can be told.
struct SvdOptions {
  SvdMethod method = SvdMethod::automatic;  // how they are computed
};
static_assert(std::is_trivially_destructible_v<SvdOptions>, "safe inside a co_await with g++ 12");

/// Dense solvers on a device: `gpu.solver()`.
class Solver {
 public:
  explicit Solver(Device device) noexcept : device_(std::move(device)) {}

  // ---- linear systems ----

  /// a x = b for a [n, n]; b and x are [n], or [n, k] for k right-hand sides (of a batch: [batch, n] or [batch, n, k]).
  Call<void> solve(const AnyArray& a, const AnyArray& b, const AnyArray& x) const;
  /// The same for a Hermitian positive definite a, of which only the lower triangle is read: half the work.
  Call<void> solve_positive(const AnyArray& a, const AnyArray& b, const AnyArray& x) const;
  /// The inverse of a [n, n].
  Call<void> inverse(const AnyArray& a, const AnyArray& out) const;
  /// The determinant of a matrix; that of a singular matrix is 0. `numerical_error` when it does not fit the type.
  template <Element T>
  Call<T> determinant(const Array<T>& a) const {
    Result<HostArray<T>> number = device_.host_array<T>({1});
    if (!number) return fail(std::move(number).error());
    return {determinant_into(a, *number), std::move(*number)};
  }
  /// The determinants of a batch [batch, n, n], into [batch].
  Call<void> determinants(const AnyArray& a, const AnyArray& out) const;

  // ---- factorizations ----

  /// p a = l u for a [m, n] of any shape. `lu` [m, n] holds both factors: l below the diagonal (the diagonal of l is
  /// all ones and not stored), u on and above it. For i from 0 upwards, row i was exchanged with row `pivots[i]`;
  /// pivots is i32, and as long as the lesser of m and n.
  Call<void> lu(const AnyArray& a, const AnyArray& lu, const AnyArray& pivots) const;
  /// a x = b, with the factors and pivots that `lu` gave for a square a.
  Call<void> lu_solve(const AnyArray& lu, const AnyArray& pivots, const AnyArray& b, const AnyArray& x) const;
  /// a = l l^H for a Hermitian positive definite a, of which only the lower triangle is read; zeros above l's diagonal.
  Call<void> cholesky(const AnyArray& a, const AnyArray& l) const;
  /// a x = b, with the l that `cholesky` gave for a.
  Call<void> cholesky_solve(const AnyArray& l, const AnyArray& b, const AnyArray& x) const;
  /// a = q r for a [m, n] of any shape: q [m, k] and r [k, n] with k the lesser of m and n, or q [m, m] and r [m, n].
  Call<void> qr(const AnyArray& a, const AnyArray& q, const AnyArray& r) const;
  /// a [m, n], b [m] or [m, k], x [n] or [n, k]. When a has more rows than columns: the x for which |a x - b| is least.
  /// When it has more columns: the smallest x with a x = b. `numerical_error` when columns (or rows) of a depend on
  /// each other, as far as the type can tell; use `svd` then.
  Call<void> least_squares(const AnyArray& a, const AnyArray& b, const AnyArray& x) const;

  // ---- singular values and eigenvalues ----

  /// a = u diag(s) vt for a [m, n]; s [k] is real and descending, where k is the lesser of m and n. Thin: u [m, k] and
  /// vt [k, n]. Full: u [m, m] and vt [n, n].
  Call<void> svd(const AnyArray& a, const AnyArray& u, const AnyArray& s, const AnyArray& vt,
                 SvdOptions options = {}) const;
  /// The singular values alone.
  Call<void> singular_values(const AnyArray& a, const AnyArray& s, SvdOptions options = {}) const;
  /// a v[:, i] = w[i] v[:, i] for a symmetric or Hermitian a, of which only the lower triangle is read; w is real and
  /// ascending.
  Call<void> eigh(const AnyArray& a, const AnyArray& w, const AnyArray& v) const;
  /// a v[:, i] = w[i] b v[:, i] with a positive definite b; v^H b v = 1.
  Call<void> eigh(const AnyArray& a, const AnyArray& b, const AnyArray& w, const AnyArray& v) const;
  /// The eigenvalues alone.
  Call<void> eigenvalues(const AnyArray& a, const AnyArray& w) const;
  Call<void> eigenvalues(const AnyArray& a, const AnyArray& b, const AnyArray& w) const;

 private:
  Call<void> determinant_into(const AnyArray& a, const AnyArray& out) const;

  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
