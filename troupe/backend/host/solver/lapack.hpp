// LAPACK's functions, found in the library that is open already (blas_library.hpp), for each of its four types. They
// are Fortran's: every argument is a pointer, matrices lie in columns, and behind the last argument comes the length of
// each text, which is a single letter here. Integers have 32 bits.
#pragma once

#include <complex>
#include <cstddef>
#include <type_traits>

#include "troupe/core/element.hpp"
#include "troupe/core/result.hpp"

namespace troupe::host {

template <class T>
struct Lapack {
  using R = detail::RealType<T>;
  using Int = const int*;
  using Letter = const char*;
  using Length = std::size_t;
  /// Some functions want more work space for complex numbers.
  template <class ForReal, class ForComplex>
  using ByType = std::conditional_t<detail::kIsComplex<T>, ForComplex, ForReal>;

  void (*getrf)(Int m, Int n, T* a, Int lda, int* pivots, int* info);
  void (*getrs)(Letter transpose, Int n, Int sides, const T* a, Int lda, Int pivots, T* b, Int ldb, int* info, Length);
  void (*getri)(Int n, T* a, Int lda, Int pivots, T* work, Int lwork, int* info);
  void (*potrf)(Letter triangle, Int n, T* a, Int lda, int* info, Length);
  void (*potrs)(Letter triangle, Int n, Int sides, const T* a, Int lda, T* b, Int ldb, int* info, Length);
  void (*geqrf)(Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork, int* info);
  void (*orgqr)(Int m, Int n, Int k, T* a, Int lda, const T* tau, T* work, Int lwork, int* info);
  void (*ormqr)(Letter side, Letter transpose, Int m, Int n, Int k, const T* a, Int lda, const T* tau, T* c, Int ldc,
                T* work, Int lwork, int* info, Length, Length);
  void (*trtrs)(Letter triangle, Letter transpose, Letter diagonal, Int n, Int sides, const T* a, Int lda, T* b,
                Int ldb, int* info, Length, Length, Length);
  ByType<void (*)(Letter job, Int m, Int n, T* a, Int lda, R* s, T* u, Int ldu, T* vt, Int ldvt, T* work, Int lwork,
                  int* iwork, int* info, Length),
         void (*)(Letter job, Int m, Int n, T* a, Int lda, R* s, T* u, Int ldu, T* vt, Int ldvt, T* work, Int lwork,
                  R* rwork, int* iwork, int* info, Length)>
      gesdd;
  ByType<void (*)(Letter accuracy, Letter job_u, Letter job_v, Letter range, Letter transpose, Letter perturb, Int m,
                  Int n, T* a, Int lda, R* s, T* u, Int ldu, T* v, Int ldv, T* work, Int lwork, int* iwork, int* info,
                  Length, Length, Length, Length, Length, Length),
         void (*)(Letter accuracy, Letter job_u, Letter job_v, Letter range, Letter transpose, Letter perturb, Int m,
                  Int n, T* a, Int lda, R* s, T* u, Int ldu, T* v, Int ldv, T* work, Int lwork, R* rwork, Int lrwork,
                  int* iwork, int* info, Length, Length, Length, Length, Length, Length)>
      gejsv;
  ByType<void (*)(Letter job, Letter triangle, Int n, T* a, Int lda, R* w, T* work, Int lwork, int* iwork, Int liwork,
                  int* info, Length, Length),
         void (*)(Letter job, Letter triangle, Int n, T* a, Int lda, R* w, T* work, Int lwork, R* rwork, Int lrwork,
                  int* iwork, Int liwork, int* info, Length, Length)>
      syevd;
  ByType<void (*)(Int type, Letter job, Letter triangle, Int n, T* a, Int lda, T* b, Int ldb, R* w, T* work, Int lwork,
                  int* iwork, Int liwork, int* info, Length, Length),
         void (*)(Int type, Letter job, Letter triangle, Int n, T* a, Int lda, T* b, Int ldb, R* w, T* work, Int lwork,
                  R* rwork, Int lrwork, int* iwork, Int liwork, int* info, Length, Length)>
      sygvd;
};

/// The functions for `T`: float, double or a complex of them. Found on the first call, from any thread. `unsupported`
/// names what is missing.
template <class T>
Result<const Lapack<T>*> lapack();

extern template Result<const Lapack<float>*> lapack<float>();
extern template Result<const Lapack<double>*> lapack<double>();
extern template Result<const Lapack<std::complex<float>>*> lapack<std::complex<float>>();
extern template Result<const Lapack<std::complex<double>>*> lapack<std::complex<double>>();

}  // namespace troupe::host
