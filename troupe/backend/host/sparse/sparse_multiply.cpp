// Products of sparse and dense matrices.
#include <array>
#include <type_traits>

#include "troupe/backend/host/sparse/sparse_host.hpp"
#include "troupe/backend/host/sparse/sparse_ops.hpp"

namespace troupe::host {
namespace {

/// y = beta y. With a beta of zero what was there does not matter.
template <class T>
void scale(T beta, const DenseView<T>& y) {
  if (beta == T{1}) return;
  for (std::int64_t i = 0; i < y.rows; ++i)
    for (std::int64_t j = 0; j < y.columns; ++j)
      y.at(i, j) = beta == T{} ? T{} : sparse::plus_product(T{}, beta, y.at(i, j));
}

/// One element of a vector from each line, given out by `put(line, sum)`: sums stay in a register. `x_step` may be a
/// constant.
template <class T, class I, bool conjugates>
void multiply_lines(const sparse::Lines<I>& lines, const T* values, const T* x, auto x_step, const auto& put) {
  std::int64_t i = 0;
  for (std::int64_t line = 0; line < lines.count; ++line) {
    T sum{};
    for (const std::int64_t end = lines.offsets[line + 1]; i < end; ++i) {
      const T value = conjugates ? sparse::conjugated(values[i]) : values[i];
      sum = sparse::plus_product(sum, value, x[lines.indices[i] * x_step]);
    }
    put(line, sum);
  }
}

/// Column `j` of y.
template <class T, class I, bool conjugates>
void multiply_column(const sparse::Lines<I>& lines, const T* values, const DenseView<T>& x, const DenseView<T>& y,
                     std::int64_t j, const T& alpha, const T& beta) {
  const T* const from = x.data + j * x.column_step;
  const auto add = [&](std::int64_t line, const T& sum) {
    y.at(line, j) = sparse::with_factors(alpha, sum, beta, y.at(line, j));
  };
  if (x.row_step != 1) return multiply_lines<T, I, conjugates>(lines, values, from, x.row_step, add);
  constexpr std::integral_constant<std::int64_t, 1> kDense;
  if (beta != T{} || y.row_step != 1) return multiply_lines<T, I, conjugates>(lines, values, from, kDense, add);
  T* const to = y.data + j * y.column_step;
  multiply_lines<T, I, conjugates>(lines, values, from, kDense, [&](std::int64_t line, const T& sum) {
    to[line] = sparse::with_factors(alpha, sum, T{}, T{});
  });
}

/// Columns of y from `j` on, `count` of them: at most `kChunk`, so that registers hold their sums. `add_line(line,
/// sums, j, count)` adds up what a line gives.
template <class T>
void multiply_chunk(const DenseView<T>& y, std::int64_t j, auto count, const T& alpha, const T& beta,
                    const auto& add_line) {
  for (std::int64_t line = 0; line < y.rows; ++line) {
    std::array<T, kChunk<T>> sums{};
    add_line(line, sums.data(), j, count);
    for (std::int64_t k = 0; k < count; ++k)
      y.at(line, j + k) = sparse::with_factors(alpha, sums[static_cast<std::size_t>(k)], beta, y.at(line, j + k));
  }
}
template <class T>
void multiply_chunks(const DenseView<T>& y, const T& alpha, const T& beta, const auto& add_line) {
  std::int64_t j = 0;
  for (; j + kChunk<T> <= y.columns; j += kChunk<T>) multiply_chunk(y, j, kWholeChunk<T>, alpha, beta, add_line);
  if (j < y.columns) multiply_chunk(y, j, y.columns - j, alpha, beta, add_line);
}
/// Whether there are several columns, and those of x lie side by side.
template <class T>
bool has_chunks(const DenseView<T>& x) {
  return x.columns > 1 && x.column_step == 1;
}

/// Line by line.
template <class T, class I, bool conjugates>
void multiply_columns(const sparse::Lines<I>& lines, const T* values, const DenseView<T>& x, const DenseView<T>& y,
                      const T& alpha, const T& beta) {
  if (!has_chunks(x)) {
    for (std::int64_t j = 0; j < y.columns; ++j) multiply_column<T, I, conjugates>(lines, values, x, y, j, alpha, beta);
    return;
  }
  multiply_chunks(y, alpha, beta, [&](std::int64_t line, T* sums, std::int64_t j, auto count) {
    for (std::int64_t i = lines.offsets[line]; i < lines.offsets[line + 1]; ++i) {
      if (i + kElementsAhead < lines.stored) prefetch_elements(x.row(lines.indices[i + kElementsAhead]) + j, count);
      const T value = conjugates ? sparse::conjugated(values[i]) : values[i];
      add_product(sums, x.row(lines.indices[i]) + j, value, count);
    }
  });
}

template <class T, class I, bool conjugates>
void multiply_blocks(const op::SparseView& bsr, const HostViews& here, T alpha, const DenseView<T>& x, T beta,
                     const DenseView<T>& y) {
  const sparse::Lines<I> lines = lines_of<I>(bsr, here);
  const T* const values = here.data<T>(bsr.values);
  const std::int64_t block = bsr.block;
  if (!has_chunks(x)) {
    for (std::int64_t i = 0; i < y.rows; ++i)
      for (std::int64_t j = 0; j < y.columns; ++j) {
        const T sum =
            sparse::block_row_product<conjugates>(lines, values, block, i, x.data + j * x.column_step, x.row_step);
        y.at(i, j) = sparse::with_factors(alpha, sum, beta, y.at(i, j));
      }
    return;
  }
  multiply_chunks(y, alpha, beta, [&](std::int64_t row, T* sums, std::int64_t j, auto count) {
    for (std::int64_t i = lines.offsets[row / block]; i < lines.offsets[row / block + 1]; ++i) {
      const T* const elements = values + (i * block + row % block) * block;
      for (std::int64_t c = 0; c < block; ++c)
        add_product(sums, x.row(lines.indices[i] * block + c) + j,
                    conjugates ? sparse::conjugated(elements[c]) : elements[c], count);
    }
  });
}

template <class T, class I, bool conjugates>
void multiply_elements(const op::SparseMultiply& op, const HostViews& here, T alpha, const DenseView<T>& x,
                       const DenseView<T>& y) {
  const T* const values = here.data<T>(op.matrix.values);
  const bool transposes = op::transposes(op.transform);
  for_each_element<I>(op.matrix, here, [&](std::int64_t row, std::int64_t column, std::int64_t place) {
    const T value = conjugates ? sparse::conjugated(values[place]) : values[place];
    const T factor = sparse::plus_product(T{}, alpha, value);
    add_product(y, transposes ? column : row, x, transposes ? row : column, factor);
  });
}

template <class T, class I, bool conjugates>
void multiply(const op::SparseMultiply& op, const HostViews& here) {
  const DenseView<T> x(op.x, here);
  const DenseView<T> y(op.y, here);
  const T alpha = op.alpha.as<T>();
  const T beta = op.beta.as<T>();
  if (y.rows == 0 || y.columns == 0) return;
  if (op.matrix.stored() == 0) return scale(beta, y);
  if (op.matrix.format == SparseFormat::bsr && !op::transposes(op.transform))
    return multiply_blocks<T, I, conjugates>(op.matrix, here, alpha, x, beta, y);
  const bool line_by_line =
      op::transposes(op.transform) ? op.matrix.format == SparseFormat::csc : op.matrix.format == SparseFormat::csr;
  if (line_by_line)
    return multiply_columns<T, I, conjugates>(lines_of<I>(op.matrix, here), here.data<T>(op.matrix.values), x, y, alpha,
                                              beta);
  scale(beta, y);
  multiply_elements<T, I, conjugates>(op, here, alpha, x, y);
}

}  // namespace

Result<void> run_op(const op::SparseMultiply& op, const HostViews& here) {
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> {
    if (op::conjugates(op.transform))
      multiply<T, I, true>(op, here);
    else
      multiply<T, I, false>(op, here);
    return {};
  });
}

}  // namespace troupe::host
