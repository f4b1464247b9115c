#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/matmul/matmul_ops.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "troupe/backend/cuda/blas/blas_ops.hpp"
#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/backend/cuda/matmul/matmul_arguments.hpp"
#include "troupe/backend/cuda/matmul/matmul_kernels.hpp"
#include "troupe/backend/cuda/memory/move_elements.hpp"

namespace troupe::cuda {
namespace {

bool is_8_bit_float(DType dtype) noexcept { return dtype == DType::f8e4m3 || dtype == DType::f8e5m2; }
DType wide_type(DType dtype) noexcept { return dtype == DType::f64 ? DType::f64 : DType::f32; }

// ---- two passes ----

TypedMatrix typed(const op::View& view, const LaneTools& on) noexcept {
  const bool is_matrix = view.shape.rank() == 2;
  return {{on.data<void>(view), is_matrix ? view.strides[0] : 0, view.strides[is_matrix ? 1 : 0]},
          static_cast<int>(view.dtype)};
}

/// The matrix itself, or a copy in a type that cuBLAS multiplies: what has 8 bits has a bf16 of the same value.
struct Operand {
  std::optional<OwnMatrix> copied;
  Matrix matrix;
};
Result<Operand> as_type(const LaneTools& on, const Matrix& m, DType dtype) {
  if (m.dtype == dtype) return Operand{std::nullopt, m};
  OwnMatrix made = TROUPE_TRY(make_matrix(on, dtype, m.rows, m.columns));
  TROUPE_TRY(cast(on, m, made.matrix));
  const Matrix matrix = made.matrix;
  return Operand{std::move(made), matrix};
}

/// alpha a b in f32 or f64, row-major.
Result<OwnMatrix> product(const LaneTools& on, double alpha, Compute compute, const Matrix& a, const Matrix& b) {
  const DType wide = wide_type(a.dtype);
  OwnMatrix sums = TROUPE_TRY(make_matrix(on, wide, a.rows, b.columns));
  DType in = is_8_bit_float(a.dtype) ? DType::bf16 : a.dtype;
  const Operand left = TROUPE_TRY(as_type(on, a, in));
  const Operand right = TROUPE_TRY(as_type(on, b, in));
  if (Cublas::can_multiply(left.matrix, right.matrix, sums.matrix)) {
    TROUPE_TRY(
        multiply(on, op::Scalar(alpha), op::Scalar(0.0), left.matrix, right.matrix, sums.matrix, {.compute = compute}));
    return sums;
  }
  const Operand wide_left = TROUPE_TRY(as_type(on, left.matrix, wide));
  const Operand wide_right = TROUPE_TRY(as_type(on, right.matrix, wide));
  TROUPE_TRY(multiply(on, op::Scalar(alpha), op::Scalar(0.0), wide_left.matrix, wide_right.matrix, sums.matrix,
                      {.compute = compute}));
  return sums;
}

Result<void> run_epilogue(const LaneTools& on, EpilogueArguments arguments, DType wide) {
  std::array<void*, 1> all{&arguments};
  return on.launch(TROUPE_TRY(on.kernel(MatmulKernel::epilogue, wide)), arguments.rows * arguments.columns, all);
}

Result<void> finish(const op::Matmul& op, const LaneTools& on, const Matrix& sums) {
  EpilogueArguments arguments{};
  arguments.sums = pointer(sums.data);
  arguments.rows = op.d.shape[0];
  arguments.columns = op.d.shape[1];
  if (op.has_c && op.beta != 0) arguments.c = typed(op.c, on);
  if (op.has_bias) arguments.bias = typed(op.bias, on);
  if (op.keeps_pre) arguments.pre = typed(op.pre, on);
  arguments.d = typed(op.d, on);
  arguments.beta = op.beta;
  arguments.scale_d = op.scale_d;
  arguments.activation = static_cast<int>(op.activation);
  return run_epilogue(on, arguments, sums.dtype);
}

Result<void> finish(const op::MatmulGradient& op, const LaneTools& on, const Matrix& sums) {
  EpilogueArguments arguments{};
  arguments.sums = pointer(sums.data);
  arguments.rows = op.d.shape[0];
  arguments.columns = op.d.shape[1];
  if (op.has_pre) arguments.pre = typed(op.pre, on);
  arguments.d = typed(op.d, on);
  arguments.activation = static_cast<int>(op.activation);
  arguments.is_gradient = true;
  return run_epilogue(on, arguments, sums.dtype);
}

bool is_batch(const op::View& view) noexcept { return view.shape.rank() == 3; }
std::int64_t batch_count(const op::View& view) noexcept { return is_batch(view) ? view.shape[0] : 1; }
std::int64_t batch_stride(const op::View& view) noexcept { return is_batch(view) ? view.strides[0] : 0; }

/// alpha a b for a whole batch, its matrices one behind the other; none when they have to be converted or copied first.
template <class Op>
Result<std::optional<OwnMatrix>> batch_of_products(const Op& op, const LaneTools& on) {
  const Matrix a = on.matrix(op.a);
  const Matrix b = on.matrix(op.b);
  const std::int64_t count = batch_count(op.d);
  Matrix first{0, wide_type(a.dtype), a.rows, b.columns, b.columns, 1};
  if (is_8_bit_float(a.dtype) || !Cublas::can_multiply(a, b, first)) return std::nullopt;
  OwnMatrix sums = TROUPE_TRY(make_matrix(on, first.dtype, count * first.rows, first.columns));
  first.data = sums.matrix.data;
  TROUPE_TRY(multiply(on, op::Scalar(op.alpha), op::Scalar(0.0), a, b, first, {.compute = op.compute},
                      {count, batch_stride(op.a), batch_stride(op.b), a.rows * b.columns}));
  return std::optional<OwnMatrix>(std::move(sums));
}

/// The same op on matrices with the rows of all of a batch, as far as its epilogue is concerned.
template <class Op>
std::optional<Op> as_one(const Op& op) {
  Op one = op;
  const auto fold = [](op::View& view) {
    const std::optional<op::View> matrix = op::as_one_matrix(view);
    if (matrix) view = *matrix;
    return matrix.has_value();
  };
  if (!fold(one.d)) return std::nullopt;
  if constexpr (requires { op.has_c; }) {
    if (op.has_c && !fold(one.c)) return std::nullopt;
    if (op.keeps_pre && !fold(one.pre)) return std::nullopt;
  } else {
    if (op.has_pre && !fold(one.pre)) return std::nullopt;
  }
  return one;
}

/// The second pass over the products of a batch.
template <class Op>
Result<void> finish_batch(const Op& op, const LaneTools& on, const OwnMatrix& sums) {
  if (const std::optional<Op> one = as_one(op)) return finish(*one, on, sums.matrix);
  for (std::int64_t i = 0; i < op.d.shape[0]; ++i) {
    Matrix part = sums.matrix;
    part.rows = op.d.shape[1];
    part.data += static_cast<CUdeviceptr>(i * part.rows * part.columns * size_bytes(part.dtype));
    TROUPE_TRY(finish(op::at_batch(op, i), on, part));
  }
  return {};
}

/// Of a matrix, or of a batch of them.
template <class Op>
Result<void> run_in_two_passes(const Op& op, const LaneTools& on) {
  if (!is_batch(op.d)) {
    const OwnMatrix sums = TROUPE_TRY(product(on, op.alpha, op.compute, on.matrix(op.a), on.matrix(op.b)));
    return finish(op, on, sums.matrix);
  }
  if (const auto sums = TROUPE_TRY(batch_of_products(op, on))) return finish_batch(op, on, *sums);
  for (std::int64_t i = 0; i < op.d.shape[0]; ++i) TROUPE_TRY(run_in_two_passes(op::at_batch(op, i), on));
  return {};
}

/// Of all matrices of a batch, which are brought one behind the other when they are not.
Result<void> sum_columns(const LaneTools& on, const op::View& d, const op::View& sums) {
  std::optional<StreamScratch> packed;
  std::optional<op::View> matrix = op::as_one_matrix(d);
  TypedMatrix in{};
  if (matrix) {
    in = typed(*matrix, on);
  } else {
    op::View dense = d;
    dense.strides = contiguous_strides(d.shape);
    matrix = op::as_one_matrix(dense);
    packed.emplace(TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(op::element_count(d) * size_bytes(d.dtype)))));
    TROUPE_TRY(move_elements(on, d.dtype, on.at(d), packed->address(), axes_of(d, dense)));
    in = {{packed->data(), matrix->strides[0], 1}, static_cast<int>(d.dtype)};
  }
  ColumnSums arguments{in, matrix->shape[0], matrix->shape[1], typed(sums, on)};
  std::array<void*, 1> all{&arguments};
  return on.launch(TROUPE_TRY(on.kernel(MatmulKernel::sum_columns, wide_type(d.dtype))), matrix->shape[1], all);
}

