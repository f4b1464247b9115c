// The steps for one line, element or block of a sparse matrix, the same on every backend: loops of the host call these
// functions one after another, kernels of a GPU call each from a thread. So what the tests show on the host holds on
// both.
//
// Nothing here needs more than its arguments, and nothing allocates. Indices are `I`, values are `T`.
#pragma once

#include <complex>
#include <cstdint>

#include "troupe/op/sparse_finding.hpp"

namespace troupe::backend::sparse {

// ---- structure ----

using op::Fault;
using op::Finding;
using op::write_verdict;

/// Compressed lines: offsets and indices.
template <class I>
struct Lines {
  const I* offsets = nullptr;
  const I* indices = nullptr;
  std::int64_t count = 0;   // of lines
  std::int64_t width = 0;   // indices are below it
  std::int64_t stored = 0;  // indices
};

/// Trusts nothing. Line 0 may be asked for even when the matrix has no lines.
template <class I>
constexpr Finding check_line(const Lines<I>& lines, std::int64_t line) {
  if (line == 0 && lines.offsets[0] != 0) return {Fault::first_offset, 0, lines.offsets[0], 0};
  if (lines.count == 0) return {};
  const std::int64_t begin = lines.offsets[line];
  const std::int64_t end = lines.offsets[line + 1];
  if (begin < 0 || end > lines.stored) return {Fault::line_leaves, line, begin < 0 ? begin : end, lines.stored};
  if (end < begin) return {Fault::line_falls, line, 0, 0};
  if (line == lines.count - 1 && end != lines.stored) return {Fault::last_offset, line, end, lines.stored};
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t index = lines.indices[i];
    if (index < 0 || index >= lines.width) return {Fault::index_outside, line, index, lines.width};
    if (i > begin && index <= lines.indices[i - 1]) return {Fault::index_unsorted, line, index, 0};
  }
  return {};
}

/// Elements with both their indices.
template <class I>
struct Elements {
  const I* rows = nullptr;
  const I* columns = nullptr;
  std::int64_t row_count = 0;
  std::int64_t column_count = 0;
};

/// Trusts nothing.
template <class I>
constexpr Finding check_element(const Elements<I>& elements, std::int64_t i) {
  const std::int64_t row = elements.rows[i];
  const std::int64_t column = elements.columns[i];
  if (row < 0 || row >= elements.row_count) return {Fault::row_outside, i, row, elements.row_count};
  if (column < 0 || column >= elements.column_count) return {Fault::column_outside, i, column, elements.column_count};
  if (i > 0 && (elements.rows[i - 1] > row || (elements.rows[i - 1] == row && elements.columns[i - 1] >= column)))
    return {Fault::element_unsorted, i, 0, 0};
  return {};
}

/// The first place from `begin` to `end` of ascending numbers that is not below `number`; `end` when all are.
template <class I>
constexpr std::int64_t first_not_below(const I* ascending, std::int64_t begin, std::int64_t end, std::int64_t number) {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (ascending[middle] < number)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// ---- formats ----

/// COO to CSR: the offset of a row, also of the one after the last.
template <class I>
constexpr void compress_row(const I* rows, std::int64_t stored, std::int64_t row, I* offsets) {
  offsets[row] = static_cast<I>(first_not_below(rows, 0, stored, row));
}

/// CSR to COO: the rows of one row's elements.
template <class I>
constexpr void expand_row(const I* offsets, std::int64_t row, I* rows) {
  for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) rows[i] = static_cast<I>(row);
}

/// The first column of blocks from `from` on in which a row of blocks has an element; `none` when there is no more.
template <class I>
constexpr std::int64_t next_block(const Lines<I>& csr, std::int64_t block, std::int64_t block_row, std::int64_t from,
                                  std::int64_t none) {
  std::int64_t next = none;
  for (std::int64_t row = block_row * block; row < (block_row + 1) * block; ++row) {
    const std::int64_t end = csr.offsets[row + 1];
    const std::int64_t at = first_not_below(csr.indices, csr.offsets[row], end, from * block);
    if (at < end && csr.indices[at] / block < next) next = csr.indices[at] / block;
  }
  return next;
}

