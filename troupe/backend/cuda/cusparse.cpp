#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/cusparse.hpp"

#include <array>
#include <cstring>
#include <string>

#include "troupe/backend/cuda/function_table.hpp"
#include "troupe/backend/cuda/op_tools.hpp"

namespace troupe::cuda {
namespace {

#define TROUPE_CUSPARSE_FUNCTIONS(each)                                                                             \
  each(cusparseCreate) each(cusparseDestroy) each(cusparseSetStream) each(cusparseCreateCsr)                        \
      each(cusparseCsrSetPointers) each(cusparseSpMatSetAttribute) each(cusparseSpMatGetSize)                       \
          each(cusparseDestroySpMat) each(cusparseCreateDnVec) each(cusparseDestroyDnVec) each(cusparseCreateDnMat) \
              each(cusparseDestroyDnMat) each(cusparseSpMV_bufferSize) each(cusparseSpMV)                           \
                  each(cusparseSpMM_bufferSize) each(cusparseSpMM) each(cusparseSpSV_createDescr)                   \
                      each(cusparseSpSV_destroyDescr) each(cusparseSpSV_bufferSize) each(cusparseSpSV_analysis)     \
                          each(cusparseSpSV_solve) each(cusparseSpSM_createDescr) each(cusparseSpSM_destroyDescr)   \
                              each(cusparseSpSM_bufferSize) each(cusparseSpSM_analysis) each(cusparseSpSM_solve)    \
                                  each(cusparseSDDMM_bufferSize) each(cusparseSDDMM)                                \
                                      each(cusparseCsr2cscEx2_bufferSize) each(cusparseCsr2cscEx2)                  \
                                          each(cusparseSpGEMM_createDescr) each(cusparseSpGEMM_destroyDescr)        \
                                              each(cusparseSpGEMM_workEstimation) each(cusparseSpGEMM_compute)      \
                                                  each(cusparseSpGEMM_copy)

/// The functions we call.
struct Table {
#define TROUPE_CUSPARSE_FUNCTION(function) decltype(&::function) function = nullptr;
  TROUPE_CUSPARSE_FUNCTIONS(TROUPE_CUSPARSE_FUNCTION)
#undef TROUPE_CUSPARSE_FUNCTION
};

Result<Table> open_table() {
  const Library library = TROUPE_TRY(Library::open({"libcusparse.so.13", "libcusparse.so.12"}));
  Table table;
  FunctionFinder finder(library);
  TROUPE_CUSPARSE_FUNCTIONS(TROUPE_FIND_FUNCTION)
  TROUPE_TRY(finder.status());
  return table;
}

Result<const Table*> find_table() { return opened_once<open_table>(); }
/// For those who have a handle.
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

/// Calls a function of the table and checks what it answers.
#define TROUPE_CUSPARSE(function, ...) checked(table().function(__VA_ARGS__), #function)

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
void* pointer(CUdeviceptr address) noexcept { return reinterpret_cast<void*>(address); }

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
/// The same memory, read in the other order.
GpuDense transposed(const GpuDense& m) noexcept {
  return {m.data, m.columns, m.rows, m.leading, !m.by_rows, m.is_vector};
}

/// Buffers up to this size lie in memory that is kept: to allocate and free one costs a small product a microsecond.
constexpr std::uint64_t kKeptBytes = std::uint64_t{4} << 20;

/// Memory for one call.
class Buffer {
 public:
  static Result<Buffer> of(std::uint64_t size_bytes, std::optional<OwnMemory>& kept, const LaneTools& on) {
    if (size_bytes > kKeptBytes) return Buffer(TROUPE_TRY(on.scratch(size_bytes)));
    if (!kept) kept.emplace(TROUPE_TRY(OwnMemory::allocate(on.context(), kKeptBytes, false)));
    return Buffer(kept->base());
  }
  void* data() const noexcept { return pointer(scratch_ ? scratch_->address() : kept_); }

