#if TROUPE_CUDA_BACKEND

// Structures: checked, converted, taken from dense matrices and put into them. By kernels of our own, but for the
// transposition.
#include <algorithm>

#include "troupe/backend/cuda/memory/memory_ops.hpp"
#include "troupe/backend/cuda/sparse/sparse_findings.hpp"
#include "troupe/backend/cuda/sparse/sparse_kernels.hpp"
#include "troupe/backend/cuda/sparse/sparse_ops.hpp"
#include "troupe/backend/cuda/sparse/sparse_scratch.hpp"

namespace troupe::cuda {
namespace {

KernelTypes types_of(const op::SparseView& matrix) { return {matrix.values.dtype, matrix.indices.dtype}; }

StridedMatrix strided(const op::View& view, const LaneTools& on) {
  return {on.data(view), view.strides[0], view.strides[1]};
}

Result<void> check_lines(const op::SparseView& matrix, const op::View& verdict, SparseScratch& scratch) {
  const AnyLines lines = lines_of(matrix, scratch.on());
  const std::int64_t count = std::max<std::int64_t>(lines.count, 1);
  const CUdeviceptr first = TROUPE_TRY(no_finding(scratch));
  TROUPE_TRY(scratch.launch(SparseKernel::check_lines, matrix.indices.dtype, count, lines,
                            static_cast<long long>(count), first));
  return scratch.launch(SparseKernel::report_lines, matrix.indices.dtype, 1, lines, first,
                        static_cast<int>(matrix.format), scratch.on().at(verdict));
}

Result<void> check_elements(const op::SparseView& matrix, const op::View& verdict, SparseScratch& scratch) {
  const LaneTools& on = scratch.on();
  // The same for both types of indices: pointers and extents.
  const backend::sparse::Elements<std::int32_t> elements{
      on.data<std::int32_t>(matrix.offsets), on.data<std::int32_t>(matrix.indices), matrix.rows, matrix.columns};
  const CUdeviceptr first = TROUPE_TRY(no_finding(scratch));
  TROUPE_TRY(scratch.launch(SparseKernel::check_elements, matrix.indices.dtype, matrix.stored(), elements,
                            static_cast<long long>(matrix.stored()), first));
  return scratch.launch(SparseKernel::report_elements, matrix.indices.dtype, 1, elements, first,
                        static_cast<int>(matrix.format), on.at(verdict));
}

/// Counts behind the first offset become offsets.
Result<void> sum_up(const op::View& offsets, const op::View& total, SparseScratch& scratch) {
  return scratch.launch(SparseKernel::sum_up, offsets.dtype, 1, scratch.on().at(offsets),
                        static_cast<long long>(offsets.shape[0] - 1), scratch.on().at(total));
}

/// CSR to CSC or back: lines become indices.
Result<void> transpose(const op::SparseConvert& op, SparseScratch& scratch) {
  const LaneTools& on = scratch.on();
  if (op.from.stored() == 0) return run_op(op::Fill{.out = op.to.offsets, .value = op::Scalar(0.0)}, on);
  const GpuCsr from = TROUPE_TRY(scratch.with_short_indices(TROUPE_TRY(scratch.csr(op.from))));
  GpuCsr to{op.to.lines(),        op.to.width(),       op.to.stored(),     on.at(op.to.offsets),
            on.at(op.to.indices), on.at(op.to.values), op.to.values.dtype, DType::i32};
  const bool widens = op.to.indices.dtype == DType::i64;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(std::int32_t));
  if (widens) {
    to.offsets = TROUPE_TRY(scratch.memory((to.rows + 1) * kSize));
    to.indices = TROUPE_TRY(scratch.memory(to.stored * kSize));
  }
  Cusparse* const cusparse = TROUPE_TRY(on.handle<Cusparse>());
  TROUPE_TRY(cusparse->transpose(on, from, to));
  if (!widens) return {};
  TROUPE_TRY(scratch.cast_indices(to.offsets, DType::i32, on.at(op.to.offsets), DType::i64, to.rows + 1));
  return scratch.cast_indices(to.indices, DType::i32, on.at(op.to.indices), DType::i64, to.stored);
}

}  // namespace

