// Our side of the rows of linear algebra, on any device: nanoseconds for one op, there and back, that a plain thread
// waits for. One device and one worker, without a standby. What fails is thrown.
#pragma once

#include <string>

#include "bench/einsum_cases.hpp"
#include "bench/sparse_sample.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {

class LinearOurs {
 public:
  enum class Layout { in_rows, in_columns };

  explicit LinearOurs(const std::string& device);
  ~LinearOurs();
  LinearOurs(const LinearOurs&) = delete;
  LinearOurs& operator=(const LinearOurs&) = delete;

  /// Square matrices of f16 or bf16, into the same type.
  double gemm_ns(DType dtype, int n, int count);
  double batched_gemm_ns(int batch, int n, int count);
  /// gelu(x w^T + bias) into bf16.
  double layer_ns(DType dtype, int n, int count);
  /// "abcd,cdef->abef", every extent of that size.
  double einsum_ns(int extent, int count);
  /// By the engine that was measured to be the fastest. NaN where there is no cuTENSOR.
  double measured_einsum_ns(const EinsumCase& einsum, int count);

  /// Of arrays that lie in rows, as usual, or in columns, as the libraries like them.
  double lu_ns(int n, int count, Layout layout = Layout::in_rows);
  double cholesky_ns(int n, int count, Layout layout = Layout::in_rows);
  double svd_ns(int n, int count);
  double batched_qr_ns(int batch, int n, int count);

  /// The sample of sparse_sample.hpp times a vector, or a matrix of so many columns.
  double sparse_multiply_ns(int columns, int count, int rows = kSparseRows);
  /// Its lower triangle, for one right-hand side, or so many.
  double sparse_solve_ns(int rows, int columns, int count);
  /// [rows, columns] times [columns, rows], where the sample has elements.
  double sparse_sample_ns(int rows, int columns, int count);
  /// Times itself.
  double sparse_product_ns(int rows, int count);
  /// A round of conjugate gradients in f64, on the plate of plate_sample.hpp.
  double cg_round_ns(int side, int count);
  /// The same, each step of it an op of a scope.
  double cg_round_by_scope_ns(int side, int count);

 private:
  template <class Sample>
  SparseMatrix matrix_of(const Sample& sample) const;
  static Shape dense_shape(int rows, int columns) { return columns == 1 ? Shape{rows} : Shape{rows, columns}; }
  /// Of numbers at random, in any type.
  template <class T = float>
  Array<T> numbers(const Shape& shape, std::uint32_t seed) const;

  System system_;
  Device device_;
};

}  // namespace troupe::bench
