#include "troupe/backend/host/kernels/plane.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "troupe/backend/host/vectors/vector_rows.hpp"

namespace troupe::host {
namespace {

/// The side of a square that registers hold, one line in each.
template <std::size_t size>
inline constexpr std::int64_t kSquare = 16 / size;

/// The bytes of a line, as numbers that can be shuffled.
template <std::size_t size>
struct Register {
  using Number = std::conditional_t<
      size == 8, std::uint64_t,
      std::conditional_t<size == 4, std::uint32_t, std::conditional_t<size == 2, std::uint16_t, std::uint8_t>>>;
  using Line __attribute__((vector_size(16))) = Number;
};

/// The first and the last halves of two lines, their numbers in turn.
template <class Line>
std::pair<Line, Line> zip(Line a, Line b) noexcept {
  if constexpr (sizeof(a[0]) == 8)
    return {__builtin_shufflevector(a, b, 0, 2), __builtin_shufflevector(a, b, 1, 3)};
  else if constexpr (sizeof(a[0]) == 4)
    return {__builtin_shufflevector(a, b, 0, 4, 1, 5), __builtin_shufflevector(a, b, 2, 6, 3, 7)};
  else if constexpr (sizeof(a[0]) == 2)
    return {__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11),
            __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)};
  else
    return {__builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
            __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)};
}

template <std::size_t size>
void transpose_square(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step) noexcept {
  if constexpr (size == 16) {
    std::memcpy(out, in, size);
  } else {
    constexpr auto kLines = static_cast<std::size_t>(kSquare<size>);
    std::array<typename Register<size>::Line, kLines> lines;
    for (std::size_t i = 0; i < kLines; ++i)
      std::memcpy(&lines[i], in + static_cast<std::int64_t>(i) * in_step, sizeof(lines[i]));
    // Each round zips line i with the one half of all further on; when there were as many rounds as bits in the number
    // of lines, rows have become columns.
    for (std::size_t round = 1; round < kLines; round *= 2) {
      std::array<typename Register<size>::Line, kLines> zipped;
      for (std::size_t i = 0; i < kLines / 2; ++i)
        std::tie(zipped[2 * i], zipped[2 * i + 1]) = zip(lines[i], lines[i + kLines / 2]);
      lines = zipped;
    }
    for (std::size_t i = 0; i < kLines; ++i)
      std::memcpy(out + static_cast<std::int64_t>(i) * out_step, &lines[i], sizeof(lines[i]));
  }
}

/// Rows and columns that fill a line of the cache.
template <std::size_t size>
inline constexpr std::int64_t kCacheLine = 64 / size;

/// out[i, j] = in[i, j], where `in` lies dense along i and `out` along j; the steps are those along the other one. In
/// squares of cache lines, while those of the next one come in: their addresses are too far apart for the CPU to guess.
template <std::size_t size>
void transpose(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step, std::int64_t rows,
               std::int64_t columns) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(size);
  constexpr std::int64_t kLine = kCacheLine<size>;
  const std::int64_t whole_rows = rows - rows % kSquare<size>;
  const std::int64_t whole_columns = columns - columns % kSquare<size>;
  for (std::int64_t row = 0; row < whole_rows; row += kLine)
    for (std::int64_t column = 0; column < whole_columns; column += kLine) {
      const std::int64_t last_row = std::min(row + kLine, whole_rows);
      const std::int64_t last_column = std::min(column + kLine, whole_columns);
      for (std::int64_t j = last_column; j < std::min(last_column + kLine, columns); ++j)
        __builtin_prefetch(in + j * in_step + row * kBytes);
      for (std::int64_t i = last_row; i < std::min(last_row + kLine, rows); ++i)
        __builtin_prefetch(out + i * out_step + column * kBytes, 1);
      for (std::int64_t i = row; i < last_row; i += kSquare<size>)
        for (std::int64_t j = column; j < last_column; j += kSquare<size>)
          transpose_square<size>(in + j * in_step + i * kBytes, in_step, out + i * out_step + j * kBytes, out_step);
    }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      std::memcpy(out + i * out_step + j * kBytes, in + j * in_step + i * kBytes, size);
}

/// Elements whose size is known when this is compiled.
template <std::size_t bytes>
struct FixedSize {
  static constexpr std::int64_t size = bytes;
  void move(const std::byte* in, std::byte* out) const noexcept { std::memcpy(out, in, bytes); }
};