 private:
  explicit Buffer(CUdeviceptr kept) noexcept : kept_(kept) {}
  explicit Buffer(StreamScratch scratch) noexcept : scratch_(std::move(scratch)) {}
  CUdeviceptr kept_ = 0;
  std::optional<StreamScratch> scratch_;
};

Result<void> set_triangle(const SparseMatrix& matrix, op::StoredTriangle triangle) {
  cusparseFillMode_t fill = op::is_lower(triangle) ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
  cusparseDiagType_t diagonal = op::is_unit(triangle) ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
  TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpMatSetAttribute, matrix.it, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
  return TROUPE_CUSPARSE(cusparseSpMatSetAttribute, matrix.it, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal);
}

}  // namespace

Result<std::unique_ptr<Cusparse>> Cusparse::create(CUstream stream) {
  const Table& functions = *TROUPE_TRY(find_table());
  cusparseHandle_t handle = nullptr;
  TROUPE_TRY(checked(functions.cusparseCreate(&handle), "cusparseCreate"));
  std::unique_ptr<Cusparse> made(new Cusparse(handle));
  TROUPE_TRY(checked(functions.cusparseSetStream(handle, stream), "cusparseSetStream"));
  return made;
}

Cusparse::~Cusparse() { (void)table().cusparseDestroy(handle_); }

Result<void> Cusparse::multiply(const LaneTools& on, const op::Scalar& alpha, const GpuCsr& a, op::Turn turn,
                                const GpuDense& x, const op::Scalar& beta, const GpuDense& y) {
  const Factor by_alpha(alpha, a.dtype);
  const Factor by_beta(beta, a.dtype);
  const cudaDataType type = value_type(a.dtype);
  const cusparseOperation_t turned = operation(turn);
  SparseMatrix matrix;
  TROUPE_TRY(describe(a, matrix));
  std::size_t bytes = 0;
  if (x.is_vector) {
    DenseVector in;
    DenseVector out;
    TROUPE_TRY(describe(x, a.dtype, in));
    TROUPE_TRY(describe(y, a.dtype, out));
    TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpMV_bufferSize, handle_, turned, by_alpha.data(), matrix.it, in.it,
                               by_beta.data(), out.it, type, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    const Buffer buffer = TROUPE_TRY(Buffer::of(bytes, kept_, on));
    return TROUPE_CUSPARSE(cusparseSpMV, handle_, turned, by_alpha.data(), matrix.it, in.it, by_beta.data(), out.it,
                           type, CUSPARSE_SPMV_ALG_DEFAULT, buffer.data());
  }
  // Both dense matrices in one order: x is read as its transpose where it lies the other way.
  const bool alike = x.by_rows == y.by_rows;
  const cusparseOperation_t turned_x = alike ? CUSPARSE_OPERATION_NON_TRANSPOSE : CUSPARSE_OPERATION_TRANSPOSE;
  DenseMatrix in;
  DenseMatrix out;
  TROUPE_TRY(describe(alike ? x : transposed(x), a.dtype, in));
  TROUPE_TRY(describe(y, a.dtype, out));
  TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpMM_bufferSize, handle_, turned, turned_x, by_alpha.data(), matrix.it, in.it,
                             by_beta.data(), out.it, type, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
  const Buffer buffer = TROUPE_TRY(Buffer::of(bytes, kept_, on));
  return TROUPE_CUSPARSE(cusparseSpMM, handle_, turned, turned_x, by_alpha.data(), matrix.it, in.it, by_beta.data(),
                         out.it, type, CUSPARSE_SPMM_ALG_DEFAULT, buffer.data());
}

Result<void> Cusparse::solve(const LaneTools& on, const op::Scalar& alpha, const GpuCsr& a, op::Turn turn,
                             op::StoredTriangle triangle, const GpuDense& b, const GpuDense& x) {
  const Factor by_alpha(alpha, a.dtype);
  const cudaDataType type = value_type(a.dtype);
  const cusparseOperation_t turned = operation(turn);
  SparseMatrix matrix;
  TROUPE_TRY(describe(a, matrix));
  TROUPE_TRY(set_triangle(matrix, triangle));
  std::size_t bytes = 0;
  if (b.is_vector) {
    DenseVector in;
    DenseVector out;
    VectorSolve solve;
    TROUPE_TRY(describe(b, a.dtype, in));
    TROUPE_TRY(describe(x, a.dtype, out));
    TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpSV_createDescr, &solve.it));
    TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpSV_bufferSize, handle_, turned, by_alpha.data(), matrix.it, in.it, out.it,
                               type, CUSPARSE_SPSV_ALG_DEFAULT, solve.it, &bytes));
    const Buffer buffer = TROUPE_TRY(Buffer::of(bytes, kept_, on));
    TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpSV_analysis, handle_, turned, by_alpha.data(), matrix.it, in.it, out.it, type,
                               CUSPARSE_SPSV_ALG_DEFAULT, solve.it, buffer.data()));
    return TROUPE_CUSPARSE(cusparseSpSV_solve, handle_, turned, by_alpha.data(), matrix.it, in.it, out.it, type,
                           CUSPARSE_SPSV_ALG_DEFAULT, solve.it);
  }
  constexpr cusparseOperation_t kAsItIs = CUSPARSE_OPERATION_NON_TRANSPOSE;
  DenseMatrix in;
  DenseMatrix out;
  MatrixSolve solve;
  TROUPE_TRY(describe(b, a.dtype, in));
  TROUPE_TRY(describe(x, a.dtype, out));
  TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpSM_createDescr, &solve.it));
  TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpSM_bufferSize, handle_, turned, kAsItIs, by_alpha.data(), matrix.it, in.it,
                             out.it, type, CUSPARSE_SPSM_ALG_DEFAULT, solve.it, &bytes));
  const Buffer buffer = TROUPE_TRY(Buffer::of(bytes, kept_, on));
  TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpSM_analysis, handle_, turned, kAsItIs, by_alpha.data(), matrix.it, in.it, out.it,
                             type, CUSPARSE_SPSM_ALG_DEFAULT, solve.it, buffer.data()));
  return TROUPE_CUSPARSE(cusparseSpSM_solve, handle_, turned, kAsItIs, by_alpha.data(), matrix.it, in.it, out.it, type,
                         CUSPARSE_SPSM_ALG_DEFAULT, solve.it);
}

