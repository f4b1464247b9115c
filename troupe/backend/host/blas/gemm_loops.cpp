#include "troupe/backend/host/blas/gemm_loops.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/backend/host/kernels/scratch.hpp"

namespace troupe::host {
namespace {

/// How the work on `T` is cut. A tile of c is `kTileRows` by `kTileColumns` elements, its sums stay in registers. A
/// panel of a holds `kRows` by `kDepth` elements and stays in the second cache, one of b `kDepth` by `kColumns` in the
/// third.
template <class T>
struct Cut {
  using Part = detail::RealType<T>;
  static constexpr int kParts = detail::kIsComplex<T> ? 2 : 1;  // a complex element is packed as two real ones, apart
  static constexpr int kVectorBytes = 16;                       // what every x86-64 and every aarch64 has
  static constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(Part));
  static constexpr int kVectors = 2;  // across a tile
#ifdef __aarch64__
  static constexpr int kTileRows = 8 / kParts;  // 32 registers
#else
  static constexpr int kTileRows = 4 / kParts;  // 16 registers
#endif
  static constexpr int kTileColumns = kVectors * kLanes;
  static constexpr std::int64_t kDepth = 256;
  static constexpr std::int64_t kRows = 512 / static_cast<std::int64_t>(sizeof(T));
  static constexpr std::int64_t kColumns = 4096 / static_cast<std::int64_t>(sizeof(T));
  static_assert(kRows % kTileRows == 0 && kColumns % kTileColumns == 0);
};

/// Packs `panel` in strips of `width` rows; each strip holds its rows' first elements, then their second elements, and
/// so on. Rows that are missing in the last strip are zero. Panels of b come here transposed.
template <class T, int width>
void pack(const Matrix& panel, typename Cut<T>::Part* out) noexcept {
  using Part = typename Cut<T>::Part;
  constexpr int kGroup = width * Cut<T>::kParts;
  const auto put = [&](Part* group, int i, const std::byte* from) {
    if constexpr (detail::kIsComplex<T>) {
      const T value = load<T>(from);
      group[i] = value.real();
      group[width + i] = value.imag();
    } else {
      group[i] = load<T>(from);
    }
  };
  for (std::int64_t first = 0; first < panel.rows; first += width, out += panel.columns * kGroup) {
    const int rows = static_cast<int>(std::min<std::int64_t>(width, panel.rows - first));
    if (rows < width) std::fill_n(out, panel.columns * kGroup, Part{0});
    const std::byte* const from = panel.at(first, 0);
    if (rows == width && std::abs(panel.row_step) <= std::abs(panel.column_step)) {
      for (std::int64_t p = 0; p < panel.columns; ++p)
        for (int i = 0; i < width; ++i) put(out + p * kGroup, i, from + i * panel.row_step + p * panel.column_step);
    } else {
      for (int i = 0; i < rows; ++i)
        for (std::int64_t p = 0; p < panel.columns; ++p)
          put(out + p * kGroup, i, from + i * panel.row_step + p * panel.column_step);
    }
  }
}

Matrix transposed(const Matrix& m) noexcept { return {m.data, m.columns, m.rows, m.column_step, m.row_step}; }

/// The sums of one tile. Complex ones are kept as real and imaginary parts.
template <class T>
struct alignas(64) Tile {
  static constexpr std::size_t kElements = Cut<T>::kTileRows * Cut<T>::kTileColumns;
  std::array<typename Cut<T>::Part, kElements * Cut<T>::kParts> sums;
};

/// Calls `f` with 0, 1, ... count - 1 as constants, without a loop.
template <std::size_t count, class F>
[[gnu::always_inline]] inline void unrolled(F&& f) {
  [&]<std::size_t... i>(std::index_sequence<i...>) { (f(i), ...); }(std::make_index_sequence<count>{});
}

/// The product of a strip of a and a strip of b, `depth` elements deep. All is written out, and vectors are moved one
/// by one, so that every sum stays in its register.
template <class T>
void multiply_strips(std::int64_t depth, const typename Cut<T>::Part* a, const typename Cut<T>::Part* b,
                     Tile<T>& tile) noexcept {
  using C = Cut<T>;
  using Vector [[gnu::vector_size(C::kVectorBytes), gnu::may_alias]] = typename C::Part;
  constexpr std::size_t kParts = C::kParts;
  constexpr std::size_t kRows = C::kTileRows;
  constexpr std::size_t kVectors = C::kVectors;
  Vector sums[kParts * kRows * kVectors] = {};
  for (; depth > 0; --depth, a += kParts * kRows, b += kParts * C::kTileColumns) {
    const auto* const columns = reinterpret_cast<const Vector*>(b);
    unrolled<kRows * kVectors>([&](std::size_t at) {
      const typename C::Part row = a[at / kVectors];
      const Vector column = columns[at % kVectors];
      sums[at] += row * column;
      if constexpr (detail::kIsComplex<T>) {
        const typename C::Part imaginary_row = a[kRows + at / kVectors];
        const Vector imaginary_column = columns[kVectors + at % kVectors];
        sums[at] -= imaginary_row * imaginary_column;
        sums[kRows * kVectors + at] += row * imaginary_column;
        sums[kRows * kVectors + at] += imaginary_row * column;
      }
    });
  }
  static_assert(sizeof(sums) == sizeof(tile.sums));
  auto* const out = reinterpret_cast<Vector*>(tile.sums.data());
  unrolled<kParts * kRows * kVectors>([&](std::size_t at) { out[at] = sums[at]; });
}

/// Without the detour for infinities that `operator*` of std::complex takes.
template <class T>
T product(T x, T y) noexcept {
  if constexpr (detail::kIsComplex<T>)
    return T(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  else
    return x * y;
}

/// c = alpha tile + beta c, for a c that may be smaller than the tile.
template <class T>
void add_tile(T alpha, const Tile<T>& tile, T beta, const Matrix& c) noexcept {
  using C = Cut<T>;
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.columns; ++j) {
      const auto at = static_cast<std::size_t>(i * C::kTileColumns + j);
      T sum;
      if constexpr (detail::kIsComplex<T>)
        sum = T(tile.sums[at], tile.sums[Tile<T>::kElements + at]);
      else
        sum = tile.sums[at];
      std::byte* const to = c.at(i, j);
      T result = product(alpha, sum);
      if (beta != T{0}) result += product(beta, load<T>(to));
      store(to, result);
    }
  }
}

