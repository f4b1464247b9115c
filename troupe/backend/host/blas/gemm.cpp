#include <cstdlib>
#include <limits>
#include <optional>
#include <type_traits>

#include "troupe/backend/host/blas/blas_kernels.hpp"
#include "troupe/backend/host/blas/gemm_loops.hpp"
#include "troupe/backend/host/blas/product_tiles.hpp"
#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/backend/host/kernels/walk.hpp"
#include "troupe/backend/host/memory/memory_kernels.hpp"
#include "troupe/backend/host/team/try_each.hpp"

namespace troupe::host {
namespace {

/// Layouts that BLAS does not take are packed, and small floats widened, in blocks of so many rows, columns and
/// depth: large enough that packing does not count, and memory stays bounded.
constexpr std::int64_t kBlock = 1024;

/// What sums of products of `T` are kept in. (Of i8: they are exact in an f64, as they are in an i32.)
template <class T>
using Sum = std::conditional_t<std::integral<T>, double, std::conditional_t<detail::kIsSmallFloat<T>, float, T>>;
/// What such a product is.
template <class T>
using Product = std::conditional_t<std::same_as<T, std::int8_t>, std::int32_t, T>;

/// c = beta c.
template <class Out, class S>
void scale(S beta, const HostView& c) {
  walk<1>({&c}, [beta](const Pointers<1>& at, const Steps<1>& step, std::int64_t count) {
    std::byte* to = at[0];
    for (; count > 0; --count, to += step[0])
      store(to, beta == S{0} ? Out(S{0}) : static_cast<Out>(beta * static_cast<S>(load<Out>(to))));
  });
}

int transpose_flag(bool transposes, bool conjugates) noexcept {
  if (transposes) return conjugates ? BlasLibrary::kConjugateTranspose : BlasLibrary::kTranspose;
  return conjugates ? BlasLibrary::kConjugate : BlasLibrary::kNoTranspose;
}

/// For a product with one column. False when BLAS has no function for these layouts.
template <class T>
bool call_gemv(const BlasLibrary& blas, T alpha, const Matrix& a, const Matrix& x, T beta, const Matrix& y,
               bool conjugates_a) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const Layout layout = layout_of<T>(a);
  const std::int64_t x_apart = x.rows > 1 ? x.row_step / kSize : 1;
  const std::int64_t y_apart = y.rows > 1 ? y.row_step / kSize : 1;
  if (x_apart < 1 || y_apart < 1 || x_apart > kMostInt || y_apart > kMostInt) return false;
  const bool transposes = !layout.row_major;
  if (conjugates_a && !transposes) return false;  // there is a conjugated one for the transpose only
  const int rows = static_cast<int>(transposes ? a.columns : a.rows);
  const int columns = static_cast<int>(transposes ? a.rows : a.columns);
  blas.of<T>().gemv(BlasLibrary::kRowMajor, transpose_flag(transposes, conjugates_a), rows, columns,
                    BlasLibrary::factor(alpha), reinterpret_cast<const T*>(a.data),
                    transposes ? layout.leading_of_columns : layout.leading_of_rows, reinterpret_cast<const T*>(x.data),
                    static_cast<int>(x_apart), BlasLibrary::factor(beta), reinterpret_cast<T*>(y.data),
                    static_cast<int>(y_apart));
  return true;
}

/// Needs matrices whose layouts are usable and whose extents fit an int.
template <class T>
void call_blas(const BlasLibrary& blas, T alpha, const Matrix& a, const Matrix& b, T beta, const Matrix& c,
               Conjugation conjugates) {
  if (c.columns == 1 && !conjugates.b && call_gemv(blas, alpha, a, b, beta, c, conjugates.a)) return;
  if (c.rows == 1 && !conjugates.a &&
      call_gemv(blas, alpha, b.transposed(), a.transposed(), beta, c.transposed(), conjugates.b))
    return;
  const Layout layout_a = layout_of<T>(a);
  const Layout layout_b = layout_of<T>(b);
  const Layout layout_c = layout_of<T>(c);
  const bool rows = layout_c.row_major;
  const auto transposes = [&](const Layout& in) { return !(rows ? in.row_major : in.column_major); };
  const auto leading = [&](const Layout& in) {
    return rows != transposes(in) ? in.leading_of_rows : in.leading_of_columns;
  };
  blas.of<T>().gemm(rows ? BlasLibrary::kRowMajor : BlasLibrary::kColumnMajor,
                    transpose_flag(transposes(layout_a), conjugates.a),
                    transpose_flag(transposes(layout_b), conjugates.b), static_cast<int>(c.rows),
                    static_cast<int>(c.columns), static_cast<int>(a.columns), BlasLibrary::factor(alpha),
                    reinterpret_cast<const T*>(a.data), leading(layout_a), reinterpret_cast<const T*>(b.data),
                    leading(layout_b), BlasLibrary::factor(beta), reinterpret_cast<T*>(c.data), leading(layout_c));
}

/// One tile by the thread that calls. OpenBLAS would take more threads for more terms than these, if it could.
template <class T>
Result<void> multiply_tile(const BlasLibrary* blas, T alpha, const Matrix& a, const Matrix& b, T beta, const Matrix& c,
                           Conjugation conjugates) {
  constexpr double kMostOfProduct = 262144;
  constexpr double kMostOfVector = 9215;
  if (blas == nullptr) return gemm_loops(alpha, a, b, beta, c);
  const bool is_vector = c.rows == 1 || c.columns == 1;
  std::optional<LibraryThreads::One> one;
  if (ProductTiles::terms(c.rows, c.columns, a.columns) > (is_vector ? kMostOfVector : kMostOfProduct))
    one.emplace(blas->library->threads);
  call_blas(*blas, alpha, a, b, beta, c, conjugates);
  return {};
}

template <class T>
Result<void> multiply(const BlasLibrary* blas, T alpha, const Matrix& a, const Matrix& b, T beta, const Matrix& c,
                      Team& team, Conjugation conjugates = {}) {
  const bool is_row = c.rows == 1;
  const Matrix& matrix = is_row ? b : a;  // beside a vector
  const bool lies_across = is_row == (std::abs(matrix.column_step) < std::abs(matrix.row_step));
  const ProductTiles tiles = is_row || c.columns == 1
                                 ? ProductTiles::of_vector(c.rows, c.columns, a.columns, lies_across, team.size())
                                 : ProductTiles::of(c.rows, c.columns, a.columns, team.size());
  if (tiles.count() == 1) return multiply_tile(blas, alpha, a, b, beta, c, conjugates);
  return try_each(team, tiles.count(), tiles.grain(a.columns), [&](std::int64_t tile) {
    const std::int64_t i = tile / tiles.across * tiles.rows;
    const std::int64_t j = tile % tiles.across * tiles.columns;
    const std::int64_t rows = std::min(tiles.rows, c.rows - i);
    const std::int64_t columns = std::min(tiles.columns, c.columns - j);
    return multiply_tile(blas, alpha, a.block(i, 0, rows, a.columns), b.block(0, j, b.rows, columns), beta,
                         c.block(i, j, rows, columns), conjugates);
  });
}

/// Calls `f(first row, rows)` for parts of a matrix that a team takes.
template <class F>
void for_each_row(const Matrix& m, Team& team, const F& f) {
  constexpr double kNsPerElement = 1;
  team.run(m.rows, Grain::of_ns(kNsPerElement * static_cast<double>(m.columns)),
           [&](std::int64_t begin, std::int64_t end) noexcept { f(begin, end - begin); });
}

/// One of the three matrices in the block-wise product: blocks are used where they are if `direct`, else copied.
template <class T>
struct Operand {
  using S = Sum<T>;
  Matrix whole;
  bool conjugates = false;
  bool direct = false;
  Scratch memory;

