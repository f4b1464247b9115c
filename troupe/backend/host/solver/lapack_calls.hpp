// LAPACK's functions with packed matrices as arguments: this passes sizes, work space and the lengths of letters.
// Functions that can fail because of the numbers give LAPACK's `info`: 0 when all went well.
#pragma once

#include <vector>

#include "troupe/backend/host/kernels/packed.hpp"
#include "troupe/backend/host/solver/lapack.hpp"

namespace troupe::host {

template <class T>
class LapackCalls {
 public:
  using R = detail::RealType<T>;

  static Result<LapackCalls> make() { return LapackCalls(*TROUPE_TRY(lapack<T>())); }

  // ---- linear systems ----

  /// Pivots as LAPACK counts them, from 1.
  int lu(const Packed<T>& a, std::span<int> pivots) const {
    return call(f_.getrf, rows(a), columns(a), a.data(), leading(a), pivots.data());
  }
  /// b becomes x.
  int lu_solve(const Packed<T>& lu, std::span<const int> pivots, const Packed<T>& b) const {
    return call_with_letters<1>(f_.getrs, "N", rows(lu), columns(b), lu.data(), leading(lu), pivots.data(), b.data(),
                                leading(b));
  }
  /// lu becomes the inverse of what it was made from.
  Result<int> lu_invert(const Packed<T>& lu, std::span<const int> pivots) const {
    return with_work([&](T* work, const int* lwork) {
      return call(f_.getri, rows(lu), lu.data(), leading(lu), pivots.data(), work, lwork);
    });
  }
  /// Of the lower triangle.
  int cholesky(const Packed<T>& a) const { return cholesky("L", a.rows(), a.data(), a.leading()); }
  int cholesky(const char* triangle, int n, T* a, int leading_dimension) const {
    return call_with_letters<1>(f_.potrf, triangle, &n, a, &leading_dimension);
  }
  int cholesky_solve(const Packed<T>& l, const Packed<T>& b) const {
    return call_with_letters<1>(f_.potrs, "L", rows(l), columns(b), l.data(), leading(l), b.data(), leading(b));
  }

  // ---- QR ----

  /// a becomes r, above, and the reflectors that make up q.
  Result<void> qr(const Packed<T>& a, std::span<T> tau) const {
    return without_info(with_work([&](T* work, const int* lwork) {
      return call(f_.geqrf, rows(a), columns(a), a.data(), leading(a), tau.data(), work, lwork);
    }));
  }
  /// Reflectors in the first columns of q become q.
  Result<void> form_q(const Packed<T>& q, std::span<const T> tau) const {
    const int reflectors = static_cast<int>(tau.size());
    return without_info(with_work([&](T* work, const int* lwork) {
      return call(f_.orgqr, rows(q), columns(q), &reflectors, q.data(), leading(q), tau.data(), work, lwork);
    }));
  }
  /// c becomes q c, or q^H c.
  Result<void> apply_q(bool adjoint, const Packed<T>& reflectors, std::span<const T> tau, const Packed<T>& c) const {
    const char* const transpose = !adjoint ? "N" : detail::kIsComplex<T> ? "C" : "T";
    const int count = static_cast<int>(tau.size());
    return without_info(with_work([&](T* work, const int* lwork) {
      return call_with_letters<2>(f_.ormqr, "L", transpose, rows(c), columns(c), &count, reflectors.data(),
                                  leading(reflectors), tau.data(), c.data(), leading(c), work, lwork);
    }));
  }
  /// The first rows of b become those of r^-1 b, or of r^-H b, for the upper triangle in a.
  int solve_upper(bool adjoint, const Packed<T>& a, const Packed<T>& b) const {
    const int n = std::min(a.rows(), a.columns());
    return call_with_letters<3>(f_.trtrs, "U", adjoint ? "C" : "N", "N", &n, columns(b), a.data(), leading(a), b.data(),
                                leading(b));
  }

  // ---- singular values and eigenvalues ----

  /// By divide and conquer; u and vt may have no elements for the values only. a is destroyed.
  Result<int> svd(const Packed<T>& a, std::span<R> s, const Packed<T>& u, const Packed<T>& vt) const {
    const auto less = static_cast<std::size_t>(std::min(a.rows(), a.columns()));
    const auto more = static_cast<std::size_t>(std::max(a.rows(), a.columns()));
    const char* const job = u.elements().empty()                                   ? "N"
                            : u.columns() + vt.rows() > 2 * static_cast<int>(less) ? "A"
                                                                                   : "S";
    std::vector<int> iwork(8 * less + 1);
    std::vector<R> rwork(detail::kIsComplex<T> ? less * std::max(5 * less + 7, 2 * more + 2 * less + 1) + 1 : 0);
    return with_work([&](T* work, const int* lwork) {
      if constexpr (detail::kIsComplex<T>)
        return call_with_letters<1>(f_.gesdd, job, rows(a), columns(a), a.data(), leading(a), s.data(), u.data(),
                                    leading(u), vt.data(), leading(vt), work, lwork, rwork.data(), iwork.data());
      else
        return call_with_letters<1>(f_.gesdd, job, rows(a), columns(a), a.data(), leading(a), s.data(), u.data(),
                                    leading(u), vt.data(), leading(vt), work, lwork, iwork.data());
    });
  }

