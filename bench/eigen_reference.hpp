// The references for sparse matrices on the host: Eigen in this process, with the matrices of sparse_sample.hpp where
// they are and room for the results made before the time counts, but for that of a sparse product, which Eigen makes
// itself. `kNotMeasured` in a build without Eigen.
#pragma once

namespace troupe::bench {

/// Times a vector, or a matrix of so many columns, in rows.
double eigen_multiply_ns(int rows, int columns, int count);
/// A lower triangle, for one right-hand side or so many, in rows.
double eigen_solve_ns(int rows, int columns, int count);
/// Rows of one dense matrix times columns of another, in columns, where the sparse one has elements.
double eigen_sample_ns(int rows, int columns, int count);
/// Times itself. Elements in order, like ours.
double eigen_product_ns(int rows, int count);
/// A round of conjugate gradients in f64 without a preconditioner, on the plate of plate_sample.hpp, by one thread.
double eigen_cg_round_ns(int side, int count);

}  // namespace troupe::bench
