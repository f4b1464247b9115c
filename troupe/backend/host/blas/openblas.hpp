// OpenBLAS, opened at run time: nothing of ours links it, and what needs it has loops of its own when it is not there.
// `TROUPE_OPENBLAS=/path/to/libopenblas.so.0` in the environment names another file, `TROUPE_OPENBLAS=none` goes
// without.
#pragma once

#include <complex>
#include <string>

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
  std::size_t (*iamin)(int n, const T* x, int incx);
  void (*scal)(int n, F alpha, T* x, int incx);
  void (*swap)(int n, T* x, int incx, T* y, int incy);
};

struct OpenBlas {
  static constexpr int kRowMajor = 101;
  static constexpr int kColumnMajor = 102;
  static constexpr int kNoTranspose = 111;
  static constexpr int kTranspose = 112;
  static constexpr int kConjugateTranspose = 113;
  static constexpr int kConjugate = 114;  // OpenBLAS's own
  static constexpr int kUpper = 121;
  static constexpr int kLower = 122;
  static constexpr int kNonUnit = 131;
  static constexpr int kUnit = 132;
  static constexpr int kLeft = 141;

  Cblas<float> s{};
  Cblas<double> d{};
  Cblas<std::complex<float>> c{};
  Cblas<std::complex<double>> z{};
  void (*set_num_threads)(int) = nullptr;
  int (*get_num_threads)() = nullptr;
  void* library = nullptr;  // for its other functions (lapack.hpp)
  std::string config;       // version, target and threading, in OpenBLAS's own words

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
Result<const OpenBlas*> try_open_blas();
/// The same, or null.
const OpenBlas* open_blas() noexcept;

/// What these do on their first call, with the value of `TROUPE_OPENBLAS` (null when it is not set). The error says
/// what was tried and why that did not work.
Result<OpenBlas> load_open_blas(const char* choice);

}  // namespace troupe::host