  static Result<Operand> make(const Matrix& whole, bool conjugates = false) {
    const bool direct = std::same_as<T, S> && !conjugates && layout_of<T>(whole).usable();
    if (direct) return Operand{whole, false, true, nullptr};
    const std::int64_t elements = std::min(whole.rows, kBlock) * std::min(whole.columns, kBlock);
    return Operand{whole, conjugates, false, TROUPE_TRY(make_scratch(elements * static_cast<std::int64_t>(sizeof(S))))};
  }

  /// The block's elements as a matrix of sums.
  Matrix read(const Matrix& block, Team& team) const {
    if (direct) return block;
    const Matrix packed = dense_like<S>(block, memory.get());
    for_each_row(packed, team, [&](std::int64_t i, std::int64_t rows) {
      for_each_element(block.block(i, 0, rows, block.columns), packed.block(i, 0, rows, block.columns),
                       [&](const std::byte* from, std::byte* to) {
                         auto element = static_cast<S>(load<T>(from));
                         if constexpr (detail::kIsComplex<S>)
                           if (conjugates) element = std::conj(element);
                         store(to, element);
                       });
    });
    return packed;
  }
};

/// c = alpha sums + beta c, rounded once.
template <class Out, class S>
void finish(S alpha, const Matrix& sums, S beta, const Matrix& c, Team& team) {
  for_each_row(c, team, [&](std::int64_t i, std::int64_t rows) {
    for_each_element(sums.block(i, 0, rows, c.columns), c.block(i, 0, rows, c.columns),
                     [&](const std::byte* from, std::byte* to) {
                       S result = alpha * load<S>(from);
                       if (beta != S{0}) result += beta * static_cast<S>(load<Out>(to));
                       store(to, static_cast<Out>(result));
                     });
  });
}

template <class T>
Result<void> gemm_in_blocks(const BlasLibrary* blas, Sum<T> alpha, const Matrix& a, const Matrix& b, Sum<T> beta,
                            const Matrix& c, Conjugation conjugates, Team& team) {
  using S = Sum<T>;
  const Operand<T> from_a = TROUPE_TRY(Operand<T>::make(a, conjugates.a));
  const Operand<T> from_b = TROUPE_TRY(Operand<T>::make(b, conjugates.b));
  const Operand<T> to_c = TROUPE_TRY(Operand<T>::make(c));
  for (std::int64_t i = 0; i < c.rows; i += kBlock) {
    for (std::int64_t j = 0; j < c.columns; j += kBlock) {
      const std::int64_t rows = std::min(kBlock, c.rows - i);
      const std::int64_t columns = std::min(kBlock, c.columns - j);
      const Matrix out = c.block(i, j, rows, columns);
      const Matrix sums = to_c.direct ? out : dense_like<S>(out, to_c.memory.get());
      for (std::int64_t p = 0; p < a.columns; p += kBlock) {
        const std::int64_t depth = std::min(kBlock, a.columns - p);
        const S before = p > 0 ? S{1} : to_c.direct ? beta : S{0};
        TROUPE_TRY(multiply(blas, to_c.direct ? alpha : S{1}, from_a.read(a.block(i, p, rows, depth), team),
                            from_b.read(b.block(p, j, depth, columns), team), before, sums, team));
      }
      if (!to_c.direct) finish<Product<T>>(alpha, sums, beta, out, team);
    }
  }
  return {};
}

template <class T>
Result<void> gemm_of(const BlasLibrary* blas, Sum<T> alpha, const Matrix& a, const Matrix& b, Sum<T> beta,
                     const Matrix& c, Conjugation conjugates, Team& team) {
  if constexpr (std::same_as<T, Sum<T>>) {
    const bool fits = std::max({c.rows, c.columns, a.columns}) <= kMostInt;
    const bool conjugates_any = detail::kIsComplex<T> && (conjugates.a || conjugates.b);
    if (blas && fits && layout_of<T>(a).usable() && layout_of<T>(b).usable() && layout_of<T>(c).usable() &&
        (!conjugates_any || blas->conjugates()))
      return multiply(blas, alpha, a, b, beta, c, team, conjugates);
    if (!blas && !conjugates.a && !conjugates.b) return multiply(blas, alpha, a, b, beta, c, team);
  }
  return gemm_in_blocks<T>(blas, alpha, a, b, beta, c, conjugates, team);
}

Result<void> check_matrices(const HostView& a, const HostView& b, const HostView& c) {
  for (const HostView* view : {&a, &b, &c}) {
    TROUPE_TRY(check(*view));
    if (view->shape.rank() != 2)
      return fail(ErrorKind::invalid_argument, "gemm takes matrices; this is " + view->shape.to_string());
  }
  TROUPE_TRY(check_same_dtype(a, b));
  if (c.dtype != DType::i32) TROUPE_TRY(check_same_dtype(a, c));
  if (a.shape[0] == c.shape[0] && a.shape[1] == b.shape[0] && b.shape[1] == c.shape[1]) return {};
  return fail(ErrorKind::invalid_argument, "matrices " + a.shape.to_string() + " and " + b.shape.to_string() +
                                               " do not multiply to " + c.shape.to_string());
}

}  // namespace