Result<void> Cusparse::sddmm(const LaneTools& on, const op::Scalar& alpha, const GpuDense& a, const GpuDense& b,
                             const op::Scalar& beta, const GpuCsr& c) {
  constexpr cusparseOperation_t kAsItIs = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const Factor by_alpha(alpha, c.dtype);
  const Factor by_beta(beta, c.dtype);
  const cudaDataType type = value_type(c.dtype);
  SparseMatrix out;
  DenseMatrix left;
  DenseMatrix right;
  TROUPE_TRY(describe(c, out));
  TROUPE_TRY(describe(a, c.dtype, left));
  TROUPE_TRY(describe(b, c.dtype, right));
  std::size_t bytes = 0;
  TROUPE_TRY(TROUPE_CUSPARSE(cusparseSDDMM_bufferSize, handle_, kAsItIs, kAsItIs, by_alpha.data(), left.it, right.it,
                             by_beta.data(), out.it, type, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
  const Buffer buffer = TROUPE_TRY(Buffer::of(bytes, kept_, on));
  return TROUPE_CUSPARSE(cusparseSDDMM, handle_, kAsItIs, kAsItIs, by_alpha.data(), left.it, right.it, by_beta.data(),
                         out.it, type, CUSPARSE_SDDMM_ALG_DEFAULT, buffer.data());
}

Result<void> Cusparse::transpose(const LaneTools& on, const GpuCsr& from, const GpuCsr& to) {
  const auto rows = static_cast<int>(from.rows);
  const auto columns = static_cast<int>(from.columns);
  const auto stored = static_cast<int>(from.stored);
  const auto ints = [](CUdeviceptr address) { return static_cast<int*>(pointer(address)); };
  std::size_t bytes = 0;
  TROUPE_TRY(TROUPE_CUSPARSE(cusparseCsr2cscEx2_bufferSize, handle_, rows, columns, stored, pointer(from.values),
                             ints(from.offsets), ints(from.indices), pointer(to.values), ints(to.offsets),
                             ints(to.indices), value_type(from.dtype), CUSPARSE_ACTION_NUMERIC,
                             CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG_DEFAULT, &bytes));
  const Buffer buffer = TROUPE_TRY(Buffer::of(bytes, kept_, on));
  return TROUPE_CUSPARSE(cusparseCsr2cscEx2, handle_, rows, columns, stored, pointer(from.values), ints(from.offsets),
                         ints(from.indices), pointer(to.values), ints(to.offsets), ints(to.indices),
                         value_type(from.dtype), CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                         CUSPARSE_CSR2CSC_ALG_DEFAULT, buffer.data());
}

Result<std::int64_t> Cusparse::product(const LaneTools& on, const GpuCsr& a, const GpuCsr& b, const GpuCsr* c) {
  constexpr cusparseOperation_t kAsItIs = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const Factor one(op::Scalar(1.0), a.dtype);
  const Factor zero(op::Scalar(0.0), a.dtype);
  const cudaDataType type = value_type(a.dtype);
  SparseMatrix left;
  SparseMatrix right;
  SparseMatrix out;
  Product product;
  TROUPE_TRY(describe(a, left));
  TROUPE_TRY(describe(b, right));
  // How many elements it has is what the steps find out; its offsets must be somewhere from the start.
  const StreamScratch offsets =
      TROUPE_TRY(on.scratch(c ? 0 : static_cast<std::uint64_t>(a.rows + 1) * sizeof(std::int32_t)));
  const GpuCsr unknown{
      .rows = a.rows, .columns = b.columns, .offsets = c ? c->offsets : offsets.address(), .dtype = a.dtype};
  TROUPE_TRY(describe(unknown, out));
  TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpGEMM_createDescr, &product.it));
  // Each step is called twice: for the size of its buffer, and with the buffer, which stays until the last step.
  const auto estimate = [&](std::size_t* bytes, void* buffer) {
    return TROUPE_CUSPARSE(cusparseSpGEMM_workEstimation, handle_, kAsItIs, kAsItIs, one.data(), left.it, right.it,
                           zero.data(), out.it, type, CUSPARSE_SPGEMM_DEFAULT, product.it, bytes, buffer);
  };
  const auto compute = [&](std::size_t* bytes, void* buffer) {
    return TROUPE_CUSPARSE(cusparseSpGEMM_compute, handle_, kAsItIs, kAsItIs, one.data(), left.it, right.it,
                           zero.data(), out.it, type, CUSPARSE_SPGEMM_DEFAULT, product.it, bytes, buffer);
  };
  std::size_t bytes = 0;
  TROUPE_TRY(estimate(&bytes, nullptr));
  const StreamScratch first = TROUPE_TRY(on.scratch(bytes));
  TROUPE_TRY(estimate(&bytes, first.data()));
  TROUPE_TRY(compute(&bytes, nullptr));
  const StreamScratch second = TROUPE_TRY(on.scratch(bytes));
  TROUPE_TRY(compute(&bytes, second.data()));
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stored = 0;
  TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpMatGetSize, out.it, &rows, &columns, &stored));
  if (!c) return stored;
  if (stored != c->stored)
    return fail(ErrorKind::internal, "a product that had " + std::to_string(c->stored) + " elements has " +
                                         std::to_string(stored) + " by now");
  TROUPE_TRY(
      TROUPE_CUSPARSE(cusparseCsrSetPointers, out.it, pointer(c->offsets), pointer(c->indices), pointer(c->values)));
  TROUPE_TRY(TROUPE_CUSPARSE(cusparseSpGEMM_copy, handle_, kAsItIs, kAsItIs, one.data(), left.it, right.it, zero.data(),
                             out.it, type, CUSPARSE_SPGEMM_DEFAULT, product.it));
  return stored;
}

}  // namespace troupe::cuda

#endif
