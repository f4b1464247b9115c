#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/blas/cublas.hpp"

#include <algorithm>
#include <utility>

#include "troupe/backend/cuda/memory/cuda_memory.hpp"

namespace troupe::cuda {
namespace {

struct GemmType {
  cudaDataType_t in;
  cudaDataType_t out;
  cublasComputeType_t compute;
};
std::optional<GemmType> gemm_type(DType dtype, DType out, Compute compute) noexcept {
  const cudaDataType_t type = data_type(dtype);
  switch (dtype) {
    case DType::f64:
    case DType::c128: return GemmType{type, type, CUBLAS_COMPUTE_64F};
    case DType::f32:
      return GemmType{type, type, compute == Compute::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
    case DType::f16:
    case DType::bf16: return GemmType{type, out == DType::f32 ? CUDA_R_32F : type, CUBLAS_COMPUTE_32F};
    case DType::c64: return GemmType{type, type, CUBLAS_COMPUTE_32F};
    case DType::i8: return GemmType{type, CUDA_R_32I, CUBLAS_COMPUTE_32I};
    default: return std::nullopt;
  }
}

/// Types with functions of their own, which have less to look at than those for all types.
bool has_own_gemm(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::c64 || dtype == DType::c128;
}

/// cuBLAS multiplies i8 four by four.
bool is_aligned_for(const Matrix& m) noexcept {
  if (m.dtype != DType::i8) return true;
  const std::optional<ByColumns> told = by_columns(m);
  return told && told->leading % 4 == 0 && m.data % 4 == 0;
}

/// Of a matrix that is transposed or not: what cuBLAS calls it. None for conjugated only, which it has not.
std::optional<cublasOperation_t> operation(bool transposes, bool conjugates) noexcept {
  if (!transposes) return conjugates ? std::nullopt : std::optional(CUBLAS_OP_N);
  return conjugates ? CUBLAS_OP_C : CUBLAS_OP_T;
}

bool fits(std::int64_t near, std::int64_t near_extent, std::int64_t far, std::int64_t far_extent) noexcept {
  return (near == 1 || near_extent <= 1) && (far >= near_extent || far_extent <= 1) && far >= 0;
}

/// A stream beside those of the lanes, destroyed in the end.
class OwnStream {
 public:
  static Result<OwnStream> make(const Driver& driver) {
    OwnStream made(driver);
    TROUPE_TRY(TROUPE_CUDA(driver, cuStreamCreateWithPriority, &made.stream_, CU_STREAM_NON_BLOCKING, 0));
    return made;
  }
  OwnStream(OwnStream&& other) noexcept : driver_(other.driver_), stream_(std::exchange(other.stream_, nullptr)) {}
  OwnStream& operator=(OwnStream&&) = delete;
  ~OwnStream() {
    if (stream_) (void)TROUPE_CUDA(driver_, cuStreamDestroy, stream_);
  }
  CUstream get() const noexcept { return stream_; }

 private:
  explicit OwnStream(const Driver& driver) noexcept : driver_(driver) {}
  const Driver& driver_;
  CUstream stream_ = nullptr;
};

}  // namespace

bool lies_by_columns(const Matrix& m) noexcept { return fits(m.row_stride, m.rows, m.column_stride, m.columns); }

std::optional<ByColumns> by_columns(const Matrix& m) noexcept {
  if (lies_by_columns(m)) return ByColumns{false, std::max({m.column_stride, m.rows, std::int64_t{1}})};
  if (lies_by_columns(m.transposed())) return ByColumns{true, std::max({m.row_stride, m.columns, std::int64_t{1}})};
  return std::nullopt;
}

Result<std::unique_ptr<Cublas>> Cublas::create(CUstream stream) {
  const CublasTable& functions = *TROUPE_TRY(find_table<CublasTable>());
  cublasHandle_t handle = nullptr;
  TROUPE_TRY(functions.cublasCreate(&handle));
  std::unique_ptr<Cublas> made(new Cublas(handle));
  TROUPE_TRY(functions.cublasSetStream(handle, stream));
  // Parts of a sum are joined in what is computed in: a product of small floats is rounded once.
  TROUPE_TRY(functions.cublasSetMathMode(
      handle, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
  return made;
}

Cublas::~Cublas() { (void)cublas().cublasDestroy(handle_); }

Result<void> Cublas::load_usual_kernels(const CudaContext& context) {
  constexpr std::array<std::int64_t, 2> kSizes{64, 1024};
  constexpr std::uint64_t kBytes = 16 * 1024 * 1024;  // the largest of them, of the largest type
  const OwnStream stream = TROUPE_TRY(OwnStream::make(context.driver()));
  const OwnMemory scratch = TROUPE_TRY(OwnMemory::allocate(context, 3 * kBytes, false));
  const std::unique_ptr<Cublas> handle = TROUPE_TRY(create(stream.get()));
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::c64, DType::c128})
    for (const std::int64_t n : kSizes) {
      const auto square = [&](std::uint64_t which) {
        return Matrix{scratch.base() + which * kBytes, dtype, n, n, n, 1};
      };
      TROUPE_TRY(handle->gemm(op::Scalar(1.0), op::Scalar(0.0), square(0), square(1), square(2)));
    }
  return {};  // the memory is freed when all that uses it is done
}

bool Cublas::can_multiply(const Matrix& a, const Matrix& b, const Matrix& c, const ProductKind& kind) noexcept {
  const std::optional<ByColumns> result = by_columns(c);
  if (!result) return false;
  if (result->transposes)  // as `gemm` does it: from the transposes of the others
    return can_multiply(b.transposed(), a.transposed(), c.transposed(),
                        {kind.compute, kind.conjugates_b, kind.conjugates_a});
  const std::optional<ByColumns> left = by_columns(a);
  const std::optional<ByColumns> right = by_columns(b);
  if (!gemm_type(a.dtype, c.dtype, kind.compute) || !left || !right) return false;
  if (!is_aligned_for(a) || !is_aligned_for(b)) return false;
  return operation(left->transposes, kind.conjugates_a) && operation(right->transposes, kind.conjugates_b);
}

Result<void> Cublas::gemm(const op::Scalar& alpha, const op::Scalar& beta, const Matrix& a, const Matrix& b,
                          const Matrix& c, const ProductKind& kind, const Batch& batch) {
  const ByColumns result = *by_columns(c);
  if (result.transposes)
    return gemm(alpha, beta, b.transposed(), a.transposed(), c.transposed(),
                {kind.compute, kind.conjugates_b, kind.conjugates_a},
                {batch.count, batch.stride_b, batch.stride_a, batch.stride_c});
  const GemmType type = *gemm_type(a.dtype, c.dtype, kind.compute);
  const ByColumns left = *by_columns(a);
  const ByColumns right = *by_columns(b);
  const cublasOperation_t left_op = *operation(left.transposes, kind.conjugates_a);
  const cublasOperation_t right_op = *operation(right.transposes, kind.conjugates_b);
  const LibraryFactor by_alpha(alpha, a.dtype);
  const LibraryFactor by_beta(beta, a.dtype);
  if (kind.compute == Compute::standard && has_own_gemm(a.dtype)) {
    Result<void> done;
    visit(a.dtype, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::same_as<T, float> || std::same_as<T, double> || detail::kIsComplex<T>) {
        const auto at = [](CUdeviceptr address) { return reinterpret_cast<CudaType<T>*>(address); };
        const auto factor = [](const LibraryFactor& by) { return static_cast<const CudaType<T>*>(by.data()); };
        if (batch.count == 1)
          done = troupe::cuda::gemm<T>(cublas())(handle_, left_op, right_op, c.rows, c.columns, a.columns,
                                                 factor(by_alpha), at(a.data), left.leading, at(b.data), right.leading,
                                                 factor(by_beta), at(c.data), result.leading);
        else
          done = gemm_strided_batched<T>(cublas())(handle_, left_op, right_op, c.rows, c.columns, a.columns,
                                                   factor(by_alpha), at(a.data), left.leading, batch.stride_a,
                                                   at(b.data), right.leading, batch.stride_b, factor(by_beta),
                                                   at(c.data), result.leading, batch.stride_c, batch.count);
      }
    });
    return done;
  }
  if (batch.count == 1)
    return cublas().cublasGemmEx_64(handle_, left_op, right_op, c.rows, c.columns, a.columns, by_alpha.data(),
                                    pointer(a.data), type.in, left.leading, pointer(b.data), type.in, right.leading,
                                    by_beta.data(), pointer(c.data), type.out, result.leading, type.compute,
                                    CUBLAS_GEMM_DEFAULT);
  return cublas().cublasGemmStridedBatchedEx_64(
      handle_, left_op, right_op, c.rows, c.columns, a.columns, by_alpha.data(), pointer(a.data), type.in, left.leading,
      batch.stride_a, pointer(b.data), type.in, right.leading, batch.stride_b, by_beta.data(), pointer(c.data),
      type.out, result.leading, batch.stride_c, batch.count, type.compute, CUBLAS_GEMM_DEFAULT);
}

