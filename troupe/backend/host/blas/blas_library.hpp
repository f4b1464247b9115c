// The BLAS of this process, opened at run time: nothing of ours links one, and what needs it has loops of its own when
// there is none. It is the first of the libraries we know (math_library.hpp) that is there, has all functions we call
// and multiplies right. `TROUPE_BLAS` in the environment names another: a word (openblas, mkl, armpl, blis), a file, or
// `none` to go without.
#pragma once

#include <complex>
#include <memory>
#include <string>
#include <vector>

#include "troupe/backend/host/blas/math_library.hpp"
#include "troupe/core/element.hpp"
#include "troupe/core/result.hpp"

namespace troupe::host {

/// A factor as cblas takes it: real ones by value, complex ones by address.
template <class T>
using CblasFactor = std::conditional_t<detail::kIsComplex<T>, const T*, T>;

/// The functions we call for one type, as cblas.h declares them (its enums are ints to a caller, and its `void*` are
/// pointers to complex numbers). All are thread-safe.
template <class T>
struct Cblas {
  using F = CblasFactor<T>;
  using Real = detail::RealType<T>;

  void (*gemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, F alpha, const T* a, int lda,
               const T* b, int ldb, F beta, T* c, int ldc);
  void (*gemv)(int order, int transpose, int m, int n, F alpha, const T* a, int lda, const T* x, int incx, F beta, T* y,
               int incy);
  void (*symm)(int order, int side, int triangle, int m, int n, F alpha, const T* a, int lda, const T* b, int ldb,
               F beta, T* c, int ldc);
  void (*hemm)(int order, int side, int triangle, int m, int n, F alpha, const T* a, int lda, const T* b, int ldb,
               F beta, T* c, int ldc);
  void (*syrk)(int order, int triangle, int transpose, int n, int k, F alpha, const T* a, int lda, F beta, T* c,
               int ldc);
  void (*herk)(int order, int triangle, int transpose, int n, int k, Real alpha, const T* a, int lda, Real beta, T* c,
               int ldc);
  void (*syr2k)(int order, int triangle, int transpose, int n, int k, F alpha, const T* a, int lda, const T* b, int ldb,
                F beta, T* c, int ldc);
  void (*her2k)(int order, int triangle, int transpose, int n, int k, F alpha, const T* a, int lda, const T* b, int ldb,
                Real beta, T* c, int ldc);
  void (*trmm)(int order, int side, int triangle, int transpose, int diagonal, int m, int n, F alpha, const T* a,
               int lda, T* b, int ldb);
  void (*trsm)(int order, int side, int triangle, int transpose, int diagonal, int m, int n, F alpha, const T* a,
               int lda, T* b, int ldb);
  T (*dot)(int n, const T* x, int incx, const T* y, int incy);                  // real ones
  void (*dotu_sub)(int n, const T* x, int incx, const T* y, int incy, T* out);  // complex ones
  void (*dotc_sub)(int n, const T* x, int incx, const T* y, int incy, T* out);
  Real (*nrm2)(int n, const T* x, int incx);
  Real (*asum)(int n, const T* x, int incx);
  std::size_t (*iamax)(int n, const T* x, int incx);
  std::size_t (*iamin)(int n, const T* x, int incx);  // null where the library has none
  void (*scal)(int n, F alpha, T* x, int incx);
  void (*swap)(int n, T* x, int incx, T* y, int incy);
};

struct BlasLibrary {
  static constexpr int kRowMajor = 101;
  static constexpr int kColumnMajor = 102;
  static constexpr int kNoTranspose = 111;
  static constexpr int kTranspose = 112;
  static constexpr int kConjugateTranspose = 113;
  static constexpr int kConjugate = 114;  // needs `conjugates()`
  static constexpr int kUpper = 121;
  static constexpr int kLower = 122;
  static constexpr int kNonUnit = 131;
  static constexpr int kUnit = 132;
  static constexpr int kLeft = 141;

  Cblas<float> s{};
  Cblas<double> d{};
  Cblas<std::complex<float>> c{};
  Cblas<std::complex<double>> z{};
  std::shared_ptr<MathLibrary> library;
  /// Where the functions of lapack.hpp are: in the same library, or in another one when that has none. Null when there
  /// are none anywhere; `lapack_problem` says why.
  std::shared_ptr<MathLibrary> lapack;
  std::string lapack_problem;

  bool conjugates() const noexcept { return library->conjugates(); }
  template <class T>
  const Cblas<T>& of() const noexcept {
    if constexpr (std::same_as<T, float>)
      return s;
    else if constexpr (std::same_as<T, double>)
      return d;
    else if constexpr (std::same_as<T, std::complex<float>>)
      return c;
    else
      return z;
  }
  template <class T>
  static CblasFactor<T> factor(const T& number) noexcept {
    if constexpr (detail::kIsComplex<T>)
      return &number;
    else
      return number;
  }
};

/// The library of this process. Opened on the first call, from any thread, and never closed: its threads live as long
/// as the process. `unsupported` when there is none, for good; `out_of_memory` when it is there and there was no memory
/// or descriptor to open it: the next call tries again.
Result<const BlasLibrary*> try_open_blas();
/// The same, or null.
const BlasLibrary* open_blas() noexcept;

/// A library that was tried before the one that is used, and why it is not used.
struct PassedOver {
  std::string name;
  std::string reason;
};
/// What these do on their first call, with the value of `TROUPE_BLAS` (null when it is not set). The error says what
/// was tried and why that did not work; `passed` is given the same one by one, also when another one was found.
Result<BlasLibrary> load_blas(const char* choice, std::vector<PassedOver>* passed = nullptr);

}  // namespace troupe::host
