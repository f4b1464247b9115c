#if TROUPE_CUDA_BACKEND

// The ops on matrices of which one half is meant: symm, syrk, trmm, trsm. cuBLAS is called if all matrices lie as it
// wants them; if not, the half is written out as a whole matrix first, and the op is a product of whole matrices.
#include "troupe/backend/cuda/blas/blas_arguments.hpp"
#include "troupe/backend/cuda/blas/blas_kernels.hpp"
#include "troupe/backend/cuda/blas/blas_ops.hpp"

namespace troupe::cuda {
namespace {

Triangle other(Triangle triangle) noexcept { return triangle == Triangle::lower ? Triangle::upper : Triangle::lower; }
cublasFillMode_t flag(Triangle triangle) noexcept {
  return triangle == Triangle::lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}

template <class T>
CudaType<T>* data(const Matrix& m) noexcept {
  return reinterpret_cast<CudaType<T>*>(m.data);
}
template <class T>
const CudaType<T>* data(const LibraryFactor& factor) noexcept {
  return static_cast<const CudaType<T>*>(factor.data());
}

HalfMatrix half_of(const Matrix& m, Triangle triangle, HalfMeaning meaning, bool conjugates = false) noexcept {
  return {.matrix = {pointer(m.data), m.row_stride, m.column_stride},
          .size = m.rows,
          .meaning = meaning,
          .is_lower = triangle == Triangle::lower,
          .conjugates = conjugates};
}

/// The whole matrix that one half of `a` stands for.
Result<OwnMatrix> written_out(const LaneTools& on, const Matrix& a, Triangle triangle, HalfMeaning meaning,
                              bool conjugates = false) {
  OwnMatrix whole = TROUPE_TRY(make_matrix(on, a.dtype, a.rows, a.columns));
  HalfMatrix half = half_of(a, triangle, meaning, conjugates);
  CUdeviceptr out = whole.matrix.data;
  std::array<void*, 2> arguments{&half, &out};
  TROUPE_TRY(on.launch(TROUPE_TRY(on.kernel(BlasKernel::write_out, a.dtype)), a.rows * a.columns, arguments));
  return whole;
}

Result<void> check_shape(std::string_view op, const op::View& view, DType dtype, std::int64_t rows,
                         std::int64_t columns) {
  if (view.shape.rank() == 2 && view.dtype == dtype && view.shape[0] == rows && view.shape[1] == columns) return {};
  return fail(ErrorKind::invalid_argument, std::string(op) + ": a matrix " + view.shape.to_string() + " of " +
                                               std::string(name(view.dtype)) + " does not fit the others");
}
Result<void> check_rank_2(std::string_view op, const op::View& view) {
  if (view.shape.rank() == 2) return {};
  return fail(ErrorKind::invalid_argument, std::string(op) + " takes matrices; this is " + view.shape.to_string());
}

// ---- symm ----

/// False when cuBLAS has no function for these layouts.
template <class T>
Result<bool> call_symm(const op::Symm& op, const LaneTools& on, const Matrix& a, const Matrix& b, const Matrix& c) {
  const std::optional<ByColumns> in_a = by_columns(a);
  if (!in_a) return false;
  const bool hermitian = op.hermitian && detail::kIsComplex<T>;
  const cublasHandle_t handle = TROUPE_TRY(on.handle<Cublas>())->handle();
  for (const bool by_rows : {false, true}) {
    // By rows, it is c^T = b^T a^T, whose matrices lie by columns.
    const Matrix result = by_rows ? c.transposed() : c;
    const Matrix factor = by_rows ? b.transposed() : b;
    const Matrix special = by_rows ? a.transposed() : a;
    if (!lies_by_columns(result) || !lies_by_columns(factor)) continue;
    const bool same = lies_by_columns(special);
    if (!same && hermitian) continue;  // the transpose of a Hermitian matrix is another one
    const Triangle triangle = by_rows == same ? other(op.triangle) : op.triangle;
    const LibraryFactor alpha(op.alpha, a.dtype);
    const LibraryFactor beta(op.beta, a.dtype);
    const auto call = [&](const auto& function) {
      return function(handle, by_rows ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT, flag(triangle), result.rows,
                      result.columns, data<T>(alpha), data<T>(a), in_a->leading, data<T>(b),
                      by_columns(factor)->leading, data<T>(beta), data<T>(c), by_columns(result)->leading);
    };
    if constexpr (detail::kIsComplex<T>)
      if (hermitian) {
        TROUPE_TRY(call(hemm<T>(cublas())));
        return true;
      }
    TROUPE_TRY(call(symm<T>(cublas())));
    return true;
  }
  return false;
}

// ---- syrk ----

template <class T>
Result<bool> call_syrk(const op::Syrk& op, const LaneTools& on, const Matrix& a, const Matrix& b, const Matrix& c) {
  const bool hermitian = op.hermitian && detail::kIsComplex<T>;
  const std::optional<ByColumns> in_c = by_columns(c);
  const std::optional<ByColumns> in_a = by_columns(a);
  const std::optional<ByColumns> in_b = by_columns(b);
  if (!in_c || !in_a || !in_b || in_a->transposes != in_b->transposes || a.columns == 0) return false;
  // A result that lies by rows is one by columns whose halves are exchanged, and of a Hermitian one the conjugate: then
  // all of them must lie by rows.
  if (hermitian && in_c->transposes != in_a->transposes) return false;
  const Triangle triangle = in_c->transposes ? other(op.triangle) : op.triangle;
  const cublasOperation_t operation = !in_a->transposes ? CUBLAS_OP_N : hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
  auto factor = op.alpha.as<std::complex<double>>();
  if (hermitian && in_c->transposes) factor = std::conj(factor);
  const LibraryFactor alpha(op::Scalar(factor), a.dtype);
  const LibraryFactor beta(op.beta, a.dtype);
  const cublasHandle_t handle = TROUPE_TRY(on.handle<Cublas>())->handle();
  const std::int64_t n = c.rows;
  const std::int64_t k = a.columns;
  if constexpr (detail::kIsComplex<T>) {
    using Real = detail::RealType<T>;
    const Real real_alpha = std::real(op.alpha.as<T>());
    const Real real_beta = std::real(op.beta.as<T>());
    if (hermitian && op.has_b) {
      TROUPE_TRY(her2k<T>(cublas())(handle, flag(triangle), operation, n, k, data<T>(alpha), data<T>(a), in_a->leading,
                                    data<T>(b), in_b->leading, &real_beta, data<T>(c), in_c->leading));
      return true;
    }
    if (hermitian) {
      TROUPE_TRY(herk<T>(cublas())(handle, flag(triangle), operation, n, k, &real_alpha, data<T>(a), in_a->leading,
                                   &real_beta, data<T>(c), in_c->leading));
      return true;
    }
  }
  if (op.has_b)
    TROUPE_TRY(syr2k<T>(cublas())(handle, flag(triangle), operation, n, k, data<T>(alpha), data<T>(a), in_a->leading,
                                  data<T>(b), in_b->leading, data<T>(beta), data<T>(c), in_c->leading));
  else
    TROUPE_TRY(syrk<T>(cublas())(handle, flag(triangle), operation, n, k, data<T>(alpha), data<T>(a), in_a->leading,
                                 data<T>(beta), data<T>(c), in_c->leading));
  return true;
}

/// The whole product, of which one half is kept.
Result<void> syrk_by_gemm(const op::Syrk& op, const LaneTools& on, const Matrix& a, const Matrix& b, const Matrix& c) {
  const bool hermitian = op.hermitian && is_complex(c.dtype);
  const OwnMatrix product = TROUPE_TRY(make_matrix(on, c.dtype, c.rows, c.columns));
  const ProductKind second{.conjugates_b = hermitian};
  TROUPE_TRY(multiply(on, op.alpha, op::Scalar(0.0), a, b.transposed(), product.matrix, second));
  if (op.has_b) {
    auto alpha = op.alpha.as<std::complex<double>>();
    if (hermitian) alpha = std::conj(alpha);
    TROUPE_TRY(multiply(on, op::Scalar(alpha), op::Scalar(1.0), b, a.transposed(), product.matrix, second));
  }
  CUdeviceptr from = product.matrix.data;
  Bytes16 beta = factor_bytes(op.beta, c.dtype);
  bool reads_c = !op::is_zero(op.beta);
  HalfMatrix half = half_of(c, op.triangle, hermitian ? HalfMeaning::hermitian : HalfMeaning::symmetric);
  std::array<void*, 4> arguments{&from, &beta, &reads_c, &half};
  return on.launch(TROUPE_TRY(on.kernel(BlasKernel::keep_half, c.dtype)), c.rows * c.columns, arguments);
}

// ---- triangular ----

/// out = a out, or a^-1 out, times alpha, where it lies; false when cuBLAS has no function for these layouts.
template <class T>
Result<bool> call_triangular(const op::Triangular& op, const LaneTools& on, const Matrix& a, const Matrix& out) {
  const std::optional<ByColumns> in_a = by_columns(a);
  const std::optional<ByColumns> in_out = by_columns(out);
  if (!in_a || !in_out) return false;
  // Of one that lies by rows the transpose is computed: out^T = out^T a^T.
  const bool by_rows = in_out->transposes;
  const bool transposes = in_a->transposes != by_rows;
  if (op.conjugates_a && !transposes) return false;
  const Matrix result = by_rows ? out.transposed() : out;
  const Triangle triangle = in_a->transposes ? other(op.triangle) : op.triangle;
  const cublasOperation_t operation = !transposes ? CUBLAS_OP_N : op.conjugates_a ? CUBLAS_OP_C : CUBLAS_OP_T;
  const cublasSideMode_t side = by_rows ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
  const cublasDiagType_t diagonal = op.unit_diagonal ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  const LibraryFactor alpha(op.alpha, a.dtype);
  const cublasHandle_t handle = TROUPE_TRY(on.handle<Cublas>())->handle();
  if (op.solves)
    TROUPE_TRY(trsm<T>(cublas())(handle, side, flag(triangle), operation, diagonal, result.rows, result.columns,
                                 data<T>(alpha), data<T>(a), in_a->leading, data<T>(out), in_out->leading));
  else
    TROUPE_TRY(trmm<T>(cublas())(handle, side, flag(triangle), operation, diagonal, result.rows, result.columns,
                                 data<T>(alpha), data<T>(a), in_a->leading, data<T>(out), in_out->leading, data<T>(out),
                                 in_out->leading));
  return true;
}

Result<void> find_zero(const LaneTools& on, const Matrix& a, CUdeviceptr verdict) {
  StridedMatrix matrix{pointer(a.data), a.row_stride, a.column_stride};
  long long size = a.rows;
  std::array<void*, 3> arguments{&matrix, &size, &verdict};
  return TROUPE_CUDA(on.driver(), cuLaunchKernel, TROUPE_TRY(on.kernel(BlasKernel::find_zero, a.dtype)), 1, 1, 1, 256,
                     1, 1, 0, on.stream(), arguments.data(), nullptr);
}

template <class T>
Result<void> run_triangular(const op::Triangular& op, const LaneTools& on, const Matrix& a, const Matrix& b,
                            const Matrix& out) {
  if (by_columns(out)) {
    TROUPE_TRY(copy(on, b, out));
    if (TROUPE_TRY(call_triangular<T>(op, on, a, out))) return {};
  }
  const HalfMeaning meaning = op.unit_diagonal ? HalfMeaning::unit_triangular : HalfMeaning::triangular;
  const OwnMatrix whole = TROUPE_TRY(written_out(on, a, op.triangle, meaning, op.conjugates_a));
  if (!op.solves) return multiply(on, op.alpha, op::Scalar(0.0), whole.matrix, b, out);
  const OwnMatrix solution = TROUPE_TRY(make_matrix(on, out.dtype, out.rows, out.columns));
  TROUPE_TRY(copy(on, b, solution.matrix));
  op::Triangular plain = op;
  plain.conjugates_a = false;
  TROUPE_TRY(call_triangular<T>(plain, on, whole.matrix, solution.matrix));
  return copy(on, solution.matrix, out);
}

template <class T>
Result<void> run_symm(const op::Symm& op, const LaneTools& on, const Matrix& a, const Matrix& b, const Matrix& c) {
  if (TROUPE_TRY(call_symm<T>(op, on, a, b, c))) return {};
  const OwnMatrix whole =
      TROUPE_TRY(written_out(on, a, op.triangle, op.hermitian ? HalfMeaning::hermitian : HalfMeaning::symmetric));
  return multiply(on, op.alpha, op.beta, whole.matrix, b, c);
}

template <class T>
Result<void> run_syrk(const op::Syrk& op, const LaneTools& on, const Matrix& a, const Matrix& b, const Matrix& c) {
  if (TROUPE_TRY(call_syrk<T>(op, on, a, b, c))) return {};
  return syrk_by_gemm(op, on, a, b, c);
}

/// For an operand that has been multiplied by 0 already.
template <class Op>
Op with_alpha_one(Op op) {
  op.alpha = op::Scalar(1.0);
  return op;
}

}  // namespace

Result<void> run_op(const op::Symm& op, const LaneTools& on) {
  TROUPE_TRY(check_rank_2("symm", op.c));
  TROUPE_TRY(check_shape("symm", op.a, op.c.dtype, op.c.shape[0], op.c.shape[0]));
  TROUPE_TRY(check_shape("symm", op.b, op.c.dtype, op.c.shape[0], op.c.shape[1]));
  if (op::element_count(op.c) == 0) return {};
  return visit_four("symm", op.c.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const Matrix a = on.matrix(op.a);
    const Matrix b = on.matrix(op.b);
    const Matrix c = on.matrix(op.c);
    if (op::is_zero(op.alpha)) {
      const OwnMatrix zeros = TROUPE_TRY(times_zero(on, b));
      return run_symm<T>(with_alpha_one(op), on, a, zeros.matrix, c);
    }
    return run_symm<T>(op, on, a, b, c);
  });
}

