// Matrices in memory: where their elements are, and how to describe them to BLAS, which takes only rows or columns
// without gaps.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "troupe/backend/host/kernels/host_view.hpp"

namespace troupe::host {

inline constexpr std::int64_t kMostInt = std::numeric_limits<int>::max();

/// A matrix in memory: element [i, j] is `i * row_step + j * column_step` bytes from `data`.
struct Matrix {
  std::byte* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_step = 0;
  std::int64_t column_step = 0;

  std::byte* at(std::int64_t i, std::int64_t j) const noexcept { return data + i * row_step + j * column_step; }
  /// `row_count` by `column_count` elements from [i, j] on.
  Matrix block(std::int64_t i, std::int64_t j, std::int64_t row_count, std::int64_t column_count) const noexcept {
    return {at(i, j), row_count, column_count, row_step, column_step};
  }
  Matrix transposed() const noexcept { return {data, columns, rows, column_step, row_step}; }
};

/// Of a view of rank 2.
inline Matrix matrix_of(const HostView& view) {
  const std::int64_t size = size_bytes(view.dtype);
  return {view.data, view.shape[0], view.shape[1], view.strides[0] * size, view.strides[1] * size};
}

/// A matrix as cblas takes it: rows or columns side by side, `leading` elements apart.
struct Layout {
  bool row_major = false;
  bool column_major = false;  // both are true of a single row or column
  int leading_of_rows = 0;
  int leading_of_columns = 0;

  bool usable() const noexcept { return row_major || column_major; }
};

/// Whether `lines` runs of `length` elements, each without gaps, can be named by a leading dimension, and by which.
inline bool has_leading(std::int64_t lines, std::int64_t length, std::int64_t line_step, std::int64_t element_step,
                        std::int64_t size, int& leading) noexcept {
  if (length > 1 && element_step != size) return false;
  const std::int64_t apart = lines > 1 ? line_step / size : length;
  if (apart < length || apart > kMostInt) return false;
  leading = static_cast<int>(apart);
  return true;
}

inline Layout layout_of(const Matrix& m, std::int64_t size, std::size_t alignment) noexcept {
  Layout layout;
  if (reinterpret_cast<std::uintptr_t>(m.data) % alignment != 0) return layout;
  layout.row_major = has_leading(m.rows, m.columns, m.row_step, m.column_step, size, layout.leading_of_rows);
  layout.column_major = has_leading(m.columns, m.rows, m.column_step, m.row_step, size, layout.leading_of_columns);
  return layout;
}

template <class T>
Layout layout_of(const Matrix& m) noexcept {
  return layout_of(m, sizeof(T), alignof(T));
}

/// A matrix of `Wide` in `memory` without gaps, in the order of `like`.
template <class Wide>
Matrix dense_like(const Matrix& like, std::byte* memory) noexcept {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Wide));
  if (std::abs(like.row_step) < std::abs(like.column_step))
    return {memory, like.rows, like.columns, kSize, like.rows * kSize};
  return {memory, like.rows, like.columns, like.columns * kSize, kSize};
}

/// Calls `f` with the addresses of each element in both, in the order of `y`.
template <class F>
void for_each_element(const Matrix& x, const Matrix& y, F&& f) {
  const bool down = std::abs(y.row_step) < std::abs(y.column_step);
  const std::int64_t lines = down ? y.columns : y.rows;
  const std::int64_t length = down ? y.rows : y.columns;
  const std::int64_t x_step = down ? x.row_step : x.column_step;
  const std::int64_t y_step = down ? y.row_step : y.column_step;
  for (std::int64_t line = 0; line < lines; ++line) {
    std::byte* at_x = down ? x.at(0, line) : x.at(line, 0);
    std::byte* at_y = down ? y.at(0, line) : y.at(line, 0);
    for (std::int64_t i = 0; i < length; ++i, at_x += x_step, at_y += y_step) f(at_x, at_y);
  }
}

}  // namespace troupe::host
