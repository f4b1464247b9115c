#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/cusparse_calls.hpp"

#include <string>

#include "troupe/backend/cuda/function_table.hpp"

namespace troupe::cuda::sparse_calls {
namespace {

Result<Table> open_table() {
  const Library library = TROUPE_TRY(Library::open({"libcusparse.so.13", "libcusparse.so.12"}));
  Table table;
  FunctionFinder finder(library);
  TROUPE_CUSPARSE_FUNCTIONS(TROUPE_FIND_FUNCTION)
  TROUPE_CUSPARSE_NEWER_FUNCTIONS(TROUPE_FIND_NEWER_FUNCTION)
  TROUPE_TRY(finder.status());
  return table;
}

}  // namespace

Result<const Table*> find_table() { return opened_once<open_table>(); }
const Table& table() { return **find_table(); }

Result<void> checked(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return {};
  const bool no_memory = status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
  const ErrorKind kind = no_memory                                 ? ErrorKind::out_of_memory
                         : status == CUSPARSE_STATUS_NOT_SUPPORTED ? ErrorKind::unsupported
                                                                   : ErrorKind::library_error;
  return fail(Error(kind, std::string(call) + " answered " + std::to_string(status),
                    ErrorOrigin{.library = "cusparse", .native_code = status}));
}

cudaDataType value_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::f64: return CUDA_R_64F;
    case DType::c64: return CUDA_C_32F;
    case DType::c128: return CUDA_C_64F;
    default: return CUDA_R_32F;
  }
}
cusparseOperation_t operation(op::Turn turn) noexcept {
  return turn == op::Turn::none        ? CUSPARSE_OPERATION_NON_TRANSPOSE
         : turn == op::Turn::transpose ? CUSPARSE_OPERATION_TRANSPOSE
                                       : CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}

Result<void> describe(const GpuCsr& csr, SparseMatrix& descriptor) {
  const cusparseIndexType_t index = csr.index_type == DType::i32 ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I;
  return TROUPE_CUSPARSE(cusparseCreateCsr, &descriptor.it, csr.rows, csr.columns, csr.stored, pointer(csr.offsets),
                         pointer(csr.indices), pointer(csr.values), index, index, CUSPARSE_INDEX_BASE_ZERO,
                         value_type(csr.dtype));
}
Result<void> describe(const GpuDense& dense, DType dtype, DenseVector& descriptor) {
  return TROUPE_CUSPARSE(cusparseCreateDnVec, &descriptor.it, dense.rows, pointer(dense.data), value_type(dtype));
}
Result<void> describe(const GpuDense& dense, DType dtype, DenseMatrix& descriptor) {
  return TROUPE_CUSPARSE(cusparseCreateDnMat, &descriptor.it, dense.rows, dense.columns, dense.leading,
                         pointer(dense.data), value_type(dtype),
                         dense.by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
}
Result<void> set_triangle(const SparseMatrix& matrix, op::StoredTriangle triangle) {
  cusparseFillMode_t fill = op::is_lower(triangle) ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
  cusparseDiagType_t diagonal = op::is_unit(triangle) ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
  TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpMatSetAttribute, matrix.it, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
  return TROUPE_CUSPARSE(cusparseSpMatSetAttribute, matrix.it, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal);
}

}  // namespace troupe::cuda::sparse_calls

#endif
