#include <limits>
#include <type_traits>

#include "troupe/backend/host/blas_kernels.hpp"
#include "troupe/backend/host/gemm_loops.hpp"
#include "troupe/backend/host/scratch.hpp"

namespace troupe::host {
namespace {

/// Layouts that OpenBLAS does not take are packed, and small floats widened, in blocks of so many rows, columns and
/// depth: large enough that packing does not count, and memory stays bounded.
constexpr std::int64_t kBlock = 1024;
constexpr std::int64_t kMostInt = std::numeric_limits<int>::max();

/// What sums of `T` are kept in.
template <class T>
using Sum = std::conditional_t<kIsSmallFloat<T>, float, T>;

/// c = beta c.
template <class T>
void scale(Sum<T> beta, const HostView& c) {
  walk<1>({&c}, [beta](const Pointers<1>& at, const Steps<1>& step, std::int64_t count) {
    std::byte* to = at[0];
    for (; count > 0; --count, to += step[0])
      store(to, beta == Sum<T>{0} ? T(Sum<T>{0}) : static_cast<T>(beta * static_cast<Sum<T>>(load<T>(to))));
  });
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
bool has_leading(std::int64_t lines, std::int64_t length, std::int64_t line_step, std::int64_t element_step,
                 std::int64_t size, int& leading) noexcept {
  if (length > 1 && element_step != size) return false;
  const std::int64_t apart = lines > 1 ? line_step / size : length;
  if (apart < length || apart > kMostInt) return false;
  leading = static_cast<int>(apart);
  return true;
}

Layout layout_of(const Matrix& m, std::int64_t size, std::size_t alignment) noexcept {
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

/// Needs matrices whose layouts are usable and whose extents fit an int.
template <class T>
void call_blas(const OpenBlas& blas, T alpha, const Matrix& a, const Matrix& b, T beta, const Matrix& c) {
  const Layout layout_a = layout_of<T>(a);
  const Layout layout_b = layout_of<T>(b);
  const Layout layout_c = layout_of<T>(c);
  const bool rows = layout_c.row_major;
  const auto transpose = [&](const Layout& in) {
    return (rows ? in.row_major : in.column_major) ? OpenBlas::kNoTranspose : OpenBlas::kTranspose;
  };
  const auto leading = [&](const Layout& in) {
    const bool by_rows = rows == (transpose(in) == OpenBlas::kNoTranspose);
    return by_rows ? in.leading_of_rows : in.leading_of_columns;
  };
  const auto call = [&](auto* gemm, auto with_alpha, auto with_beta) {
    gemm(rows ? OpenBlas::kRowMajor : OpenBlas::kColumnMajor, transpose(layout_a), transpose(layout_b),
         static_cast<int>(c.rows), static_cast<int>(c.columns), static_cast<int>(a.columns), with_alpha,
         reinterpret_cast<const T*>(a.data), leading(layout_a), reinterpret_cast<const T*>(b.data), leading(layout_b),
         with_beta, reinterpret_cast<T*>(c.data), leading(layout_c));
  };
  if constexpr (std::same_as<T, float>)
    call(blas.sgemm, alpha, beta);
  else if constexpr (std::same_as<T, double>)
    call(blas.dgemm, alpha, beta);
  else
    call(std::same_as<T, std::complex<float>> ? blas.cgemm : blas.zgemm, static_cast<const void*>(&alpha),
         static_cast<const void*>(&beta));
}

template <class T>
Result<void> multiply(const OpenBlas* blas, T alpha, const Matrix& a, const Matrix& b, T beta, const Matrix& c) {
  if (blas == nullptr) return gemm_loops(alpha, a, b, beta, c);
  call_blas(*blas, alpha, a, b, beta, c);
  return {};
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

/// One of the three matrices in the block-wise product: blocks are used where they are if `direct`, else copied.
template <class T>
struct Operand {
  Matrix whole;
  bool direct = false;
  Scratch memory;

  static Result<Operand> make(const Matrix& whole) {
    const bool direct = std::same_as<T, Sum<T>> && layout_of<T>(whole).usable();
    if (direct) return Operand{whole, true, nullptr};
    const std::int64_t elements = std::min(whole.rows, kBlock) * std::min(whole.columns, kBlock);
    return Operand{whole, false, TROUPE_TRY(make_scratch(elements * static_cast<std::int64_t>(sizeof(Sum<T>))))};
  }

  /// The block's elements as a matrix of `Sum<T>`.
  Matrix read(const Matrix& block) const {
    if (direct) return block;
    const Matrix packed = dense_like<Sum<T>>(block, memory.get());
    for_each_element(block, packed,
                     [](const std::byte* from, std::byte* to) { store(to, static_cast<Sum<T>>(load<T>(from))); });
    return packed;
  }
};

/// c = alpha sums + beta c, rounded once.
template <class T>
void finish(Sum<T> alpha, const Matrix& sums, Sum<T> beta, const Matrix& c) {
  for_each_element(sums, c, [&](const std::byte* from, std::byte* to) {
    Sum<T> result = alpha * load<Sum<T>>(from);
    if (beta != Sum<T>{0}) result += beta * static_cast<Sum<T>>(load<T>(to));
    store(to, static_cast<T>(result));
  });
}

template <class T>
Result<void> gemm_in_blocks(const OpenBlas* blas, Sum<T> alpha, const Matrix& a, const Matrix& b, Sum<T> beta,
                            const Matrix& c) {
  const Operand<T> from_a = TROUPE_TRY(Operand<T>::make(a));
  const Operand<T> from_b = TROUPE_TRY(Operand<T>::make(b));
  const Operand<T> to_c = TROUPE_TRY(Operand<T>::make(c));
  for (std::int64_t i = 0; i < c.rows; i += kBlock) {
    for (std::int64_t j = 0; j < c.columns; j += kBlock) {
      const std::int64_t rows = std::min(kBlock, c.rows - i);
      const std::int64_t columns = std::min(kBlock, c.columns - j);
      const Matrix out = c.block(i, j, rows, columns);
      const Matrix sums = to_c.direct ? out : dense_like<Sum<T>>(out, to_c.memory.get());
      for (std::int64_t p = 0; p < a.columns; p += kBlock) {
        const std::int64_t depth = std::min(kBlock, a.columns - p);
        const Sum<T> before = p > 0 ? Sum<T>{1} : to_c.direct ? beta : Sum<T>{0};
        TROUPE_TRY(multiply(blas, to_c.direct ? alpha : Sum<T>{1}, from_a.read(a.block(i, p, rows, depth)),
                            from_b.read(b.block(p, j, depth, columns)), before, sums));
      }
      if (!to_c.direct) finish<T>(alpha, sums, beta, out);
    }
  }
  return {};
}

template <class T>
Result<void> gemm_of(const OpenBlas* blas, Sum<T> alpha, const Matrix& a, const Matrix& b, Sum<T> beta,
                     const Matrix& c) {
  if constexpr (std::same_as<T, Sum<T>>) {
    if (blas == nullptr) return gemm_loops(alpha, a, b, beta, c);
    const bool fits = std::max({c.rows, c.columns, a.columns}) <= kMostInt;
    if (fits && layout_of<T>(a).usable() && layout_of<T>(b).usable() && layout_of<T>(c).usable())
      return multiply(blas, alpha, a, b, beta, c);
  }
  return gemm_in_blocks<T>(blas, alpha, a, b, beta, c);
}

Result<void> check_matrices(const HostView& a, const HostView& b, const HostView& c) {
  for (const HostView* view : {&a, &b, &c}) {
    TROUPE_TRY(check(*view));
    TROUPE_TRY(check_same_dtype(*view, c));
    if (view->shape.rank() != 2)
      return fail(ErrorKind::invalid_argument, "gemm takes matrices; this is " + view->shape.to_string());
  }
  if (a.shape[0] == c.shape[0] && a.shape[1] == b.shape[0] && b.shape[1] == c.shape[1]) return {};
  return fail(ErrorKind::invalid_argument, "matrices " + a.shape.to_string() + " and " + b.shape.to_string() +
                                               " do not multiply to " + c.shape.to_string());
}

Matrix matrix_of(const HostView& view) {
  const std::int64_t size = size_bytes(view.dtype);
  return {view.data, view.shape[0], view.shape[1], view.strides[0] * size, view.strides[1] * size};
}

}  // namespace

Result<void> gemm(const op::Scalar& alpha, const op::Scalar& beta, const HostView& a, const HostView& b,
                  const HostView& c) {
  return gemm_with(open_blas(), alpha, beta, a, b, c);
}

Result<void> gemm_with(const OpenBlas* blas, const op::Scalar& alpha, const op::Scalar& beta, const HostView& a,
                       const HostView& b, const HostView& c) {
  TROUPE_TRY(check_matrices(a, b, c));
  return visit(c.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    if constexpr (std::integral<T>) {
      return fail(ErrorKind::unsupported, "gemm does not take " + std::string(name(c.dtype)) +
                                              "; it takes f64 f32 f16 bf16 f8e4m3 f8e5m2 c64 c128");
    } else {
      const auto by_alpha = alpha.as<Sum<T>>();
      const auto by_beta = beta.as<Sum<T>>();
      if (c.shape[0] == 0 || c.shape[1] == 0) return {};
      if (a.shape[1] == 0 || by_alpha == Sum<T>{0}) {
        if (by_beta != Sum<T>{1}) scale<T>(by_beta, c);
        return {};
      }
      return gemm_of<T>(blas, by_alpha, matrix_of(a), matrix_of(b), by_beta, matrix_of(c));
    }
  });
}

}  // namespace troupe::host