template <class I>
constexpr std::int64_t count_blocks(const Lines<I>& csr, std::int64_t block, std::int64_t block_row) {
  const std::int64_t none = csr.width / block;
  std::int64_t count = 0;
  for (std::int64_t at = next_block(csr, block, block_row, 0, none); at < none;
       at = next_block(csr, block, block_row, at + 1, none))
    ++count;
  return count;
}

/// The column of each block in a row of blocks, and what is in them.
template <class I, class T>
constexpr void fill_blocks(const Lines<I>& csr, const T* values, std::int64_t block, std::int64_t block_row,
                           const I* block_offsets, I* block_indices, T* block_values) {
  const std::int64_t none = csr.width / block;
  std::int64_t column = next_block(csr, block, block_row, 0, none);
  for (std::int64_t place = block_offsets[block_row]; place < block_offsets[block_row + 1]; ++place) {
    block_indices[place] = static_cast<I>(column);
    T* const out = block_values + place * block * block;
    for (std::int64_t i = 0; i < block * block; ++i) out[i] = T{};
    for (std::int64_t r = 0; r < block; ++r) {
      const std::int64_t row = block_row * block + r;
      const std::int64_t end = csr.offsets[row + 1];
      std::int64_t at = first_not_below(csr.indices, csr.offsets[row], end, column * block);
      for (; at < end && csr.indices[at] < (column + 1) * block; ++at)
        out[r * block + csr.indices[at] - column * block] = values[at];
    }
    column = next_block(csr, block, block_row, column + 1, none);
  }
}

/// BSR to CSR: one row of elements, and its offset. `row` may be the one after the last.
template <class I, class T>
constexpr void unblock_row(const Lines<I>& bsr, const T* block_values, std::int64_t block, std::int64_t row, I* offsets,
                           I* indices, T* values) {
  const std::int64_t block_row = row / block;
  if (block_row == bsr.count) {
    offsets[row] = static_cast<I>(bsr.stored * block * block);
    return;
  }
  const std::int64_t begin = bsr.offsets[block_row];
  const std::int64_t count = bsr.offsets[block_row + 1] - begin;
  const std::int64_t r = row % block;
  std::int64_t at = begin * block * block + r * count * block;
  offsets[row] = static_cast<I>(at);
  for (std::int64_t place = begin; place < begin + count; ++place)
    for (std::int64_t c = 0; c < block; ++c, ++at) {
      indices[at] = static_cast<I>(bsr.indices[place] * block + c);
      values[at] = block_values[(place * block + r) * block + c];
    }
}

/// Where an element of a BSR matrix is, by its place among the values: blocks one after another, each by rows.
struct RowAndColumn {
  std::int64_t row = 0;
  std::int64_t column = 0;
};
template <class I>
constexpr RowAndColumn position_in_blocks(const Lines<I>& bsr, std::int64_t block, std::int64_t element) {
  const std::int64_t number = element / (block * block);  // of the block
  const std::int64_t inside = element % (block * block);
  const std::int64_t line = first_not_below(bsr.offsets, 0, bsr.count + 1, number + 1) - 1;
  return {line * block + inside / block, bsr.indices[number] * block + inside % block};
}

// ---- dense ----

/// A row of a dense matrix: `count` elements `step` apart.
template <class T>
constexpr std::int64_t count_nonzeros(const T* row, std::int64_t step, std::int64_t count) {
  std::int64_t nonzeros = 0;
  for (std::int64_t i = 0; i < count; ++i) nonzeros += row[i * step] == T{} ? 0 : 1;
  return nonzeros;
}

/// Writes only from `begin` to `end`; a finding when that is too much or too little room.
template <class T, class I>
constexpr Finding fill_nonzeros(const T* row, std::int64_t step, std::int64_t count, std::int64_t line,
                                std::int64_t begin, std::int64_t end, I* indices, T* values) {
  std::int64_t at = begin;
  for (std::int64_t i = 0; i < count; ++i) {
    const T element = row[i * step];
    if (element == T{}) continue;
    if (at >= end) return {Fault::other_nonzeros, line, 0, 0};
    indices[at] = static_cast<I>(i);
    values[at] = element;
    ++at;
  }
  return {at == end ? Fault::none : Fault::other_nonzeros, line, 0, 0};
}

