#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/cublas.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "troupe/backend/cuda/cuda_memory.hpp"
#include "troupe/backend/cuda/library.hpp"

namespace troupe::cuda {
namespace {

#define TROUPE_CUBLAS_FUNCTIONS(each) \
  each(cublasCreate) each(cublasDestroy) each(cublasSetStream) each(cublasGemmEx_64) each(cublasGemmStridedBatchedEx_64)

/// The functions we call, by their names in the header, which makes macros of some for their newest version.
struct Table {
#define TROUPE_CUBLAS_FUNCTION(function) decltype(&::function) function = nullptr;
  TROUPE_CUBLAS_FUNCTIONS(TROUPE_CUBLAS_FUNCTION)
#undef TROUPE_CUBLAS_FUNCTION
};

#define TROUPE_NAME_OF(function) TROUPE_NAME_OF_EXPANDED(function)
#define TROUPE_NAME_OF_EXPANDED(function) #function

Result<Table> open_table() {
  const Library library = TROUPE_TRY(Library::open({"libcublas.so.13", "libcublas.so.12"}));
  Table table;
  std::string missing;
#define TROUPE_CUBLAS_FUNCTION(function)                                                               \
  table.function = reinterpret_cast<decltype(table.function)>(library.find(TROUPE_NAME_OF(function))); \
  if (!table.function) missing += (missing.empty() ? "" : ", ") + std::string(TROUPE_NAME_OF(function));
  TROUPE_CUBLAS_FUNCTIONS(TROUPE_CUBLAS_FUNCTION)
#undef TROUPE_CUBLAS_FUNCTION
  if (!missing.empty()) return fail(ErrorKind::unsupported, library.path() + " is too old: it lacks " + missing);
  return table;
}

/// Opened once, and never closed. When that fails, for want of memory perhaps, the next call tries again.
Result<const Table*> find_table() {
  try {
    static const Table kTable = value(open_table());
    return &kTable;
  } catch (const Exception& exception) {
    return fail(exception.error());
  }
}

/// For those who have a handle.
const Table& table() { return **find_table(); }

Result<void> checked(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  const ErrorKind kind = status == CUBLAS_STATUS_ALLOC_FAILED    ? ErrorKind::out_of_memory
                         : status == CUBLAS_STATUS_NOT_SUPPORTED ? ErrorKind::unsupported
                                                                 : ErrorKind::library_error;
  return fail(Error(kind, std::string(call) + " answered " + std::to_string(status),
                    ErrorOrigin{.library = "cublas", .native_code = status}));
}

struct GemmType {
  cudaDataType_t data;
  cublasComputeType_t compute;
};
std::optional<GemmType> gemm_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::f64: return GemmType{CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case DType::f32: return GemmType{CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case DType::f16: return GemmType{CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case DType::bf16: return GemmType{CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case DType::c64: return GemmType{CUDA_C_32F, CUBLAS_COMPUTE_32F};
    case DType::c128: return GemmType{CUDA_C_64F, CUBLAS_COMPUTE_64F};
    default: return std::nullopt;
  }
}

/// A factor as cuBLAS wants it: of the type it computes in.
using Factor = std::array<std::byte, 16>;
Factor factor(const op::Scalar& scalar, DType dtype) noexcept {
  const auto bytes_of = [](auto value) {
    Factor bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  };
  switch (dtype) {
    case DType::f64: return bytes_of(scalar.as<double>());
    case DType::c64: return bytes_of(scalar.as<std::complex<float>>());
    case DType::c128: return bytes_of(scalar.as<std::complex<double>>());
    default: return bytes_of(scalar.as<float>());
  }
}

/// How cuBLAS, which thinks in columns, is told of a matrix.
struct ByColumns {
  cublasOperation_t operation;
  std::int64_t leading;
};
std::optional<ByColumns> by_columns(const Matrix& m) noexcept {
  const auto fits = [](std::int64_t near, std::int64_t near_extent, std::int64_t far, std::int64_t far_extent) {
    return (near == 1 || near_extent <= 1) && (far >= near_extent || far_extent <= 1) && far >= 0;
  };
  if (fits(m.row_stride, m.rows, m.column_stride, m.columns))
    return ByColumns{CUBLAS_OP_N, std::max({m.column_stride, m.rows, std::int64_t{1}})};
  if (fits(m.column_stride, m.columns, m.row_stride, m.rows))
    return ByColumns{CUBLAS_OP_T, std::max({m.row_stride, m.columns, std::int64_t{1}})};
  return std::nullopt;
}

Matrix transposed(const Matrix& m) noexcept {
  return {m.data, m.dtype, m.columns, m.rows, m.column_stride, m.row_stride};
}

}  // namespace

Result<std::unique_ptr<Cublas>> Cublas::create(CUstream stream) {
  const Table& functions = *TROUPE_TRY(find_table());
  cublasHandle_t handle = nullptr;
  TROUPE_TRY(checked(functions.cublasCreate(&handle), "cublasCreate"));
  std::unique_ptr<Cublas> made(new Cublas(handle));
  TROUPE_TRY(checked(functions.cublasSetStream(handle, stream), "cublasSetStream"));
  return made;
}

Cublas::~Cublas() { (void)table().cublasDestroy(handle_); }

Result<void> Cublas::load_usual_kernels(const CudaContext& context) {
  constexpr std::array<std::int64_t, 2> kSizes{64, 1024};
  constexpr std::uint64_t kBytes = 16 * 1024 * 1024;  // the largest of them, of the largest type
  const Driver& driver = context.driver();
  CUstream stream = nullptr;
  TROUPE_TRY(TROUPE_CUDA(driver, cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, 0));
  Result<void> loaded;
  {
    const OwnMemory scratch = TROUPE_TRY(OwnMemory::allocate(context, 3 * kBytes, false));
    const std::unique_ptr<Cublas> handle = TROUPE_TRY(create(stream));
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::c64, DType::c128})
      for (const std::int64_t n : kSizes) {
        const auto square = [&](std::uint64_t which) {
          return Matrix{scratch.base() + which * kBytes, dtype, n, n, n, 1};
        };
        if (loaded) loaded = handle->gemm(op::Scalar(1.0), op::Scalar(0.0), square(0), square(1), square(2));
      }
  }  // the memory is freed when all that uses it is done
  TROUPE_TRY(TROUPE_CUDA(driver, cuStreamDestroy, stream));
  return loaded;
}

bool Cublas::can_multiply(const Matrix& a, const Matrix& b, const Matrix& c) noexcept {
  return gemm_type(c.dtype) && by_columns(a) && by_columns(b) && by_columns(c);
}

Result<void> Cublas::gemm(const op::Scalar& alpha, const op::Scalar& beta, const Matrix& a, const Matrix& b,
                          const Matrix& c) {
  const ByColumns result = *by_columns(c);
  if (result.operation == CUBLAS_OP_T) return gemm(alpha, beta, transposed(b), transposed(a), transposed(c));
  const GemmType type = *gemm_type(c.dtype);
  const ByColumns left = *by_columns(a);
  const ByColumns right = *by_columns(b);
  alignas(16) const Factor alpha_here = factor(alpha, c.dtype);
  alignas(16) const Factor beta_here = factor(beta, c.dtype);
  const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
  return checked(table().cublasGemmEx_64(handle_, left.operation, right.operation, c.rows, c.columns, a.columns,
                                         alpha_here.data(), pointer(a.data), type.data, left.leading, pointer(b.data),
                                         type.data, right.leading, beta_here.data(), pointer(c.data), type.data,
                                         result.leading, type.compute, CUBLAS_GEMM_DEFAULT),
                 "cublasGemmEx");
}

Result<void> Cublas::gemm_batched(const op::Scalar& alpha, const op::Scalar& beta, const Matrix& a, const Matrix& b,
                                  const Matrix& c, const Batch& batch) {
  if (batch.count == 1) return gemm(alpha, beta, a, b, c);
  const ByColumns result = *by_columns(c);
  if (result.operation == CUBLAS_OP_T)
    return gemm_batched(alpha, beta, transposed(b), transposed(a), transposed(c),
                        {batch.count, batch.b, batch.a, batch.c});
  const GemmType type = *gemm_type(c.dtype);
  const ByColumns left = *by_columns(a);
  const ByColumns right = *by_columns(b);
  alignas(16) const Factor alpha_here = factor(alpha, c.dtype);
  alignas(16) const Factor beta_here = factor(beta, c.dtype);
  const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
  return checked(
      table().cublasGemmStridedBatchedEx_64(
          handle_, left.operation, right.operation, c.rows, c.columns, a.columns, alpha_here.data(), pointer(a.data),
          type.data, left.leading, batch.a, pointer(b.data), type.data, right.leading, batch.b, beta_here.data(),
          pointer(c.data), type.data, result.leading, batch.c, batch.count, type.compute, CUBLAS_GEMM_DEFAULT),
      "cublasGemmStridedBatchedEx");
}

}  // namespace troupe::cuda

#endif