/// c = alpha a b + beta c for packed panels of a and b.
template <class T>
void multiply_panels(std::int64_t depth, T alpha, const typename Cut<T>::Part* a, const typename Cut<T>::Part* b,
                     T beta, const Matrix& c) noexcept {
  using C = Cut<T>;
  for (std::int64_t j = 0; j < c.columns; j += C::kTileColumns) {
    for (std::int64_t i = 0; i < c.rows; i += C::kTileRows) {
      Tile<T> tile;
      multiply_strips<T>(depth, a + i * depth * C::kParts, b + j * depth * C::kParts, tile);
      add_tile(alpha, tile, beta,
               c.block(i, j, std::min<std::int64_t>(C::kTileRows, c.rows - i),
                       std::min<std::int64_t>(C::kTileColumns, c.columns - j)));
    }
  }
}

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

template <class T>
Result<void> gemm_loops(T alpha, const Matrix& a, const Matrix& b, T beta, const Matrix& c) {
  using C = Cut<T>;
  const std::int64_t most_depth = std::min(C::kDepth, a.columns);
  const std::int64_t most_rows = round_up(std::min(C::kRows, c.rows), C::kTileRows);
  const std::int64_t most_columns = round_up(std::min(C::kColumns, c.columns), C::kTileColumns);
  const auto size = static_cast<std::int64_t>(sizeof(T));
  const Scratch a_memory = TROUPE_TRY(make_scratch(most_rows * most_depth * size));
  const Scratch b_memory = TROUPE_TRY(make_scratch(most_columns * most_depth * size));
  auto* const a_panel = reinterpret_cast<typename C::Part*>(a_memory.get());
  auto* const b_panel = reinterpret_cast<typename C::Part*>(b_memory.get());
  for (std::int64_t j = 0; j < c.columns; j += C::kColumns) {
    const std::int64_t columns = std::min(C::kColumns, c.columns - j);
    for (std::int64_t p = 0; p < a.columns; p += C::kDepth) {
      const std::int64_t depth = std::min(C::kDepth, a.columns - p);
      pack<T, C::kTileColumns>(transposed(b.block(p, j, depth, columns)), b_panel);
      for (std::int64_t i = 0; i < c.rows; i += C::kRows) {
        const std::int64_t rows = std::min(C::kRows, c.rows - i);
        pack<T, C::kTileRows>(a.block(i, p, rows, depth), a_panel);
        multiply_panels<T>(depth, alpha, a_panel, b_panel, p == 0 ? beta : T{1}, c.block(i, j, rows, columns));
      }
    }
  }
  return {};
}

template Result<void> gemm_loops(float, const Matrix&, const Matrix&, float, const Matrix&);
template Result<void> gemm_loops(double, const Matrix&, const Matrix&, double, const Matrix&);
template Result<void> gemm_loops(std::complex<float>, const Matrix&, const Matrix&, std::complex<float>, const Matrix&);
template Result<void> gemm_loops(std::complex<double>, const Matrix&, const Matrix&, std::complex<double>,
                                 const Matrix&);

}  // namespace troupe::host