// ---- arithmetic ----

/// Whether a triangular system has something to divide by in this line.
template <class I, class T>
constexpr Finding check_diagonal(const Lines<I>& lines, const T* values, std::int64_t line) {
  const std::int64_t end = lines.offsets[line + 1];
  const std::int64_t at = first_not_below(lines.indices, lines.offsets[line], end, line);
  if (at == end || lines.indices[at] != line) return {Fault::no_diagonal, line, 0, 0};
  return {values[at] == T{} ? Fault::zero_diagonal : Fault::none, line, 0, 0};
}

/// Sorts a line by its indices, in place; a sorted line is only read. A heap sort: it needs no memory, and no line is
/// slow.
template <class I, class T>
constexpr void sort_line(I* indices, T* values, std::int64_t count) {
  std::int64_t sorted = 1;
  while (sorted < count && indices[sorted - 1] < indices[sorted]) ++sorted;
  if (sorted >= count) return;
  const auto swap = [&](std::int64_t a, std::int64_t b) {
    const I index = indices[a];
    const T value = values[a];
    indices[a] = indices[b];
    values[a] = values[b];
    indices[b] = index;
    values[b] = value;
  };
  const auto sink = [&](std::int64_t at, std::int64_t end) {
    while (2 * at + 1 < end) {
      std::int64_t child = 2 * at + 1;
      if (child + 1 < end && indices[child] < indices[child + 1]) ++child;
      if (!(indices[at] < indices[child])) return;
      swap(at, child);
      at = child;
    }
  };
  for (std::int64_t at = count / 2; at-- > 0;) sink(at, count);
  for (std::int64_t end = count; end-- > 1;) {
    swap(0, end);
    sink(0, end);
  }
}

/// a + b c. The textbook product of complex numbers, without the detour for infinities.
template <class T>
constexpr T plus_product(const T& a, const T& b, const T& c) {
  return a + b * c;
}
template <class R>
constexpr std::complex<R> plus_product(const std::complex<R>& a, const std::complex<R>& b, const std::complex<R>& c) {
  return {a.real() + (b.real() * c.real() - b.imag() * c.imag()),
          a.imag() + (b.real() * c.imag() + b.imag() * c.real())};
}

template <class T>
constexpr T conjugated(const T& number) {
  return number;
}
template <class R>
constexpr std::complex<R> conjugated(const std::complex<R>& number) {
  return {number.real(), -number.imag()};
}

/// A row of a BSR matrix times a vector whose elements are `step` apart. Needs no copy and no unfolded matrix.
template <bool conjugates, class I, class T>
constexpr T block_row_product(const Lines<I>& bsr, const T* values, std::int64_t block, std::int64_t row, const T* x,
                              std::int64_t step) {
  T sum{};
  const std::int64_t block_row = row / block;
  for (std::int64_t place = bsr.offsets[block_row]; place < bsr.offsets[block_row + 1]; ++place) {
    const T* const elements = values + (place * block + row % block) * block;
    const T* const from = x + bsr.indices[place] * block * step;
    for (std::int64_t c = 0; c < block; ++c)
      sum = plus_product(sum, conjugates ? conjugated(elements[c]) : elements[c], from[c * step]);
  }
  return sum;
}

/// A row times a column, of `count` elements each.
template <class T>
constexpr T dot(const T* row, std::int64_t row_step, const T* column, std::int64_t column_step, std::int64_t count) {
  T sum{};
  for (std::int64_t k = 0; k < count; ++k) sum = plus_product(sum, row[k * row_step], column[k * column_step]);
  return sum;
}

/// alpha sum + beta y; with a beta of zero, y does not matter, NaN or not.
template <class T>
constexpr T with_factors(const T& alpha, const T& sum, const T& beta, const T& y) {
  return plus_product(beta == T{} ? T{} : plus_product(T{}, beta, y), alpha, sum);
}

}  // namespace troupe::backend::sparse
