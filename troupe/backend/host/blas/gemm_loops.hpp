// Our own matrix product, for machines without a BLAS. The usual construction: panels of both matrices are packed
// into the order in which a small kernel reads them, one that keeps a few rows and columns of sums in vector registers.
// Every layout is packed the same way, so strides cost next to nothing.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "troupe/backend/host/kernels/matrix.hpp"
#include "troupe/core/result.hpp"

namespace troupe::host {

/// c = alpha a b + beta c for float, double and their complex types, with sums in that type. A beta of zero does not
/// read c. Needs matrices that fit together and nothing empty. `out_of_memory` when there is none for the panels, which
/// take at most 1.2 MiB.
template <class T>
Result<void> gemm_loops(T alpha, const Matrix& a, const Matrix& b, T beta, const Matrix& c);

extern template Result<void> gemm_loops(float, const Matrix&, const Matrix&, float, const Matrix&);
extern template Result<void> gemm_loops(double, const Matrix&, const Matrix&, double, const Matrix&);
extern template Result<void> gemm_loops(std::complex<float>, const Matrix&, const Matrix&, std::complex<float>,
                                        const Matrix&);
extern template Result<void> gemm_loops(std::complex<double>, const Matrix&, const Matrix&, std::complex<double>,
                                        const Matrix&);

}  // namespace troupe::host
