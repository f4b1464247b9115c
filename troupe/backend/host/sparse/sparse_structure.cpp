// Structures: checked, converted, taken from dense matrices and put into them.
#include <algorithm>

#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/memory/memory_kernels.hpp"
#include "troupe/backend/host/sparse/sparse_host.hpp"
#include "troupe/backend/host/sparse/sparse_ops.hpp"

namespace troupe::host {
namespace {

template <class I>
sparse::Finding check_all(const op::SparseView& matrix, const HostViews& here) {
  if (matrix.format == SparseFormat::coo) {
    const sparse::Elements<I> elements{here.data<I>(matrix.offsets), here.data<I>(matrix.indices), matrix.rows,
                                       matrix.columns};
    for (std::int64_t i = 0; i < matrix.stored(); ++i)
      if (const sparse::Finding found = sparse::check_element(elements, i); found.fault != sparse::Fault::none)
        return found;
    return {};
  }
  const sparse::Lines<I> lines = lines_of<I>(matrix, here);
  for (std::int64_t line = 0; line < std::max<std::int64_t>(lines.count, 1); ++line)
    if (const sparse::Finding found = sparse::check_line(lines, line); found.fault != sparse::Fault::none) return found;
  return {};
}

/// Lines to lines the other way: each element to its index's line, which keeps lines ascending.
template <class T, class I>
Result<void> transpose(const sparse::Lines<I>& from, const T* values, I* offsets, I* indices, T* to_values) {
  const Scratch memory = TROUPE_TRY(make_scratch((from.width + 1) * static_cast<std::int64_t>(sizeof(I))));
  I* const next = reinterpret_cast<I*>(memory.get());
  std::fill_n(offsets, from.width + 1, I{0});
  for (std::int64_t i = 0; i < from.stored; ++i) ++offsets[from.indices[i] + 1];
  std::int64_t total = 0;
  sum_up(offsets, from.width, &total);
  std::copy_n(offsets, from.width + 1, next);
  for (std::int64_t line = 0; line < from.count; ++line)
    for (std::int64_t i = from.offsets[line]; i < from.offsets[line + 1]; ++i) {
      const std::int64_t at = next[from.indices[i]]++;
      indices[at] = static_cast<I>(line);
      to_values[at] = values[i];
    }
  return {};
}

template <class T, class I>
Result<void> convert_to(const op::SparseConvert& op, const HostViews& here) {
  I* const offsets = here.data<I>(op.to.offsets);
  I* const indices = here.data<I>(op.to.indices);
  T* const values = here.data<T>(op.to.values);
  const T* const from_values = here.data<T>(op.from.values);
  const sparse::Lines<I> from = lines_of<I>(op.from, here);
  if (op.from.format == SparseFormat::bsr) {
    for (std::int64_t row = 0; row <= op.from.rows; ++row)
      sparse::unblock_row(from, from_values, op.from.block, row, offsets, indices, values);
    return {};
  }
  if (op.from.format == SparseFormat::csc || op.to.format == SparseFormat::csc)
    return transpose(from, from_values, offsets, indices, values);
  if (op.from.format == SparseFormat::coo)
    for (std::int64_t row = 0; row <= op.from.rows; ++row)
      sparse::compress_row(from.offsets, from.stored, row, offsets);
  else
    for (std::int64_t row = 0; row < op.from.rows; ++row) sparse::expand_row(from.offsets, row, offsets);
  std::copy_n(from.indices, from.stored, indices);
  std::copy_n(from_values, from.stored, values);
  return {};
}

}  // namespace

Result<void> run_op(const op::SparseAdopt& op, const HostViews& here) {
  TROUPE_TRY(copy(here(op.offsets), here(op.matrix.offsets), here.team()));
  TROUPE_TRY(copy(here(op.indices), here(op.matrix.indices), here.team()));
  return with_index(op.matrix.indices.dtype, [&]<class I>() -> Result<void> {
    sparse::write_verdict(check_all<I>(op.matrix, here), static_cast<std::int32_t>(op.matrix.format),
                          here.data<std::int32_t>(op.verdict));
    return {};
  });
}

Result<void> run_op(const op::SparseConvert& op, const HostViews& here) {
  return with_types(op.from, [&]<class T, class I>() -> Result<void> { return convert_to<T, I>(op, here); });
}

Result<void> run_op(const op::SparseToDense& op, const HostViews& here) {
  TROUPE_TRY(fill(here(op.out), op::Scalar(0.0), here.team()));
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> {
    const DenseView<T> out(op.out, here);
    const T* const values = here.data<T>(op.matrix.values);
    for_each_element<I>(op.matrix, here, [&](std::int64_t row, std::int64_t column, std::int64_t place) {
      out.at(row, column) = values[place];
    });
    return {};
  });
}

Result<void> run_op(const op::SparseCountDense& op, const HostViews& here) {
  return with_types(op.dense.dtype, op.offsets.dtype, [&]<class T, class I>() -> Result<void> {
    const DenseView<T> dense(op.dense, here);
    I* const offsets = here.data<I>(op.offsets);
    offsets[0] = 0;
    for (std::int64_t row = 0; row < dense.rows; ++row)
      offsets[row + 1] = static_cast<I>(sparse::count_nonzeros(dense.row(row), dense.column_step, dense.columns));
    sum_up(offsets, dense.rows, here.data<std::int64_t>(op.total));
    return {};
  });
}

Result<void> run_op(const op::SparseFillDense& op, const HostViews& here) {
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> {
    const DenseView<T> dense(op.dense, here);
    const I* const offsets = here.data<I>(op.matrix.offsets);
    sparse::Finding found;
    for (std::int64_t row = 0; row < dense.rows && found.fault == sparse::Fault::none; ++row)
      found = sparse::fill_nonzeros(dense.row(row), dense.column_step, dense.columns, row, offsets[row],
                                    offsets[row + 1], here.data<I>(op.matrix.indices), here.data<T>(op.matrix.values));
    sparse::write_verdict(found, 0, here.data<std::int32_t>(op.verdict));
    return {};
  });
}

Result<void> run_op(const op::SparseCountBlocks& op, const HostViews& here) {
  return with_index(op.matrix.indices.dtype, [&]<class I>() -> Result<void> {
    const sparse::Lines<I> lines = lines_of<I>(op.matrix, here);
    I* const offsets = here.data<I>(op.offsets);
    const std::int64_t block_rows = op.matrix.rows / op.block;
    offsets[0] = 0;
    for (std::int64_t row = 0; row < block_rows; ++row)
      offsets[row + 1] = static_cast<I>(sparse::count_blocks(lines, op.block, row));
    sum_up(offsets, block_rows, here.data<std::int64_t>(op.total));
    return {};
  });
}

Result<void> run_op(const op::SparseFillBlocks& op, const HostViews& here) {
  return with_types(op.from, [&]<class T, class I>() -> Result<void> {
    for (std::int64_t row = 0; row < op.to.lines(); ++row)
      sparse::fill_blocks(lines_of<I>(op.from, here), here.data<T>(op.from.values), op.to.block, row,
                          here.data<I>(op.to.offsets), here.data<I>(op.to.indices), here.data<T>(op.to.values));
    return {};
  });
}

void add_sparse(RunTable& table) { table.add(op::SparseOps{}); }

}  // namespace troupe::host