Result<void> run_op(const op::Syrk& op, const LaneTools& on) {
  TROUPE_TRY(check_rank_2("syrk", op.a));
  const op::View& second = op.has_b ? op.b : op.a;
  TROUPE_TRY(check_shape("syrk", op.c, op.a.dtype, op.a.shape[0], op.a.shape[0]));
  TROUPE_TRY(check_shape("syrk", second, op.a.dtype, op.a.shape[0], op.a.shape[1]));
  if (op::element_count(op.c) == 0) return {};
  return visit_four("syrk", op.c.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const Matrix a = on.matrix(op.a);
    const Matrix b = on.matrix(second);
    const Matrix c = on.matrix(op.c);
    if (op::is_zero(op.alpha)) {
      const OwnMatrix zeros = TROUPE_TRY(times_zero(on, a));
      return run_syrk<T>(with_alpha_one(op), on, zeros.matrix, op.has_b ? b : zeros.matrix, c);
    }
    return run_syrk<T>(op, on, a, b, c);
  });
}

Result<void> run_op(const op::Triangular& op, const LaneTools& on) {
  TROUPE_TRY(check_rank_2("triangular", op.out));
  TROUPE_TRY(check_shape("triangular", op.a, op.out.dtype, op.out.shape[0], op.out.shape[0]));
  TROUPE_TRY(check_shape("triangular", op.b, op.out.dtype, op.out.shape[0], op.out.shape[1]));
  return visit_four("triangular", op.out.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const Matrix a = on.matrix(op.a);
    if (op.solves) {
      if (op.verdict.dtype != DType::i32 || op::element_count(op.verdict) != 1)
        return fail(ErrorKind::invalid_argument, "there is no place for the verdict");
      Matrix diagonal = a;
      if (op.unit_diagonal) diagonal.rows = 0;
      TROUPE_TRY(find_zero(on, diagonal, on.at(op.verdict)));
    }
    if (op::element_count(op.out) == 0) return {};
    if (op::is_zero(op.alpha)) {
      const OwnMatrix zeros = TROUPE_TRY(times_zero(on, on.matrix(op.b)));
      return run_triangular<T>(with_alpha_one(op), on, a, zeros.matrix, on.matrix(op.out));
    }
    return run_triangular<T>(op, on, a, on.matrix(op.b), on.matrix(op.out));
  });
}

}  // namespace troupe::cuda

#endif