// ---- one pass ----

/// Of the first matrix and of all others of its batch.
std::uint32_t alignment_of(CUdeviceptr address, const op::View& batch) noexcept {
  const auto apart = static_cast<std::uint64_t>(std::abs(batch_stride(batch)) * size_bytes(batch.dtype));
  const std::uint64_t all = address | apart;
  if (all == 0) return 256;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(256, all & (~all + 1)));
}

/// A matrix as cuBLASLt is told of it, and whether it is then transposed.
struct Told {
  LtMatrix matrix;
  bool transposes = false;
};
std::optional<Told> told(const Matrix& m, const op::View& batch) noexcept {
  const std::optional<ByColumns> lie = by_columns(m);
  constexpr std::int64_t kMostProducts = std::numeric_limits<std::int32_t>::max();
  if (!lie || batch_count(batch) > kMostProducts) return std::nullopt;
  return Told{{.type = data_type(m.dtype),
               .rows = lie->transposes ? m.columns : m.rows,
               .columns = lie->transposes ? m.rows : m.columns,
               .leading = lie->leading,
               .alignment = alignment_of(m.data, batch),
               .batch = static_cast<std::int32_t>(batch_count(batch)),
               .batch_stride = batch_stride(batch)},
              lie->transposes};
}

/// An array of the result's shape that lies as the result does: its leading dimension.
std::optional<std::int64_t> leading_like(const Matrix& m, bool by_rows) noexcept {
  const Matrix turned = by_rows ? m.transposed() : m;
  if (!lies_by_columns(turned)) return std::nullopt;
  return by_columns(turned)->leading;
}