  /// By one-sided Jacobi rotations, for at least as many rows as columns and one column at least. u and v have no
  /// elements when the vectors are not wanted. a is destroyed.
  Result<int> jacobi(const Packed<T>& a, std::span<R> s, const Packed<T>& u, const Packed<T>& v) const {
    const char* const u_job = u.elements().empty() ? "N" : u.columns() == a.rows() ? "F" : "U";
    const char* const v_job = u.elements().empty() ? "N" : "V";
    const int m = a.rows();
    const int n = a.columns();
    constexpr int kBlock = 64;  // the most that LAPACK takes at a time
    const std::int64_t wanted =
        std::int64_t{2} * n * n + std::int64_t{6 + kBlock} * n + std::int64_t{2 + kBlock} * m + 7;
    if (wanted > std::numeric_limits<int>::max()) return too_much_work();
    const int lwork = static_cast<int>(wanted);
    const int lrwork = 2 * (m + n) + 7;
    std::vector<T> work(static_cast<std::size_t>(lwork));
    std::vector<R> rwork(detail::kIsComplex<T> ? static_cast<std::size_t>(lrwork) : 0);
    std::vector<int> iwork(static_cast<std::size_t>(m + 3 * n + 4));
    const auto run = [&](auto&&... workspace) {
      return call_with_letters<6>(f_.gejsv, "C", u_job, v_job, "N", "N", "N", &m, &n, a.data(), leading(a), s.data(),
                                  u.data(), leading(u), v.data(), leading(v), work.data(), &lwork, workspace...,
                                  iwork.data());
    };
    int info = 0;
    R scale = 1;  // of the values, when they would not have fitted
    if constexpr (detail::kIsComplex<T>) {
      info = run(rwork.data(), &lrwork);
      scale = rwork[0] / rwork[1];
    } else {
      info = run();
      scale = work[0] / work[1];
    }
    for (R& value : s) value *= scale;
    return info;
  }

  /// a becomes the vectors; `b` is null or a matrix, which is destroyed.
  Result<int> eigh(const Packed<T>& a, const Packed<T>* b, std::span<R> w, bool wants_vectors) const {
    const char* const job = wants_vectors ? "V" : "N";
    const int type = 1;
    const auto n = static_cast<std::size_t>(a.rows());
    const std::vector<std::size_t> sizes{detail::kIsComplex<T> ? 2 * n + n * n : 1 + 6 * n + 2 * n * n,
                                         detail::kIsComplex<T> ? 1 + 5 * n + 2 * n * n : 0, 3 + 5 * n};
    std::vector<T> work(sizes[0] + 1);
    std::vector<R> rwork(sizes[1]);
    std::vector<int> iwork(sizes[2]);
    const int lwork = static_cast<int>(work.size());
    const int lrwork = static_cast<int>(rwork.size());
    const int liwork = static_cast<int>(iwork.size());
    const auto run = [&](auto&&... workspace) {
      if (b)
        return call_with_letters<2>(f_.sygvd, &type, job, "L", rows(a), a.data(), leading(a), b->data(), leading(*b),
                                    w.data(), workspace...);
      return call_with_letters<2>(f_.syevd, job, "L", rows(a), a.data(), leading(a), w.data(), workspace...);
    };
    if constexpr (detail::kIsComplex<T>)
      return run(work.data(), &lwork, rwork.data(), &lrwork, iwork.data(), &liwork);
    else
      return run(work.data(), &lwork, iwork.data(), &liwork);
  }

 private:
  explicit LapackCalls(const Lapack<T>& functions) noexcept : f_(functions) {}

  /// An extent where Fortran can read it, for the length of the call.
  struct ByReference {
    int value;
    operator const int*() const noexcept { return &value; }  // NOLINT(google-explicit-constructor)
  };
  static ByReference rows(const Packed<T>& m) noexcept { return {m.rows()}; }
  static ByReference columns(const Packed<T>& m) noexcept { return {m.columns()}; }
  static ByReference leading(const Packed<T>& m) noexcept { return {m.leading()}; }

  template <class Function, class... Arguments>
  static int call(Function* function, const Arguments&... arguments) {
    int info = 0;
    function(arguments..., &info);
    return info;
  }
  template <int letters, class Function, class... Arguments>
  static int call_with_letters(Function* function, const Arguments&... arguments) {
    constexpr std::size_t kLength = 1;
    int info = 0;
    if constexpr (letters == 1)
      function(arguments..., &info, kLength);
    else if constexpr (letters == 2)
      function(arguments..., &info, kLength, kLength);
    else if constexpr (letters == 3)
      function(arguments..., &info, kLength, kLength, kLength);
    else
      function(arguments..., &info, kLength, kLength, kLength, kLength, kLength, kLength);
    return info;
  }

  static Unexpected too_much_work() {
    return fail(ErrorKind::unsupported, "LAPACK cannot count the work space for so large a matrix");
  }
  /// Asks `f` how much work space it wants, and calls it with that.
  template <class F>
  static Result<int> with_work(F&& f) {
    constexpr int kQuery = -1;
    T best{};
    if (const int info = f(&best, &kQuery); info != 0) return info;
    // The number comes as a T, and may have been rounded down.
    const double wanted = static_cast<double>(std::real(best)) * (1 + std::numeric_limits<R>::epsilon()) + 1;
    if (wanted > std::numeric_limits<int>::max()) return too_much_work();
    const int lwork = static_cast<int>(wanted);
    const Scratch work = TROUPE_TRY(make_scratch(lwork * static_cast<std::int64_t>(sizeof(T))));
    return f(reinterpret_cast<T*>(work.get()), &lwork);
  }
  /// For functions whose `info` can only complain about arguments.
  static Result<void> without_info(const Result<int>& info) {
    if (!info) return fail(info.error());
    if (*info == 0) return {};
    return fail(ErrorKind::internal, "LAPACK refuses argument " + std::to_string(-*info));
  }

  const Lapack<T>& f_;
};

}  // namespace troupe::host
