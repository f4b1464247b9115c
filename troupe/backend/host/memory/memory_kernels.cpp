#include "troupe/backend/host/memory/memory_kernels.hpp"

#include <type_traits>

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

/// Repeats the first `size` bytes until `total` bytes are written, by copies that double. They stop growing at a size
/// that stays in the nearest cache.
void repeat(std::byte* out, std::size_t size, std::size_t total) noexcept {
  constexpr std::size_t kNearBytes = 16384;
  std::size_t done = size;
  while (done < total) {
    const std::size_t piece = std::min({done, total - done, kNearBytes});  // all multiples of `size`
    std::memcpy(out + done, out, piece);
    done += piece;
  }
}

template <std::size_t size>
void fill_row(std::byte* out, std::int64_t step, std::int64_t count, const std::byte* value) noexcept {
  if (step == static_cast<std::int64_t>(size)) {
    std::memcpy(out, value, size);
    return repeat(out, size, static_cast<std::size_t>(count) * size);
  }
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

/// Elements of 4 bytes are transposed in squares of 4, those of 8 in squares of 2: a register holds a line of it.
template <std::size_t size>
inline constexpr std::int64_t kSquare = size == 4   ? 4
                                        : size == 8 ? 2
                                                    : 0;

template <std::size_t size>
struct Register;
template <>
struct Register<4> {
  using Line __attribute__((vector_size(16))) = std::uint32_t;
};
template <>
struct Register<8> {
  using Line __attribute__((vector_size(16))) = std::uint64_t;
};

template <std::size_t size>
void transpose_square(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step) noexcept {
  using Line = typename Register<size>::Line;
  const auto load_line = [&](std::int64_t i) {
    Line line;
    std::memcpy(&line, in + i * in_step, sizeof(line));
    return line;
  };
  const auto store_line = [&](std::int64_t i, Line line) { std::memcpy(out + i * out_step, &line, sizeof(line)); };
  const Line a = load_line(0);
  const Line b = load_line(1);
  if constexpr (size == 8) {
    store_line(0, __builtin_shufflevector(a, b, 0, 2));
    store_line(1, __builtin_shufflevector(a, b, 1, 3));
  } else {
    const Line c = load_line(2);
    const Line d = load_line(3);
    const Line ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const Line ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Line cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const Line cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    store_line(0, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
    store_line(1, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
    store_line(2, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
    store_line(3, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
  }
}

/// out[i, j] = in[i, j], where `in` lies dense along i and `out` along j; the steps are those along the other one. Tile
/// by tile, so that each line of the cache is fetched once.
template <std::size_t size>
void transpose(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step, std::int64_t rows,
               std::int64_t columns) noexcept {
  constexpr std::int64_t kTile = 16;
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

using CastRow = void (*)(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step,
                         std::int64_t count);

/// Whether compilers turn the conversion into vector instructions.
template <class From, class To>
inline constexpr bool kVectorizes = std::conjunction_v<std::is_arithmetic<From>, std::is_arithmetic<To>>;

template <Element From, Element To>
void cast_row(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step, std::int64_t count) {
  if constexpr (kVectorizes<From, To>) {
    if (in_step == sizeof(From) && out_step == sizeof(To)) {
      constexpr std::int64_t kBlock = 16;
      for (; count >= kBlock; count -= kBlock, in += kBlock * in_step, out += kBlock * out_step) {
        std::array<To, kBlock> block;
        for (std::size_t i = 0; i < kBlock; ++i) block[i] = convert<To>(load<From>(in + i * sizeof(From)));
        std::memcpy(out, block.data(), sizeof(block));
      }
    }
  }
  for (; count > 0; --count, in += in_step, out += out_step) store(out, convert<To>(load<From>(in)));
}

CastRow cast_row_for(DType in, DType out) {
  return visit(in, [&]<class From>(std::type_identity<From>) {
    return visit(out, []<class To>(std::type_identity<To>) -> CastRow { return cast_row<From, To>; });
  });
}

}  // namespace

Result<void> fill(const HostView& out, const op::Scalar& value) {
  TROUPE_TRY(check(out));
  std::array<std::byte, 16> bytes{};
  visit(out.dtype, [&]<class T>(std::type_identity<T>) { store(bytes.data(), value.as<T>()); });
  with_size(size_bytes(out.dtype), [&]<std::size_t size>(std::integral_constant<std::size_t, size>) {
    walk<1>({&out}, [&](const Pointers<1>& at, const Steps<1>& step, std::int64_t count) {
      fill_row<size>(at[0], step[0], count, bytes.data());
    });
  });
  return {};
}

Result<void> copy(const HostView& in, const HostView& out) {
  TROUPE_TRY(check_same_shape(in, out));
  TROUPE_TRY(check_same_dtype(in, out));
  with_size(size_bytes(out.dtype), [&]<std::size_t size>(std::integral_constant<std::size_t, size>) {
    if constexpr (kSquare<size> > 0) {
      constexpr auto kBytes = static_cast<std::int64_t>(size);
      const bool is_matrix = out.shape.rank() == 2 && out.shape[0] > 1 && out.shape[1] > 1;
      if (is_matrix && in.strides[0] == 1 && out.strides[1] == 1)
        return transpose<size>(in.data, in.strides[1] * kBytes, out.data, out.strides[0] * kBytes, out.shape[0],
                               out.shape[1]);
      if (is_matrix && in.strides[1] == 1 && out.strides[0] == 1)
        return transpose<size>(in.data, in.strides[0] * kBytes, out.data, out.strides[1] * kBytes, out.shape[1],
                               out.shape[0]);
    }
    walk<2>({&in, &out}, [](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) {
      copy_row<size>(at[0], step[0], at[1], step[1], count);
    });
  });
  return {};
}

Result<void> cast(const HostView& in, const HostView& out) {
  if (in.dtype == out.dtype && in.dtype != DType::boolean) return copy(in, out);
  TROUPE_TRY(check_same_shape(in, out));
  const CastRow row = cast_row_for(in.dtype, out.dtype);
  walk<2>({&in, &out}, [row](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) {
    row(at[0], step[0], at[1], step[1], count);
  });
  return {};
}

}  // namespace troupe::host