struct Fused {
  LtProblem problem;
  Matrix left;  // cuBLASLt's a and b
  Matrix right;
  bool by_rows = false;
};

/// What both ways have in common: d by rows is d^T = b^T a^T by columns, and a bias, one for each column of d, is one
/// for each row of d^T, as cuBLASLt has it.
template <class Op>
std::optional<Fused> fuse(const Op& op, const LaneTools& on) {
  const Matrix a = on.matrix(op.a);
  const Matrix b = on.matrix(op.b);
  const Matrix d = on.matrix(op.d);
  Fused fused;
  fused.by_rows = lies_by_columns(d.transposed());
  if (!fused.by_rows && !lies_by_columns(d)) return std::nullopt;
  const Matrix result = fused.by_rows ? d.transposed() : d;
  fused.left = fused.by_rows ? b.transposed() : a;
  fused.right = fused.by_rows ? a.transposed() : b;
  const std::optional<Told> left = told(fused.left, fused.by_rows ? op.b : op.a);
  const std::optional<Told> right = told(fused.right, fused.by_rows ? op.a : op.b);
  if (!left || !right) return std::nullopt;
  LtProblem& p = fused.problem;
  p.a = left->matrix;
  p.b = right->matrix;
  p.transposes_a = left->transposes;
  p.transposes_b = right->transposes;
  p.d = told(result, op.d)->matrix;
  p.c = p.d;
  const bool is_f64 = a.dtype == DType::f64;
  p.compute = is_f64                        ? CUBLAS_COMPUTE_64F
              : op.compute == Compute::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                            : CUBLAS_COMPUTE_32F;
  p.scale = is_f64 ? CUDA_R_64F : CUDA_R_32F;
  // 8-bit floats are multiplied only as a^T b, in sixteens.
  if (is_8_bit_float(a.dtype)) {
    const bool in_sixteens = a.rows % 16 == 0 && a.columns % 16 == 0 && b.columns % 16 == 0;
    if (!p.transposes_a || p.transposes_b || !in_sixteens) return std::nullopt;
    if (is_8_bit_float(d.dtype)) p.c.type = CUDA_R_16BF;
  }
  return fused;
}

