// cuSPARSE as cusparse.cpp calls it: its descriptors with owners, so that none is left behind when a call fails, and
// our types as its own.
#pragma once

#include <cuda.h>

#include "troupe/backend/cuda/driver/cuda_types.hpp"
#include "troupe/backend/cuda/sparse/cusparse.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::cuda::sparse_calls {

/// A descriptor, destroyed by the function of the table that knows how.
template <class D, auto destroy>
struct Owned {
  D it = nullptr;
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (it) (void)(cusparse().*destroy)(it);
  }
};
using SparseMatrix = Owned<cusparseSpMatDescr_t, &CusparseTable::cusparseDestroySpMat>;
using DenseVector = Owned<cusparseDnVecDescr_t, &CusparseTable::cusparseDestroyDnVec>;
using DenseMatrix = Owned<cusparseDnMatDescr_t, &CusparseTable::cusparseDestroyDnMat>;
using VectorSolve = Owned<cusparseSpSVDescr_t, &CusparseTable::cusparseSpSV_destroyDescr>;
using MatrixSolve = Owned<cusparseSpSMDescr_t, &CusparseTable::cusparseSpSM_destroyDescr>;
using Product = Owned<cusparseSpGEMMDescr_t, &CusparseTable::cusparseSpGEMM_destroyDescr>;

cusparseOperation_t operation(op::Transform transform) noexcept;

Result<void> describe(const GpuCsr& csr, SparseMatrix& descriptor);
Result<void> describe(const GpuDense& dense, DType dtype, DenseVector& descriptor);
Result<void> describe(const GpuDense& dense, DType dtype, DenseMatrix& descriptor);
/// The triangle that a solve uses.
Result<void> set_triangle(const SparseMatrix& matrix, op::StoredTriangle triangle);

}  // namespace troupe::cuda::sparse_calls