Result<void> run_op(const op::SparseAdopt& op, const LaneTools& on) {
  TROUPE_TRY(run_op(op::Copy{.in = op.offsets, .out = op.matrix.offsets}, on));
  TROUPE_TRY(run_op(op::Copy{.in = op.indices, .out = op.matrix.indices}, on));
  SparseScratch scratch(on);
  if (op.matrix.format == SparseFormat::coo) return check_elements(op.matrix, op.verdict, scratch);
  return check_lines(op.matrix, op.verdict, scratch);
}

Result<void> run_op(const op::SparseConvert& op, const LaneTools& on) {
  SparseScratch scratch(on);
  using enum SparseFormat;
  if (op.from.format == csc || op.to.format == csc) return transpose(op, scratch);
  const DType index_type = op.from.indices.dtype;
  if (op.from.format == bsr)
    return scratch.launch(SparseKernel::unblock_rows, types_of(op.from), op.from.rows + 1, lines_of(op.from, on),
                          on.at(op.from.values), static_cast<long long>(op.from.block), on.at(op.to.offsets),
                          on.at(op.to.indices), on.at(op.to.values));
  if (op.from.format == coo)
    TROUPE_TRY(scratch.launch(SparseKernel::compress_rows, index_type, op.from.rows + 1, on.at(op.from.offsets),
                              static_cast<long long>(op.from.stored()), static_cast<long long>(op.from.rows),
                              on.at(op.to.offsets)));
  else
    TROUPE_TRY(scratch.launch(SparseKernel::expand_rows, index_type, op.from.rows, on.at(op.from.offsets),
                              static_cast<long long>(op.from.rows), on.at(op.to.offsets)));
  TROUPE_TRY(run_op(op::Copy{.in = op.from.indices, .out = op.to.indices}, on));
  return run_op(op::Copy{.in = op.from.values, .out = op.to.values}, on);
}

Result<void> run_op(const op::SparseToDense& op, const LaneTools& on) {
  TROUPE_TRY(run_op(op::Fill{.out = op.out, .value = op::Scalar(0.0)}, on));
  if (op.matrix.stored() == 0) return {};
  SparseScratch scratch(on);
  const GpuCsr csr = TROUPE_TRY(scratch.csr(op.matrix));
  StridedMatrix out = strided(op.out, on);
  if (op.matrix.by_columns()) std::swap(out.row_stride, out.column_stride);
  return scratch.launch(SparseKernel::to_dense, types_of(op.matrix), csr.rows, lines_of(csr), csr.values, out);
}

Result<void> run_op(const op::SparseCountDense& op, const LaneTools& on) {
  SparseScratch scratch(on);
  const std::int64_t rows = op.dense.shape[0];
  TROUPE_TRY(scratch.launch(SparseKernel::count_dense, {op.dense.dtype, op.offsets.dtype}, rows, strided(op.dense, on),
                            static_cast<long long>(rows), static_cast<long long>(op.dense.shape[1]),
                            on.at(op.offsets)));
  return sum_up(op.offsets, op.total, scratch);
}

Result<void> run_op(const op::SparseFillDense& op, const LaneTools& on) {
  SparseScratch scratch(on);
  const CUdeviceptr first = TROUPE_TRY(no_finding(scratch));
  TROUPE_TRY(scratch.launch(SparseKernel::fill_dense, types_of(op.matrix), op.matrix.rows, strided(op.dense, on),
                            static_cast<long long>(op.matrix.rows), static_cast<long long>(op.matrix.columns),
                            on.at(op.matrix.offsets), on.at(op.matrix.indices), on.at(op.matrix.values), first));
  return scratch.launch(SparseKernel::report_dense, {}, 1, first, on.at(op.verdict));
}

Result<void> run_op(const op::SparseCountBlocks& op, const LaneTools& on) {
  SparseScratch scratch(on);
  TROUPE_TRY(scratch.launch(SparseKernel::count_blocks, op.offsets.dtype, op.matrix.rows / op.block,
                            lines_of(op.matrix, on), static_cast<long long>(op.block), on.at(op.offsets)));
  return sum_up(op.offsets, op.total, scratch);
}

Result<void> run_op(const op::SparseFillBlocks& op, const LaneTools& on) {
  SparseScratch scratch(on);
  return scratch.launch(SparseKernel::fill_blocks, types_of(op.from), op.to.lines(), lines_of(op.from, on),
                        on.at(op.from.values), static_cast<long long>(op.to.block), on.at(op.to.offsets),
                        on.at(op.to.indices), on.at(op.to.values));
}

}  // namespace troupe::cuda

#endif