struct LtFactors {
  LtFactors(double alpha, double beta, bool is_f64) noexcept
      : alpha_64(alpha),
        beta_64(beta),
        alpha_32(static_cast<float>(alpha)),
        beta_32(static_cast<float>(beta)),
        is_64(is_f64) {}
  const void* alpha() const noexcept { return is_64 ? static_cast<const void*>(&alpha_64) : &alpha_32; }
  const void* beta() const noexcept { return is_64 ? static_cast<const void*>(&beta_64) : &beta_32; }
  double alpha_64, beta_64;
  float alpha_32, beta_32;
  bool is_64;
};

/// False when cuBLASLt has nothing for it.
Result<bool> run_fused(const LaneTools& on, const LtProblem& problem, LtCall call, bool tunes) {
  CublasLt* const lt = TROUPE_TRY(on.handle<CublasLt>());
  CublasLt::Plan* const plan = TROUPE_TRY(lt->find(problem));
  if (!plan) return false;
  if (tunes && !CublasLt::is_tuned(*plan)) {
    const StreamScratch workspace = TROUPE_TRY(on.scratch(CublasLt::kWorkspaceBytes));
    call.workspace = workspace.address();
    return lt->tune(on.context(), problem, *plan, call);  // which runs it more than once
  }
  const std::uint64_t bytes = CublasLt::workspace_bytes(*plan);
  std::optional<StreamScratch> workspace;
  if (bytes > 0) workspace.emplace(TROUPE_TRY(on.scratch(bytes)));
  if (workspace) call.workspace = workspace->address();
  const Result<void> ran = lt->run(*plan, call);
  if (ran) return true;
  // Some combinations it refuses only now, and not when it is asked for an algorithm.
  const std::int64_t code = ran.error().origin().native_code;
  if (code == CUBLAS_STATUS_NOT_SUPPORTED || code == CUBLAS_STATUS_INVALID_VALUE) return false;
  return fail(ran.error());
}

/// Without relu: of some algorithms for f16 its relu makes 0 of a NaN. A pass of our own does it.
cublasLtEpilogue_t epilogue_of(const op::Matmul& op) noexcept {
  if (op.activation != Activation::gelu_tanh) return op.has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  if (op.keeps_pre) return op.has_bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
  return op.has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
}

/// relu of what is in a matrix already. Rounding and a positive scale do not change what is negative, so it may come
/// last.
Result<void> relu_in_place(const LaneTools& on, const op::View& d) {
  op::View lines = d;  // along which neighbours lie side by side
  if (std::abs(d.strides[0]) < std::abs(d.strides[1])) {
    std::swap(lines.shape[0], lines.shape[1]);
    std::swap(lines.strides[0], lines.strides[1]);
  }
  ReluArguments arguments{typed(lines, on), lines.shape[0], lines.shape[1]};
  if (is_contiguous(lines.shape, lines.strides)) arguments = {arguments.d, 1, lines.shape[0] * lines.shape[1]};
  std::array<void*, 1> all{&arguments};
  return on.launch(TROUPE_TRY(on.kernel(MatmulKernel::relu_in_place, wide_type(d.dtype))),
                   arguments.rows * arguments.columns, all);
}

Result<void> relu_of_batch(const LaneTools& on, const op::View& d) {
  if (const std::optional<op::View> one = op::as_one_matrix(d)) return relu_in_place(on, *one);
  for (std::int64_t i = 0; i < d.shape[0]; ++i) TROUPE_TRY(relu_in_place(on, op::at_batch(d, i)));
  return {};
}

/// A number where the GPU finds it.
Result<StreamScratch> put(const LaneTools& on, double number) {
  StreamScratch scratch = TROUPE_TRY(on.scratch(sizeof(float)));
  auto narrow = static_cast<float>(number);
  CUdeviceptr out = scratch.address();
  std::array<void*, 2> arguments{&narrow, &out};
  TROUPE_TRY(TROUPE_CUDA(on.driver(), cuLaunchKernel, TROUPE_TRY(on.kernel(MatmulKernel::put_f32)), 1, 1, 1, 1, 1, 1, 0,
                         on.stream(), arguments.data(), nullptr));
  return scratch;
}