Result<void> Cublas::gemm_at(const op::Scalar& alpha, const op::Scalar& beta, const Matrix& a, const Matrix& b,
                             const Matrix& c, Compute compute, CUdeviceptr pointers_a, CUdeviceptr pointers_b,
                             CUdeviceptr pointers_c, std::int64_t count) {
  const ByColumns result = *by_columns(c);
  if (result.transposes)
    return gemm_at(alpha, beta, b.transposed(), a.transposed(), c.transposed(), compute, pointers_b, pointers_a,
                   pointers_c, count);
  const GemmType type = *gemm_type(a.dtype, c.dtype, compute);
  const ByColumns left = *by_columns(a);
  const ByColumns right = *by_columns(b);
  const LibraryFactor by_alpha(alpha, a.dtype);
  const LibraryFactor by_beta(beta, a.dtype);
  const auto all = [](CUdeviceptr pointers) { return reinterpret_cast<void**>(pointers); };
  return cublas().cublasGemmBatchedEx_64(
      handle_, *operation(left.transposes, false), *operation(right.transposes, false), c.rows, c.columns, a.columns,
      by_alpha.data(), all(pointers_a), type.in, left.leading, all(pointers_b), type.in, right.leading, by_beta.data(),
      all(pointers_c), type.out, result.leading, count, type.compute, CUBLAS_GEMM_DEFAULT);
}

}  // namespace troupe::cuda

#endif
