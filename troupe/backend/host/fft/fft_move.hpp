// Lines between memory of any strides and planes, in which their numbers lie side by side: what makes the loops of
// transforms the same for every layout.
#pragma once

#include <cstring>

#include "troupe/backend/host/fft/fft_rows.hpp"
#include "troupe/backend/host/kernels/plane.hpp"

namespace troupe::host {

/// Numbers of several lines in memory; steps in bytes.
struct Spread {
  std::byte* first = nullptr;
  std::int64_t row = 0;   // from one number of a line to the next
  std::int64_t lane = 0;  // from one line to the next
};

/// Real numbers, `rows` of each of `lanes` lines, to lane `lane` and on of rows of `width`.
template <class T>
void move_rows(const Spread& from, std::int64_t rows, std::int64_t lane, std::int64_t lanes, std::int64_t width,
               T* to) noexcept {
  constexpr std::int64_t kSize = sizeof(T);
  copy_plane({.in = from.first,
              .in_row = from.row,
              .in_column = from.lane,
              .out = reinterpret_cast<std::byte*>(to + lane),
              .out_row = width * kSize,
              .out_column = kSize,
              .rows = rows,
              .columns = lanes},
             kSize);
}
template <class T>
void give_rows(const T* from, const Spread& to, std::int64_t rows, std::int64_t lane, std::int64_t lanes,
               std::int64_t width) noexcept {
  constexpr std::int64_t kSize = sizeof(T);
  copy_plane({.in = reinterpret_cast<const std::byte*>(from + lane),
              .in_row = width * kSize,
              .in_column = kSize,
              .out = to.first,
              .out_row = to.row,
              .out_column = to.lane,
              .rows = rows,
              .columns = lanes},
             kSize);
}

/// Whether complex numbers of several lines go straight between memory and planes: where the lines are dense and a
/// number fills a vector, so that there is nothing to shuffle.
template <class T>
constexpr bool goes_straight(const Spread& spread) noexcept {
  return sizeof(T) == 8 && spread.row == 2 * sizeof(T);
}

/// Complex numbers by way of `between`, which `split` then makes planes of. A line that is alone and dense goes to the
/// planes at once, as any line that is alone does.
template <class T>
void load_complex(const FftRows<T>& loops, const Spread& from, std::int64_t rows, std::int64_t lane, std::int64_t lanes,
                  std::int64_t width, Planes<T> to, T* between) noexcept {
  constexpr std::int64_t kSize = 2 * sizeof(T);
  if (width == 1) {
    if (from.row == kSize) return loops.split(from.first, to, rows);
    move_rows<T>(from, rows, 0, 1, 1, to.re);
    return move_rows<T>({from.first + sizeof(T), from.row, from.lane}, rows, 0, 1, 1, to.im);
  }
  if (goes_straight<T>(from)) {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < lanes; ++i) {
        const std::byte* const at = from.first + row * kSize + i * from.lane;
        std::memcpy(to.re + row * width + lane + i, at, sizeof(T));
        std::memcpy(to.im + row * width + lane + i, at + sizeof(T), sizeof(T));
      }
    return;
  }
  copy_plane({.in = from.first,
              .in_row = from.row,
              .in_column = from.lane,
              .out = reinterpret_cast<std::byte*>(between + 2 * lane),
              .out_row = width * kSize,
              .out_column = kSize,
              .rows = rows,
              .columns = lanes},
             kSize);
}
/// The way back; `join` has put the numbers into `between`, unless the line is alone.
template <class T>
void give_complex(const FftRows<T>& loops, const Spread& to, std::int64_t rows, std::int64_t lane, std::int64_t lanes,
                  std::int64_t width, Planes<const T> from, T factor, T* between) noexcept {
  constexpr std::int64_t kSize = 2 * sizeof(T);
  if (width == 1 && to.row == kSize) return loops.join(from, factor, to.first, rows);
  if (width == 1) loops.join(from, factor, reinterpret_cast<std::byte*>(between), rows);
  if (width > 1 && goes_straight<T>(to)) {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < lanes; ++i) {
        const T number[2] = {from.re[row * width + lane + i] * factor, from.im[row * width + lane + i] * factor};
        std::memcpy(to.first + row * kSize + i * to.lane, number, sizeof(number));
      }
    return;
  }
  copy_plane({.in = reinterpret_cast<const std::byte*>(between + 2 * lane),
              .in_row = width * kSize,
              .in_column = kSize,
              .out = to.first,
              .out_row = to.row,
              .out_column = to.lane,
              .rows = rows,
              .columns = lanes},
             kSize);
}

}  // namespace troupe::host