/// Any others: small ones without a call of the C library.
struct AnySize {
  std::int64_t size;
  void move(const std::byte* in, std::byte* out) const noexcept {
    if (size > 256) return void(std::memcpy(out, in, static_cast<std::size_t>(size)));
    if (size >= 16) return in_pieces<16>(in, out);
    if (size >= 8) return in_pieces<8>(in, out);
    if (size >= 4) return in_pieces<4>(in, out);
    for (std::int64_t i = 0; i < size; ++i) out[i] = in[i];
  }
  /// The last piece overlaps the one before.
  template <std::size_t piece>
  void in_pieces(const std::byte* in, std::byte* out) const noexcept {
    constexpr auto kPiece = static_cast<std::int64_t>(piece);
    for (std::int64_t done = 0; done < size - kPiece; done += kPiece) std::memcpy(out + done, in + done, piece);
    std::memcpy(out + size - kPiece, in + size - kPiece, piece);
  }
};

/// Rows of the input that are moved at once are about so many bytes long: a few lines of the cache.
constexpr std::int64_t kStripBytes = 512;
/// So many strips are fetched ahead.
constexpr std::int64_t kAhead = 4;

/// The same for elements of any size: a strip along i, then the next one along j.
template <class Element>
void transpose(const Element& element, const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step,
               std::int64_t rows, std::int64_t columns) noexcept {
  const std::int64_t strip = std::max<std::int64_t>(kStripBytes / element.size, 1);
  for (std::int64_t row = 0; row < rows; row += strip) {
    const std::int64_t last = std::min(row + strip, rows);
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::byte* const from = in + j * in_step;
      const std::byte* const later = from + kAhead * in_step;
      if (j + kAhead < columns)
        for (std::int64_t byte = row * element.size; byte < last * element.size; byte += 64)
          __builtin_prefetch(later + byte);
      for (std::int64_t i = row; i < last; ++i)
        element.move(from + i * element.size, out + i * out_step + j * element.size);
    }
  }
}

void copy_elements(const AnySize& element, const std::byte* in, std::int64_t in_step, std::byte* out,
                   std::int64_t out_step, std::int64_t count) noexcept {
  for (; count > 0; --count, in += in_step, out += out_step) element.move(in, out);
}

template <std::size_t size>
void copy_elements(const FixedSize<size>& element, const std::byte* in, std::int64_t in_step, std::byte* out,
                   std::int64_t out_step, std::int64_t count) noexcept {
  if (in_step == 2 * element.size && out_step == element.size)
    return vector_rows().halve[std::countr_zero(size)](in, out, count);
  for (; count > 0; --count, in += in_step, out += out_step) element.move(in, out);
}

template <std::size_t size>
void transpose(const FixedSize<size>&, const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step,
               std::int64_t rows, std::int64_t columns) noexcept {
  transpose<size>(in, in_step, out, out_step, rows, columns);
}

template <class Element>
void copy_plane_of(const Element& element, const Plane& plane) noexcept {
  const std::int64_t size = element.size;
  if (plane.in_row == size && plane.out_column == size)
    return transpose(element, plane.in, plane.in_column, plane.out, plane.out_row, plane.rows, plane.columns);
  if (plane.in_column == size && plane.out_row == size)
    return transpose(element, plane.in, plane.in_row, plane.out, plane.out_column, plane.columns, plane.rows);
  const bool has_dense_rows = plane.in_column == size && plane.out_column == size;
  for (std::int64_t row = 0; row < plane.rows; ++row) {
    const std::byte* const in = plane.in + row * plane.in_row;
    std::byte* const out = plane.out + row * plane.out_row;
    if (has_dense_rows)
      std::memcpy(out, in, static_cast<std::size_t>(plane.columns * size));
    else
      copy_elements(element, in, plane.in_column, out, plane.out_column, plane.columns);
  }
}

}  // namespace

void copy_plane(const Plane& plane, std::int64_t size) noexcept {
  switch (size) {
    case 1: return copy_plane_of(FixedSize<1>{}, plane);
    case 2: return copy_plane_of(FixedSize<2>{}, plane);
    case 4: return copy_plane_of(FixedSize<4>{}, plane);
    case 8: return copy_plane_of(FixedSize<8>{}, plane);
    case 16: return copy_plane_of(FixedSize<16>{}, plane);
    default: return copy_plane_of(AnySize{size}, plane);
  }
}

}  // namespace troupe::host
