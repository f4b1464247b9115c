#if TROUPE_CUDA_BACKEND

// What computes: brought into the form that cuSPARSE takes, and done by it.
#include "troupe/backend/cuda/sparse/sparse_ops.hpp"

#include <cstring>

#include "troupe/backend/cuda/blas/blas_ops.hpp"
#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/backend/cuda/memory/memory_ops.hpp"
#include "troupe/backend/cuda/sparse/sparse_findings.hpp"
#include "troupe/backend/cuda/sparse/sparse_kernels.hpp"
#include "troupe/backend/cuda/sparse/sparse_scratch.hpp"

namespace troupe::cuda {
namespace {

/// A factor as our kernels take it.
Bytes16 factor_of(const op::Scalar& scalar, DType dtype) {
  Bytes16 factor{};
  visit(dtype, [&]<class T>(std::type_identity<T>) {
    const T converted = scalar.as<T>();
    std::memcpy(&factor, &converted, sizeof converted);
  });
  return factor;
}

/// y = beta y; with a beta of zero what was there does not matter.
Result<void> scale(const op::View& y, const op::Scalar& beta, SparseScratch& scratch) {
  if (beta.as<std::complex<double>>() == 0.0) return run_op(op::Fill{.out = y, .value = op::Scalar(0.0)}, scratch.on());
  const Layout layout = layout_of(y, nullptr);
  return scratch.launch(SparseKernel::scale, y.dtype, layout.count, scratch.on().at(y), layout,
                        factor_of(beta, y.dtype));
}

/// BSR as it is, by a kernel of our own that takes any strides.
Result<void> multiply_blocks(const op::SparseMultiply& op, SparseScratch& scratch) {
  const LaneTools& on = scratch.on();
  const DType dtype = op.matrix.values.dtype;
  const bool is_vector = op.y.shape.rank() == 1;
  const std::int64_t columns = is_vector ? 1 : op.y.shape[1];
  const auto strided = [&](const op::View& view) {
    return StridedMatrix{on.data(view), view.strides[0], is_vector ? 0 : view.strides[1]};
  };
  const SparseKernel kernel =
      op::conjugates(op.transform) ? SparseKernel::multiply_conjugated_blocks : SparseKernel::multiply_blocks;
  return scratch.launch(kernel, {dtype, op.matrix.indices.dtype}, op.y.shape[0] * columns, lines_of(op.matrix, on),
                        on.at(op.matrix.values), static_cast<long long>(op.matrix.block), strided(op.x), strided(op.y),
                        static_cast<long long>(columns), factor_of(op.alpha, dtype), factor_of(op.beta, dtype));
}

/// The same for the elements of a product that a matrix of blocks has room for.
Result<void> sample_blocks(const op::SparseSddmm& op, SparseScratch& scratch) {
  const LaneTools& on = scratch.on();
  const DType dtype = op.matrix.values.dtype;
  const auto strided = [&](const op::View& view) {
    return StridedMatrix{on.data(view), view.strides[0], view.strides[1]};
  };
  return scratch.launch(SparseKernel::sample_blocks, {dtype, op.matrix.indices.dtype},
                        op::element_count(op.matrix.values), lines_of(op.matrix, on), on.at(op.matrix.values),
                        static_cast<long long>(op.matrix.block), strided(op.a), strided(op.b),
                        static_cast<long long>(op.a.shape[1]), factor_of(op.alpha, dtype), factor_of(op.beta, dtype));
}

/// A matrix, and what cuSPARSE is to do to it. It transposes with and without conjugation; to conjugate alone is not
/// among its operations, and takes a copy of the values.
struct Transformed {
  GpuCsr csr;
  op::Transform transform = op::Transform::none;
};
Result<Transformed> transformed(const op::SparseView& matrix, op::Transform transform, SparseScratch& scratch) {
  Transformed made{TROUPE_TRY(scratch.csr(matrix)), op::Transform::none};
  if (op::transposes(transform) != matrix.by_columns())
    made.transform = op::conjugates(transform) ? op::Transform::conjugate_transpose : op::Transform::transpose;
  else if (op::conjugates(transform))
    made.csr = TROUPE_TRY(scratch.conjugated(made.csr));
  return made;
}

op::StoredTriangle flipped(op::StoredTriangle triangle) noexcept {
  switch (triangle) {
    case op::StoredTriangle::lower: return op::StoredTriangle::upper;
    case op::StoredTriangle::upper: return op::StoredTriangle::lower;
    case op::StoredTriangle::unit_lower: return op::StoredTriangle::unit_upper;
    default: return op::StoredTriangle::unit_lower;
  }
}

/// Finds the first line without a diagonal element to divide by.
Result<void> check_diagonals(const GpuCsr& csr, const op::View& verdict, SparseScratch& scratch) {
  const KernelTypes types(csr.dtype, csr.index_type);
  const CUdeviceptr first = TROUPE_TRY(no_finding(scratch));
  TROUPE_TRY(scratch.launch(SparseKernel::check_diagonals, types, csr.rows, lines_of(csr), csr.values, first));
  return scratch.launch(SparseKernel::report_diagonal, types, 1, lines_of(csr), csr.values, first,
                        scratch.on().at(verdict));
}

}  // namespace

Result<void> run_op(const op::SparseMultiply& op, const LaneTools& on) {
  if (op::element_count(op.y) == 0) return {};
  SparseScratch scratch(on);
  if (op.matrix.stored() == 0 || op::element_count(op.x) == 0) return scale(op.y, op.beta, scratch);
  if (op.matrix.format == SparseFormat::bsr && !op::transposes(op.transform)) return multiply_blocks(op, scratch);
  const Transformed a = TROUPE_TRY(transformed(op.matrix, op.transform, scratch));
  const GpuDense x = TROUPE_TRY(scratch.dense(op.x));
  const std::optional<GpuDense> y_there = scratch.in_place(op.y);
  const GpuDense y = y_there ? *y_there : TROUPE_TRY(scratch.copied(op.y, op.reads_y()));
  Cusparse* const cusparse = TROUPE_TRY(on.handle<Cusparse>());
  TROUPE_TRY(cusparse->multiply(on, op.alpha, a.csr, a.transform, x, op.beta, y));
  return y_there ? Result<void>{} : scratch.copy_back(y, op.y);
}

Result<void> run_op(const op::SparseSolve& op, const LaneTools& on) {
  SparseScratch scratch(on);
  const bool is_unit = op::is_unit(op.triangle);
  Transformed a = TROUPE_TRY(transformed(op.matrix, op.transform, scratch));
  if (is_unit)
    TROUPE_TRY(report_nothing(op.verdict, scratch));
  else
    TROUPE_TRY(check_diagonals(a.csr, op.verdict, scratch));
  if (op::element_count(op.x) == 0) return {};
  if (op.matrix.stored() == 0) {  // the identity, or an error that the verdict has told
    TROUPE_TRY(run_op(op::Fill{.out = op.x, .value = op::Scalar(0.0)}, on));
    return run_op(op::Axpy{.alpha = op.alpha, .x = op.b, .y = op.x}, on);
  }
  std::optional<GpuDense> x_there = scratch.in_place(op.x);
  GpuDense b = TROUPE_TRY(scratch.dense(op.b));
  // Of matrices, cuSPARSE has been seen to write x with the leading dimension of b, and to need zeros in it.
  if (!b.is_vector) {
    x_there.reset();
    if (!b.by_rows || b.leading != b.columns) b = TROUPE_TRY(scratch.copied(op.b, true));
  }
  const GpuDense x = x_there ? *x_there : TROUPE_TRY(scratch.copied(op.x, false));
  if (!b.is_vector) {
    const auto size = static_cast<std::size_t>(x.rows * x.columns * size_bytes(op.x.dtype));
    TROUPE_TRY(TROUPE_CUDA(on.driver(), cuMemsetD8Async, x.data, 0, size, on.stream()));
  }
  Cusparse* const cusparse = TROUPE_TRY(on.handle<Cusparse>());
  const op::StoredTriangle triangle = op.matrix.by_columns() ? flipped(op.triangle) : op.triangle;
  TROUPE_TRY(cusparse->solve(on, op.alpha, a.csr, a.transform, triangle, b, x));
  return x_there ? Result<void>{} : scratch.copy_back(x, op.x);
}

Result<void> run_op(const op::SparseSddmm& op, const LaneTools& on) {
  if (op.matrix.stored() == 0) return {};
  SparseScratch scratch(on);
  if (op.a.shape[1] == 0) return scale(op.matrix.values, op.beta, scratch);
  if (op.matrix.format == SparseFormat::bsr) return sample_blocks(op, scratch);
  GpuCsr c = TROUPE_TRY(scratch.csr(op.matrix));
  GpuDense a = TROUPE_TRY(scratch.dense(op.a));
  GpuDense b = TROUPE_TRY(scratch.dense(op.b));
  if (op.matrix.by_columns()) {  // the transpose of the product is that of the transposes, exchanged
    const auto transposed = [](const GpuDense& m) {
      return GpuDense{m.data, m.columns, m.rows, m.leading, !m.by_rows, m.is_vector};
    };
    const GpuDense left = transposed(b);
    b = transposed(a);
    a = left;
  }
  Cusparse* const cusparse = TROUPE_TRY(on.handle<Cusparse>());
  TROUPE_TRY(cusparse->sddmm(on, op.alpha, a, b, op.beta, c));
  if (c.values == on.at(op.matrix.values)) return {};
  return TROUPE_CUDA(on.driver(), cuMemcpyAsync, on.at(op.matrix.values), c.values,
                     static_cast<std::size_t>(c.stored * size_bytes(c.dtype)), on.stream());
}

Result<void> run_op(const op::SparseCountProduct& op, const LaneTools& on) {
  SparseScratch scratch(on);
  std::int64_t stored = 0;
  if (op.a.stored() > 0 && op.b.stored() > 0) {
    const GpuCsr a = TROUPE_TRY(scratch.with_short_indices(TROUPE_TRY(scratch.csr(op.a))));
    const GpuCsr b = TROUPE_TRY(scratch.with_short_indices(TROUPE_TRY(scratch.csr(op.b))));
    Cusparse* const cusparse = TROUPE_TRY(on.handle<Cusparse>());
    stored = TROUPE_TRY(cusparse->product(on, a, b, nullptr));
  }
  return run_op(op::Fill{.out = op.total, .value = op::Scalar(stored)}, on);
}

Result<void> run_op(const op::SparseFillProduct& op, const LaneTools& on) {
  if (op.c.stored() == 0) return run_op(op::Fill{.out = op.c.offsets, .value = op::Scalar(0.0)}, on);
  SparseScratch scratch(on);
  const GpuCsr a = TROUPE_TRY(scratch.with_short_indices(TROUPE_TRY(scratch.csr(op.a))));
  const GpuCsr b = TROUPE_TRY(scratch.with_short_indices(TROUPE_TRY(scratch.csr(op.b))));
  GpuCsr c{op.c.rows,           op.c.columns,       op.c.stored(),     on.at(op.c.offsets),
           on.at(op.c.indices), on.at(op.c.values), op.c.values.dtype, op.c.indices.dtype};
  const bool widens = c.index_type == DType::i64;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(std::int32_t));
  if (widens) {
    c.index_type = DType::i32;
    c.offsets = TROUPE_TRY(scratch.memory((c.rows + 1) * kSize));
    c.indices = TROUPE_TRY(scratch.memory(c.stored * kSize));
  }
  Cusparse* const cusparse = TROUPE_TRY(on.handle<Cusparse>());
  TROUPE_TRY(cusparse->product(on, a, b, &c));
  TROUPE_TRY(scratch.launch(SparseKernel::sort_lines, {c.dtype, DType::i32}, c.rows, c.offsets,
                            static_cast<long long>(c.rows), c.indices, c.values));
  if (!widens) return {};
  TROUPE_TRY(scratch.cast_indices(c.offsets, DType::i32, on.at(op.c.offsets), DType::i64, c.rows + 1));
  return scratch.cast_indices(c.indices, DType::i32, on.at(op.c.indices), DType::i64, c.stored);
}

void add_sparse(RunTable& table) { table.add(op::SparseOps{}); }

}  // namespace troupe::cuda

#endif
