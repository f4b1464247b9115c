// cuSPARSE as cusparse.cpp calls it: its functions in a table that is filled when they are first needed, since no CUDA
// library is ever linked; its descriptors with owners; our types as its own.
#pragma once

#include <cuda.h>
#include <cusparse.h>

#include <array>
#include <cstring>

#include "troupe/backend/cuda/cusparse.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::cuda::sparse_calls {

#define TROUPE_CUSPARSE_FUNCTIONS(each)                                                                                \
  each(cusparseCreate) each(cusparseDestroy) each(cusparseSetStream) each(cusparseCreateCsr)                           \
      each(cusparseCsrSetPointers) each(cusparseSpMatSetValues) each(cusparseSpMatSetAttribute)                        \
          each(cusparseSpMatGetSize) each(cusparseDestroySpMat) each(cusparseCreateDnVec) each(cusparseDnVecSetValues) \
              each(cusparseDestroyDnVec) each(cusparseCreateDnMat) each(cusparseDnMatSetValues)                        \
                  each(cusparseDestroyDnMat) each(cusparseSpMV_bufferSize) each(cusparseSpMV)                          \
                      each(cusparseSpMM_bufferSize) each(cusparseSpMM) each(cusparseSpSV_createDescr)                  \
                          each(cusparseSpSV_destroyDescr) each(cusparseSpSV_bufferSize) each(cusparseSpSV_analysis)    \
                              each(cusparseSpSV_solve) each(cusparseSpSM_createDescr) each(cusparseSpSM_destroyDescr)  \
                                  each(cusparseSpSM_bufferSize) each(cusparseSpSM_analysis) each(cusparseSpSM_solve)   \
                                      each(cusparseSDDMM_bufferSize) each(cusparseSDDMM)                               \
                                          each(cusparseCsr2cscEx2_bufferSize) each(cusparseCsr2cscEx2)                 \
                                              each(cusparseSpGEMM_createDescr) each(cusparseSpGEMM_destroyDescr)       \
                                                  each(cusparseSpGEMM_workEstimation) each(cusparseSpGEMM_compute)     \
                                                      each(cusparseSpGEMM_copy)

/// They came with later versions of CUDA 12; null where there are none.
#define TROUPE_CUSPARSE_NEWER_FUNCTIONS(each) \
  each(cusparseSpMV_preprocess) each(cusparseSpSV_updateMatrix) each(cusparseSpSM_updateMatrix)

struct Table {
#define TROUPE_CUSPARSE_FUNCTION(function) decltype(&::function) function = nullptr;
  TROUPE_CUSPARSE_FUNCTIONS(TROUPE_CUSPARSE_FUNCTION)
  TROUPE_CUSPARSE_NEWER_FUNCTIONS(TROUPE_CUSPARSE_FUNCTION)
#undef TROUPE_CUSPARSE_FUNCTION
};

/// `unsupported` when there is no cuSPARSE, with where it was looked for.
Result<const Table*> find_table();
/// For those who have a handle.
const Table& table();

Result<void> checked(cusparseStatus_t status, const char* call);

/// Calls a function of the table and checks what it answers.
#define TROUPE_CUSPARSE(function, ...) sparse_calls::checked(sparse_calls::table().function(__VA_ARGS__), #function)

/// A descriptor, destroyed by the function of the table that knows how.
template <class D, auto destroy>
struct Owned {
  D it = nullptr;
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (it) (void)(table().*destroy)(it);
  }
};
using SparseMatrix = Owned<cusparseSpMatDescr_t, &Table::cusparseDestroySpMat>;
using DenseVector = Owned<cusparseDnVecDescr_t, &Table::cusparseDestroyDnVec>;
using DenseMatrix = Owned<cusparseDnMatDescr_t, &Table::cusparseDestroyDnMat>;
using VectorSolve = Owned<cusparseSpSVDescr_t, &Table::cusparseSpSV_destroyDescr>;
using MatrixSolve = Owned<cusparseSpSMDescr_t, &Table::cusparseSpSM_destroyDescr>;
using Product = Owned<cusparseSpGEMMDescr_t, &Table::cusparseSpGEMM_destroyDescr>;

cudaDataType value_type(DType dtype) noexcept;
cusparseOperation_t operation(op::Turn turn) noexcept;
inline void* pointer(CUdeviceptr address) noexcept { return reinterpret_cast<void*>(address); }

/// A factor of the type that is computed with.
struct alignas(16) Factor {
  std::array<std::byte, 16> bytes{};
  Factor(const op::Scalar& scalar, DType dtype) noexcept {
    visit(dtype, [&]<class T>(std::type_identity<T>) {
      const auto converted = scalar.as<T>();
      std::memcpy(bytes.data(), &converted, sizeof converted);
    });
  }
  const void* data() const noexcept { return bytes.data(); }
};

Result<void> describe(const GpuCsr& csr, SparseMatrix& descriptor);
Result<void> describe(const GpuDense& dense, DType dtype, DenseVector& descriptor);
Result<void> describe(const GpuDense& dense, DType dtype, DenseMatrix& descriptor);
/// The triangle that a solve uses.
Result<void> set_triangle(const SparseMatrix& matrix, op::StoredTriangle triangle);

}  // namespace troupe::cuda::sparse_calls