/// What an epilogue keeps, or gets from before, lies in lines of eights.
bool takes_as_aux(std::int64_t leading, CUdeviceptr address) noexcept {
  return leading % 8 == 0 && address % kLtAlignment == 0;
}

/// Its gelu has been seen to be off by 5e-6, and its slope by 2e-5: fewer digits than f64 and f32 have, unless the
/// product itself has fewer.
bool has_good_gelu(DType in, DType out, Compute compute) noexcept {
  if (out == DType::f64) return false;
  return out != DType::f32 || compute == Compute::tf32 || is_8_bit_float(in);
}

/// Where the sums of a product are split among several parts of the GPU, their total is rounded to the result's type
/// before a bias or an addend comes to it: then the result would be rounded twice.
bool may_split(DType out, bool has_more_to_add) noexcept { return size_bytes(out) >= 4 || !has_more_to_add; }

/// What cuBLASLt does not do in one pass, whatever the layouts are.
bool needs_two_passes(const op::Matmul& op) noexcept {
  if (op.a.dtype == DType::i8) return true;
  if (op.alpha == 0) return true;  // it would not look at a and b, and a NaN there must not be lost
  if (op.activation == Activation::gelu_tanh && !has_good_gelu(op.a.dtype, op.d.dtype, op.compute)) return true;
  if (op.has_bias && op.bias.strides[0] != 1) return true;
  const bool is_8_bit = is_8_bit_float(op.a.dtype);
  const bool narrow_bias = is_8_bit && (op.d.dtype == DType::f32 || is_8_bit_float(op.d.dtype));
  if (op.has_bias && op.bias.dtype != (narrow_bias ? DType::bf16 : op.d.dtype)) return true;
  if (op.keeps_pre && (is_8_bit || op.pre.dtype != op.d.dtype)) return true;
  if (op.has_c && !is_8_bit && op.c.dtype != op.d.dtype) return true;
  // What a relu keeps for its gradient is a mask of bits there, and nothing a user could read.
  if (op.keeps_pre && op.activation != Activation::gelu_tanh) return true;
  if (op.activation == Activation::relu && !(op.scale_d > 0)) return true;
  return op.scale_d != 1 && !is_8_bit_float(op.d.dtype);  // the scale of a result is a thing of 8-bit floats
}

Result<bool> multiply_fused(const op::Matmul& op, const LaneTools& on) {
  if (needs_two_passes(op)) return false;
  const Matrix d = on.matrix(op.d);
  std::optional<Fused> fused = fuse(op, on);
  if (!fused) return false;
  LtProblem& p = fused->problem;
  if (op.has_bias && (!fused->by_rows || on.at(op.bias) % kLtAlignment != 0)) return false;
  p.epilogue = epilogue_of(op);
  p.splits = may_split(op.d.dtype, p.epilogue != CUBLASLT_EPILOGUE_DEFAULT || (op.has_c && op.beta != 0));
  LtCall call{.a = fused->left.data, .b = fused->right.data, .c = d.data, .d = d.data};
  if (is_8_bit_float(op.d.dtype)) call.c = 0;  // which would be of another type, and is not read
  if (op.has_c) {
    const std::optional<std::int64_t> leading = leading_like(on.matrix(op.c), fused->by_rows);
    if (!leading) return false;
    call.c = on.at(op.c);
    p.c = {data_type(op.c.dtype),      p.d.rows,  p.d.columns,       *leading,
           alignment_of(call.c, op.c), p.d.batch, batch_stride(op.c)};
  }
  if (op.has_bias) {
    p.bias_type = data_type(op.bias.dtype);
    call.bias = on.at(op.bias);
  }
  if (op.keeps_pre) {
    const std::optional<std::int64_t> leading = leading_like(on.matrix(op.pre), fused->by_rows);
    if (!leading || !takes_as_aux(*leading, on.at(op.pre)) || batch_stride(op.pre) % kLtAlignment != 0) return false;
    p.aux_type = data_type(op.pre.dtype);
    p.aux_leading = *leading;
    p.aux_batch_stride = batch_stride(op.pre);
    call.aux = on.at(op.pre);
  }
  std::optional<StreamScratch> scale;
  if (op.scale_d != 1) {
    p.scales_d = true;
    scale.emplace(TROUPE_TRY(put(on, op.scale_d)));
    call.scale_d = scale->address();
  }
  const LtFactors factors(op.alpha, op.has_c ? op.beta : 0.0, op.a.dtype == DType::f64);
  call.alpha = factors.alpha();
  call.beta = factors.beta();
  if (!TROUPE_TRY(run_fused(on, p, call, op.tunes))) return false;
  if (op.activation == Activation::relu) TROUPE_TRY(relu_of_batch(on, op.d));
  return true;
}

