// The references for linear algebra on the host: LAPACK called directly in this process, without turning a matrix
// round, with its work space made before the time counts; what works in place gets a copy of its matrix each time. NaN
// where there is no OpenBLAS.
#pragma once

#include "bench/sparse_sample.hpp"

namespace troupe::bench {

double direct_lu_ns(int n, int count);
double direct_cholesky_ns(int n, int count);
double direct_svd_ns(int n, int count);
/// Of square matrices, in rows.
double direct_gemm_ns(int n, int count);
/// A plain loop over the sample of sparse_sample.hpp, times a vector.
double direct_sparse_multiply_ns(int rows, int count);

}  // namespace troupe::bench
