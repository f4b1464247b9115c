// A sparse matrix in this process's memory, with its types at compile time, and the walk over its elements.
// What the host's sparse ops share.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "troupe/backend/four_types.hpp"
#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/backend/sparse_steps.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::host {

namespace sparse = backend::sparse;

/// Calls `f.template operator()<I>()` with the type of the indices. Needs a structure that was checked.
template <class F>
Result<void> with_index(DType index_type, F&& f) {
  return index_type == DType::i32 ? f.template operator()<std::int32_t>() : f.template operator()<std::int64_t>();
}
/// The same with the type of the values, too: `f.template operator()<T, I>()`.
template <class F>
Result<void> with_types(DType dtype, DType index_type, F&& f) {
  return with_index(index_type, [&]<class I>() -> Result<void> {
    return backend::visit_four("a sparse matrix", dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
      return f.template operator()<T, I>();
    });
  });
}
template <class F>
Result<void> with_types(const op::SparseView& matrix, F&& f) {
  return with_types(matrix.values.dtype, matrix.indices.dtype, f);
}

template <class I>
sparse::Lines<I> lines_of(const op::SparseView& matrix, const HostViews& here) noexcept {
  return {here.data<I>(matrix.offsets), here.data<I>(matrix.indices), matrix.lines(), matrix.width(), matrix.stored()};
}

/// A matrix as lines of elements: COO gets offsets, and BSR is unfolded, in memory that this keeps.
template <class T, class I>
struct CompressedLines {
  sparse::Lines<I> lines;
  const T* values = nullptr;
  Scratch offsets_memory = nullptr;
  Scratch indices_memory = nullptr;
  Scratch values_memory = nullptr;

  static Result<CompressedLines> make(const op::SparseView& matrix, const HostViews& here) {
    CompressedLines made{.lines = lines_of<I>(matrix, here), .values = here.data<T>(matrix.values)};
    if (matrix.format == SparseFormat::csr || matrix.format == SparseFormat::csc) return made;
    I* const offsets = TROUPE_TRY(made.room<I>(made.offsets_memory, matrix.rows + 1));
    made.lines.offsets = offsets;
    if (matrix.format == SparseFormat::coo) {
      for (std::int64_t row = 0; row <= matrix.rows; ++row)
        sparse::compress_row(here.data<I>(matrix.offsets), matrix.stored(), row, offsets);
      return made;
    }
    const std::int64_t stored = op::element_count(matrix.values);
    if (stored > std::numeric_limits<I>::max())
      return fail(ErrorKind::unsupported, "the blocks have too many elements for 32-bit indices");
    I* const indices = TROUPE_TRY(made.room<I>(made.indices_memory, stored));
    T* const values = TROUPE_TRY(made.room<T>(made.values_memory, stored));
    for (std::int64_t row = 0; row <= matrix.rows; ++row)
      sparse::unblock_row(lines_of<I>(matrix, here), made.values, matrix.block, row, offsets, indices, values);
    made.lines = {offsets, indices, matrix.rows, matrix.columns, stored};
    made.values = values;
    return made;
  }

 private:
  template <class U>
  static Result<U*> room(Scratch& memory, std::int64_t count) {
    memory = TROUPE_TRY(make_scratch(count * static_cast<std::int64_t>(sizeof(U))));
    return reinterpret_cast<U*>(memory.get());
  }
};

/// Calls `f(row, column, place)` for each element, in the order of the structure.
template <class I, class F>
void for_each_element(const op::SparseView& matrix, const HostViews& here, F&& f) {
  const I* const offsets = here.data<I>(matrix.offsets);
  const I* const indices = here.data<I>(matrix.indices);
  if (matrix.format == SparseFormat::coo) {
    for (std::int64_t i = 0; i < matrix.stored(); ++i) f(std::int64_t{offsets[i]}, std::int64_t{indices[i]}, i);
    return;
  }
  for (std::int64_t line = 0; line < matrix.lines(); ++line)
    for (std::int64_t i = offsets[line]; i < offsets[line + 1]; ++i) {
      const std::int64_t index = indices[i];
      if (matrix.format == SparseFormat::csr) {
        f(line, index, i);
      } else if (matrix.format == SparseFormat::csc) {
        f(index, line, i);
      } else {
        const std::int64_t block = matrix.block;
        for (std::int64_t r = 0; r < block; ++r)
          for (std::int64_t c = 0; c < block; ++c) f(line * block + r, index * block + c, (i * block + r) * block + c);
      }
    }
}

/// A vector (of one column) or matrix of any strides.
template <class T>
struct DenseView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 1;
  std::int64_t row_step = 0;
  std::int64_t column_step = 0;

  DenseView(const op::View& view, const HostViews& here) noexcept
      : data(here.data<T>(view)), rows(view.shape[0]), row_step(view.strides[0]) {
    if (view.shape.rank() == 1) return;
    columns = view.shape[1];
    column_step = view.strides[1];
  }
  T* row(std::int64_t i) const noexcept { return data == nullptr ? nullptr : data + i * row_step; }
  T& at(std::int64_t i, std::int64_t j) const noexcept { return data[i * row_step + j * column_step]; }
};

/// This many elements fill a core's registers, and compilers vectorize loops over exactly this many well.
template <class T>
inline constexpr std::int64_t kChunk = 128 / static_cast<std::int64_t>(sizeof(T));
template <class T>
inline constexpr std::integral_constant<std::int64_t, kChunk<T>> kWholeChunk{};

/// Lines of a dense matrix are needed in no order, so the beginning of each is prefetched this many elements ahead.
/// Always inline, because g++ drops calls of functions that do nothing else.
inline constexpr std::int64_t kElementsAhead = 16;
template <class T>
[[gnu::always_inline]] inline void prefetch_elements(const T* first, std::int64_t count) noexcept {
  constexpr std::int64_t kCacheLine = 64 / static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kMostCacheLines = 8;
  for (std::int64_t i = 0; i < std::min(count, kMostCacheLines * kCacheLine); i += kCacheLine)
    __builtin_prefetch(first + i);
}

/// to += factor from, for `count` elements without gaps: any number, or `kWholeChunk`.
template <class T>
void add_product(T* __restrict to, const T* __restrict from, const T& factor, auto count) {
  for (std::int64_t j = 0; j < count; ++j) to[j] = sparse::plus_product(to[j], factor, from[j]);
}
/// The same for a row of a dense matrix, of any strides, and a row of another one.
template <class T>
void add_product(const DenseView<T>& to, std::int64_t to_row, const DenseView<T>& from, std::int64_t from_row,
                 const T& factor) {
  T* const out = to.row(to_row);
  const T* const in = from.row(from_row);
  std::int64_t j = 0;
  if (to.column_step == 1 && from.column_step == 1)
    for (; j + kChunk<T> <= to.columns; j += kChunk<T>) add_product(out + j, in + j, factor, kWholeChunk<T>);
  for (; j < to.columns; ++j)
    out[j * to.column_step] = sparse::plus_product(out[j * to.column_step], factor, in[j * from.column_step]);
}

/// Turns counts after a leading zero into offsets, and gives their sum.
template <class I>
void sum_up(I* offsets, std::int64_t lines, std::int64_t* total) {
  std::int64_t sum = 0;
  for (std::int64_t line = 0; line <= lines; ++line) {
    sum += offsets[line];
    offsets[line] = static_cast<I>(sum);
  }
  *total = sum;
}

}  // namespace troupe::host