/// Only that of gelu: of relu cuBLASLt would want its mask of bits.
Result<bool> gradient_fused(const op::MatmulGradient& op, const LaneTools& on) {
  if (is_batch(op.d) || op.activation != Activation::gelu_tanh || !op.has_pre || op.alpha == 0) return false;
  if (!has_good_gelu(op.a.dtype, op.d.dtype, op.compute)) return false;
  const Matrix d = on.matrix(op.d);
  std::optional<Fused> fused = fuse(op, on);
  if (!fused || !fused->by_rows) return false;
  LtProblem& p = fused->problem;
  const std::optional<std::int64_t> leading = leading_like(on.matrix(op.pre), true);
  if (!leading || !takes_as_aux(*leading, on.at(op.pre)) || op.pre.dtype != op.d.dtype) return false;
  if (op.sums_columns && (op.sums.strides[0] != 1 || op.sums.dtype != op.d.dtype || on.at(op.sums) % kLtAlignment != 0))
    return false;
  p.epilogue = op.sums_columns ? CUBLASLT_EPILOGUE_DGELU_BGRAD : CUBLASLT_EPILOGUE_DGELU;
  p.splits = may_split(op.d.dtype, true);
  p.aux_type = data_type(op.pre.dtype);
  p.aux_leading = *leading;
  LtCall call{.a = fused->left.data, .b = fused->right.data, .c = d.data, .d = d.data};
  call.aux = on.at(op.pre);
  if (op.sums_columns) {
    p.bias_type = data_type(op.sums.dtype);
    call.bias = on.at(op.sums);
  }
  const LtFactors factors(op.alpha, 0.0, op.a.dtype == DType::f64);
  call.alpha = factors.alpha();
  call.beta = factors.beta();
  return run_fused(on, p, call, false);
}

}  // namespace

Result<void> run_op(const op::Matmul& op, const LaneTools& on) {
  if (op::element_count(op.d) == 0) return {};
  if (op.d.shape.rank() > 3) {
    for (std::int64_t i = 0; i < op.d.shape[0]; ++i) TROUPE_TRY(run_op(op::at_batch(op, i), on));
    return {};
  }
  if (op.a.dtype == DType::i8)
    return multiply(on, op::Scalar(1.0), op::Scalar(0.0), on.matrix(op.a), on.matrix(op.b), on.matrix(op.d), {},
                    {batch_count(op.d), batch_stride(op.a), batch_stride(op.b), batch_stride(op.d)});
  if (op::element_count(op.a) > 0 && TROUPE_TRY(multiply_fused(op, on))) return {};
  return run_in_two_passes(op, on);
}

Result<void> run_op(const op::MatmulGradient& op, const LaneTools& on) {
  if (op::element_count(op.d) > 0 && op.d.shape.rank() > 3) {
    op::MatmulGradient part = op;
    part.sums_columns = false;
    for (std::int64_t i = 0; i < op.d.shape[0]; ++i) TROUPE_TRY(run_op(op::at_batch(part, i), on));
  } else if (op::element_count(op.d) > 0) {
    if (op::element_count(op.a) > 0 && TROUPE_TRY(gradient_fused(op, on))) return {};
    TROUPE_TRY(run_in_two_passes(op, on));
  }
  return op.sums_columns ? sum_columns(on, op.d, op.sums) : Result<void>();
}

void add_matmul(RunTable& table) { table.add(op::MatmulOps{}); }

}  // namespace troupe::cuda

#endif
