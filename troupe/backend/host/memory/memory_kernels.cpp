#include "troupe/backend/host/memory/memory_kernels.hpp"

#include <bit>
#include <tuple>
#include <type_traits>
#include <utility>

#include "troupe/backend/host/vectors/vector_rows.hpp"

namespace troupe::host {
namespace {

/// Calls `f` with the element's size as a constant.
template <class F>
decltype(auto) with_size(std::int64_t size, F&& f) {
  switch (size) {
    case 1: return f(std::integral_constant<std::size_t, 1>{});
    case 2: return f(std::integral_constant<std::size_t, 2>{});
    case 4: return f(std::integral_constant<std::size_t, 4>{});
    case 8: return f(std::integral_constant<std::size_t, 8>{});
    default: return f(std::integral_constant<std::size_t, 16>{});
  }
}

template <std::size_t size>
void fill_row(std::byte* out, std::int64_t step, std::int64_t count, const std::byte* value) noexcept {
  if (step == static_cast<std::int64_t>(size)) return vector_rows().fill[std::countr_zero(size)](value, out, count);
  for (; count > 0; --count, out += step) std::memcpy(out, value, size);
}

template <std::size_t size>
void copy_row(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step,
              std::int64_t count) noexcept {
  constexpr auto kDense = static_cast<std::int64_t>(size);
  if (in_step == kDense && out_step == kDense) {
    std::memcpy(out, in, static_cast<std::size_t>(count) * size);
  } else if (in_step == 0) {
    fill_row<size>(out, out_step, count, in);
  } else {
    for (; count > 0; --count, in += in_step, out += out_step) std::memcpy(out, in, size);
  }
}

/// The side of a square that registers hold, one line in each.
template <std::size_t size>
inline constexpr std::int64_t kSquare = size == 16  ? 1
                                        : size == 8 ? 2
                                        : size == 4 ? 4
                                                    : 8;

/// The bytes of a line, as numbers that can be shuffled.
template <std::size_t size>
struct Register {
  using Number =
      std::conditional_t<size == 8, std::uint64_t, std::conditional_t<size == 4, std::uint32_t, std::uint16_t>>;
  using Line __attribute__((vector_size(16))) = Number;
};
template <>
struct Register<1> {
  using Line __attribute__((vector_size(8))) = std::uint8_t;
};

/// The first and the last halves of two lines, their numbers in turn.
template <class Line>
std::pair<Line, Line> zip(Line a, Line b) noexcept {
  if constexpr (sizeof(a[0]) == 8)
    return {__builtin_shufflevector(a, b, 0, 2), __builtin_shufflevector(a, b, 1, 3)};
  else if constexpr (sizeof(a[0]) == 4)
    return {__builtin_shufflevector(a, b, 0, 4, 1, 5), __builtin_shufflevector(a, b, 2, 6, 3, 7)};
  else
    return {__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11),
            __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)};
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

/// Rows and columns of a tile that is transposed at once.
constexpr std::int64_t kTile = 16;

/// out[i, j] = in[i, j], where `in` lies dense along i and `out` along j; the steps are those along the other one. Tile
/// by tile, so that each line of the cache is fetched once.
template <std::size_t size>
void transpose(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step, std::int64_t rows,
               std::int64_t columns) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(size);
  const auto element = [&](std::int64_t i, std::int64_t j) {
    std::memcpy(out + i * out_step + j * kBytes, in + j * in_step + i * kBytes, size);
  };
  const std::int64_t whole_rows = rows - rows % kSquare<size>;
  const std::int64_t whole_columns = columns - columns % kSquare<size>;
  for (std::int64_t row = 0; row < whole_rows; row += kTile)
    for (std::int64_t column = 0; column < whole_columns; column += kTile)
      for (std::int64_t j = column; j < std::min(column + kTile, whole_columns); j += kSquare<size>)
        for (std::int64_t i = row; i < std::min(row + kTile, whole_rows); i += kSquare<size>)
          transpose_square<size>(in + j * in_step + i * kBytes, in_step, out + i * out_step + j * kBytes, out_step);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j) element(i, j);
}

/// The same by a team, which shares the rows of tiles.
template <std::size_t size>
void transpose(Team& team, const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step,
               std::int64_t rows, std::int64_t columns) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(size);
  team.run((rows + kTile - 1) / kTile, Grain::of_bytes(2 * kBytes * kTile * columns),
           [&](std::int64_t begin, std::int64_t end) noexcept {
             const std::int64_t first = begin * kTile;
             transpose<size>(in + first * kBytes, in_step, out + first * out_step, out_step,
                             std::min(end * kTile, rows) - first, columns);
           });
}

using CastRow = void (*)(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step,
                         std::int64_t count) noexcept;

template <Element From, Element To>
void cast_row(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step,
              std::int64_t count) noexcept {
  for (; count > 0; --count, in += in_step, out += out_step) store(out, convert<To>(load<From>(in)));
}

CastRow cast_row_for(DType in, DType out) {
  return visit(in, [&]<class From>(std::type_identity<From>) {
    return visit(out, []<class To>(std::type_identity<To>) -> CastRow { return cast_row<From, To>; });
  });
}

}  // namespace

Result<void> fill(const HostView& out, const op::Scalar& value, Team& team) {
  TROUPE_TRY(check(out));
  std::array<std::byte, 16> bytes{};
  visit(out.dtype, [&]<class T>(std::type_identity<T>) { store(bytes.data(), value.as<T>()); });
  with_size(size_bytes(out.dtype), [&]<std::size_t size>(std::integral_constant<std::size_t, size>) {
    walk<1>({&out}, team, [&](const Pointers<1>& at, const Steps<1>& step, std::int64_t count) noexcept {
      fill_row<size>(at[0], step[0], count, bytes.data());
    });
  });
  return {};
}

Result<void> copy(const HostView& in, const HostView& out, Team& team) {
  TROUPE_TRY(check_same_shape(in, out));
  TROUPE_TRY(check_same_dtype(in, out));
  with_size(size_bytes(out.dtype), [&]<std::size_t size>(std::integral_constant<std::size_t, size>) {
    constexpr auto kBytes = static_cast<std::int64_t>(size);
    const bool is_matrix = out.shape.rank() == 2 && out.shape[0] > 1 && out.shape[1] > 1;
    if (is_matrix && in.strides[0] == 1 && out.strides[1] == 1)
      return transpose<size>(team, in.data, in.strides[1] * kBytes, out.data, out.strides[0] * kBytes, out.shape[0],
                             out.shape[1]);
    if (is_matrix && in.strides[1] == 1 && out.strides[0] == 1)
      return transpose<size>(team, in.data, in.strides[0] * kBytes, out.data, out.strides[1] * kBytes, out.shape[1],
                             out.shape[0]);
    walk<2>({&in, &out}, team, [](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) noexcept {
      copy_row<size>(at[0], step[0], at[1], step[1], count);
    });
  });
  return {};
}

Result<void> cast(const HostView& in, const HostView& out, Team& team) {
  if (in.dtype == out.dtype && in.dtype != DType::boolean) return copy(in, out, team);
  TROUPE_TRY(check_same_shape(in, out));
  const CastRow row = cast_row_for(in.dtype, out.dtype);
  const ConvertRow dense = convert_row_for(in.dtype, out.dtype);
  const Steps<2> dense_steps{size_bytes(in.dtype), size_bytes(out.dtype)};
  walk<2>({&in, &out}, team, [&](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) noexcept {
    if (dense != nullptr && step == dense_steps) return dense(at[0], at[1], count);
    row(at[0], step[0], at[1], step[1], count);
  });
  return {};
}

}  // namespace troupe::host
