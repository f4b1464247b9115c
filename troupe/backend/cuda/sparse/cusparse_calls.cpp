#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/sparse/cusparse_calls.hpp"

namespace troupe::cuda::sparse_calls {

cusparseOperation_t operation(op::Transform transform) noexcept {
  return transform == op::Transform::none        ? CUSPARSE_OPERATION_NON_TRANSPOSE
         : transform == op::Transform::transpose ? CUSPARSE_OPERATION_TRANSPOSE
                                                 : CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}

Result<void> describe(const GpuCsr& csr, SparseMatrix& descriptor) {
  const cusparseIndexType_t index = csr.index_type == DType::i32 ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I;
  return cusparse().cusparseCreateCsr(&descriptor.it, csr.rows, csr.columns, csr.stored, pointer(csr.offsets),
                                      pointer(csr.indices), pointer(csr.values), index, index, CUSPARSE_INDEX_BASE_ZERO,
                                      data_type(csr.dtype));
}
Result<void> describe(const GpuDense& dense, DType dtype, DenseVector& descriptor) {
  return cusparse().cusparseCreateDnVec(&descriptor.it, dense.rows, pointer(dense.data), data_type(dtype));
}
Result<void> describe(const GpuDense& dense, DType dtype, DenseMatrix& descriptor) {
  return cusparse().cusparseCreateDnMat(&descriptor.it, dense.rows, dense.columns, dense.leading, pointer(dense.data),
                                        data_type(dtype), dense.by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
}
Result<void> set_triangle(const SparseMatrix& matrix, op::StoredTriangle triangle) {
  cusparseFillMode_t fill = op::is_lower(triangle) ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
  cusparseDiagType_t diagonal = op::is_unit(triangle) ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
  TROUPE_TRY(cusparse().cusparseSpMatSetAttribute(matrix.it, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
  return cusparse().cusparseSpMatSetAttribute(matrix.it, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal);
}

}  // namespace troupe::cuda::sparse_calls

#endif