Grain grain_of_products(const Team& team, std::int64_t count, std::int64_t rows, std::int64_t columns,
                        std::int64_t depth) noexcept {
  if (count < 4 * std::int64_t{team.size()} && ProductTiles::is_large(rows, columns, depth))
    return Grain::of_items(std::numeric_limits<std::int64_t>::max());
  return Grain::of_ns(ProductTiles::ns(rows, columns, depth));
}

Result<TimesZero> times_zero(const HostView& matrix) {
  TimesZero zeros{TROUPE_TRY(make_scratch(matrix.shape[0] * matrix.shape[1] * size_bytes(matrix.dtype))), {}};
  zeros.view = {zeros.memory.get(), matrix.dtype, matrix.shape, contiguous_strides(matrix.shape)};
  TROUPE_TRY(fill(zeros.view, op::Scalar(0.0)));
  TROUPE_TRY(axpy(op::Scalar(0.0), matrix, zeros.view));
  return zeros;
}

Result<void> gemm(const op::Scalar& alpha, const op::Scalar& beta, const HostView& a, const HostView& b,
                  const HostView& c, Team& team, Conjugation conjugates) {
  return gemm_with(open_blas(), alpha, beta, a, b, c, team, conjugates);
}

Result<void> gemm_with(const BlasLibrary* blas, const op::Scalar& alpha, const op::Scalar& beta, const HostView& a,
                       const HostView& b, const HostView& c, Team& team, Conjugation conjugates) {
  TROUPE_TRY(check_matrices(a, b, c));
  return visit(a.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    if constexpr (std::integral<T> && !std::same_as<T, std::int8_t>) {
      return fail(ErrorKind::unsupported, "gemm does not take " + std::string(name(a.dtype)) +
                                              "; it takes f64 f32 f16 bf16 f8e4m3 f8e5m2 c64 c128, and i8 into i32");
    } else {
      using S = Sum<T>;
      if (c.dtype != dtype_of<Product<T>>)
        return fail(ErrorKind::unsupported, "gemm of " + std::string(name(a.dtype)) + " does not give " +
                                                std::string(name(c.dtype)) + " but " +
                                                std::string(name(dtype_of<Product<T>>)));
      const auto by_alpha = alpha.as<S>();
      const auto by_beta = beta.as<S>();
      if (c.shape[0] == 0 || c.shape[1] == 0) return {};
      if (a.shape[1] == 0 || (std::integral<T> && by_alpha == S{0})) {
        if (by_beta != S{1}) scale<Product<T>>(by_beta, c);
        return {};
      }
      if (by_alpha == S{0}) {
        const TimesZero zeros = TROUPE_TRY(times_zero(a));
        return gemm_of<T>(blas, S{1}, matrix_of(zeros.view), matrix_of(b), by_beta, matrix_of(c), conjugates, team);
      }
      return gemm_of<T>(blas, by_alpha, matrix_of(a), matrix_of(b), by_beta, matrix_of(c), conjugates, team);
    }
  });
}

}  // namespace troupe::host
