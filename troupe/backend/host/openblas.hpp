// OpenBLAS, opened at run time: nothing of ours links it, and what needs it has loops of its own when it is not there.
// `TROUPE_OPENBLAS=/path/to/libopenblas.so.0` in the environment names another file, `TROUPE_OPENBLAS=none` goes
// without.
#pragma once

#include <string>

#include "troupe/core/result.hpp"

namespace troupe::host {

/// The functions we call, as cblas.h declares them (its enums are ints to a caller). All are thread-safe.
struct OpenBlas {
  static constexpr int kRowMajor = 101;
  static constexpr int kColumnMajor = 102;
  static constexpr int kNoTranspose = 111;
  static constexpr int kTranspose = 112;

  template <class Scalar, class In, class Out>
  using Gemm = void(int order, int transpose_a, int transpose_b, int m, int n, int k, Scalar alpha, const In* a,
                    int lda, const In* b, int ldb, Scalar beta, Out* c, int ldc);

  Gemm<float, float, float>* sgemm = nullptr;
  Gemm<double, double, double>* dgemm = nullptr;
  Gemm<const void*, void, void>* cgemm = nullptr;
  Gemm<const void*, void, void>* zgemm = nullptr;
  void (*set_num_threads)(int) = nullptr;
  int (*get_num_threads)() = nullptr;
  void* library = nullptr;  // for its other functions (lapack.hpp)
  std::string config;       // version, target and threading, in OpenBLAS's own words
};

/// The library of this process, or null when there is none. Opened on the first call, from any thread, and never
/// closed: its threads live as long as the process.
const OpenBlas* open_blas() noexcept;

/// What `open_blas` does on its first call, with the value of `TROUPE_OPENBLAS` (null when it is not set).
/// `unsupported` says what was tried and why that did not work.
Result<OpenBlas> load_open_blas(const char* choice);

}  // namespace troupe::host
