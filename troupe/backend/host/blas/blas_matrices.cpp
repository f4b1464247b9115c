// The ops on matrices. Products are gemm, batch by batch. Where one half of a matrix is meant (symm, syrk, trmm, trsm),
// BLAS is called if all matrices lie as it wants them; if not, the half is written out as a whole matrix first, and
// the op is a product of whole matrices.
#include <algorithm>

#include "troupe/backend/host/blas/blas_ops.hpp"
#include "troupe/backend/host/blas/product_tiles.hpp"
#include "troupe/backend/host/kernels/matrix.hpp"
#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/backend/host/memory/memory_kernels.hpp"
#include "troupe/backend/host/team/try_each.hpp"

namespace troupe::host {
namespace {

Triangle other(Triangle triangle) noexcept { return triangle == Triangle::lower ? Triangle::upper : Triangle::lower; }
int flag(Triangle triangle) noexcept { return triangle == Triangle::lower ? BlasLibrary::kLower : BlasLibrary::kUpper; }
int order_flag(bool rows) noexcept { return rows ? BlasLibrary::kRowMajor : BlasLibrary::kColumnMajor; }

/// A matrix of our own, row-major.
struct OwnMatrix {
  Scratch memory;
  HostView view;
};
Result<OwnMatrix> make_matrix(DType dtype, std::int64_t rows, std::int64_t columns) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, columns, &bytes) || __builtin_mul_overflow(bytes, size_bytes(dtype), &bytes))
    return fail(ErrorKind::out_of_memory, "a matrix for intermediate results would be too large");
  OwnMatrix made{TROUPE_TRY(make_scratch(bytes)), {}};
  made.view = {made.memory.get(), dtype, Shape{rows, columns}, Strides{columns, 1}};
  return made;
}
Result<OwnMatrix> packed(const HostView& view) {
  OwnMatrix made = TROUPE_TRY(make_matrix(view.dtype, view.shape[0], view.shape[1]));
  TROUPE_TRY(copy(view, made.view));
  return made;
}

/// What the half of a matrix stands for.
enum class Half : std::uint8_t { symmetric, hermitian, triangular, unit_triangular };

/// The whole matrix that one half of `a` stands for.
template <class T>
Result<OwnMatrix> written_out(const HostView& a, Triangle triangle, Half half, bool conjugates = false) {
  OwnMatrix whole = TROUPE_TRY(make_matrix(a.dtype, a.shape[0], a.shape[1]));
  const Matrix from = matrix_of(a);
  const Matrix to = matrix_of(whole.view);
  const auto conjugate = [](T number) {
    if constexpr (detail::kIsComplex<T>)
      return std::conj(number);
    else
      return number;
  };
  for (std::int64_t i = 0; i < from.rows; ++i)
    for (std::int64_t j = 0; j < from.columns; ++j) {
      const bool is_there = triangle == Triangle::lower ? i >= j : i <= j;
      T element{};
      if (i == j && half == Half::unit_triangular)
        element = T{1};
      else if (is_there)
        element = load<T>(from.at(i, j));
      else if (half == Half::symmetric)
        element = load<T>(from.at(j, i));
      else if (half == Half::hermitian)
        element = conjugate(load<T>(from.at(j, i)));
      if (i == j && half == Half::hermitian && detail::kIsComplex<T>) element = T(std::real(element));
      store(to.at(i, j), conjugates ? conjugate(element) : element);
    }
  return whole;
}

Result<void> check_matrix(std::string_view op, const HostView& view, DType dtype, std::int64_t rows,
                          std::int64_t columns) {
  TROUPE_TRY(check(view));
  if (view.shape.rank() == 2 && view.dtype == dtype && view.shape[0] == rows && view.shape[1] == columns) return {};
  return fail(ErrorKind::invalid_argument, std::string(op) + ": a matrix " + view.shape.to_string() + " of " +
                                               std::string(name(view.dtype)) + " does not fit the others");
}
Result<void> check_rank_2(std::string_view op, const HostView& view) {
  TROUPE_TRY(check(view));
  if (view.shape.rank() == 2) return {};
  return fail(ErrorKind::invalid_argument, std::string(op) + " takes matrices; this is " + view.shape.to_string());
}

template <class... Views>
bool fit_an_int(const Views&... views) noexcept {
  return (... && (views.shape[0] <= kMostInt && views.shape[1] <= kMostInt));
}

template <class T>
T* data_of(const HostView& view) noexcept {
  return reinterpret_cast<T*>(view.data);
}
template <class T>
T* column_of(const HostView& view, std::int64_t j) noexcept {
  return data_of<T>(view) + j * view.strides[1];
}
int leading(const Layout& layout, bool rows) noexcept {
  return rows ? layout.leading_of_rows : layout.leading_of_columns;
}
bool is_in_order(const Layout& layout, bool rows) noexcept { return rows ? layout.row_major : layout.column_major; }

HostView transposed(const HostView& view) noexcept {
  return {view.data, view.dtype, Shape{view.shape[1], view.shape[0]}, Strides{view.strides[1], view.strides[0]}};
}

/// Calls `f(first column, columns)` for parts of a result whose columns do not depend on each other, each by one
/// thread.
template <class F>
void for_some_columns(const BlasLibrary& blas, const HostView& out, Team& team, const F& f) {
  constexpr std::int64_t kLeastColumns = 64;  // fewer are slower than their share
  const Grain by_time = Grain::of_ns(ProductTiles::ns(out.shape[0], 1, out.shape[0]));
  team.run(out.shape[1], Grain::of_items(std::max(kLeastColumns, by_time.items())),
           [&](std::int64_t begin, std::int64_t end) noexcept {
             const LibraryThreads::One one(blas.library->threads);
             f(begin, static_cast<int>(end - begin));
           });
}

// ---- symm ----

/// False when BLAS has no function for these layouts.
template <class T>
bool call_symm(const op::Symm& op, const HostView& a, const HostView& b, const HostView& c, Team& team) {
  const BlasLibrary* const blas = open_blas();
  if (!blas || !fit_an_int(a, b, c)) return false;
  const Layout in_a = layout_of<T>(matrix_of(a));
  const Layout in_b = layout_of<T>(matrix_of(b));
  const Layout in_c = layout_of<T>(matrix_of(c));
  const auto alpha = op.alpha.as<T>();
  const auto beta = op.beta.as<T>();
  const bool hermitian = op.hermitian && detail::kIsComplex<T>;
  for (const bool rows : {true, false}) {
    if (!is_in_order(in_b, rows) || !is_in_order(in_c, rows)) continue;
    const bool same = is_in_order(in_a, rows);
    if (!same && (hermitian || !in_a.usable())) continue;  // the transpose of a Hermitian matrix is another one
    const Triangle triangle = same ? op.triangle : other(op.triangle);
    auto* const function = hermitian ? blas->of<T>().hemm : blas->of<T>().symm;
    for_some_columns(*blas, c, team, [&](std::int64_t j, int columns) noexcept {
      function(order_flag(rows), BlasLibrary::kLeft, flag(triangle), static_cast<int>(c.shape[0]), columns,
               BlasLibrary::factor(alpha), data_of<T>(a), leading(in_a, rows == same), column_of<T>(b, j),
               leading(in_b, rows), BlasLibrary::factor(beta), column_of<T>(c, j), leading(in_c, rows));
    });
    return true;
  }
  return false;
}

// ---- syrk ----

/// By one call, for its result is no rectangle, which the library's own threads share.
template <class T>
bool call_syrk(const op::Syrk& op, const HostView& a, const HostView& b, const HostView& c, Team& team) {
  const BlasLibrary* const blas = open_blas();
  if (!blas || !fit_an_int(a, c)) return false;
  const Cblas<T>& functions = blas->of<T>();
  const Layout in_a = layout_of<T>(matrix_of(a));
  const Layout in_b = layout_of<T>(matrix_of(b));
  const Layout in_c = layout_of<T>(matrix_of(c));
  const bool rows = in_c.row_major;
  const bool hermitian = op.hermitian && detail::kIsComplex<T>;
  const bool same = is_in_order(in_a, rows) && is_in_order(in_b, rows);
  const bool turned = is_in_order(in_a, !rows) && is_in_order(in_b, !rows) && !hermitian;
  if (!in_c.usable() || !(same || turned)) return false;
  const int n = static_cast<int>(c.shape[0]);
  const int k = static_cast<int>(a.shape[1]);
  const int transpose = same ? BlasLibrary::kNoTranspose : BlasLibrary::kTranspose;
  const int lda = leading(in_a, rows == same);
  const int ldb = leading(in_b, rows == same);
  const int ldc = leading(in_c, rows);
  const auto alpha = op.alpha.as<T>();
  const auto beta = op.beta.as<T>();
  const LibraryThreads::Many many(blas->library->threads, team.size());
  if (op.has_b && hermitian)
    functions.her2k(order_flag(rows), flag(op.triangle), transpose, n, k, BlasLibrary::factor(alpha), data_of<T>(a),
                    lda, data_of<T>(b), ldb, std::real(beta), data_of<T>(c), ldc);
  else if (op.has_b)
    functions.syr2k(order_flag(rows), flag(op.triangle), transpose, n, k, BlasLibrary::factor(alpha), data_of<T>(a),
                    lda, data_of<T>(b), ldb, BlasLibrary::factor(beta), data_of<T>(c), ldc);
  else if (hermitian)
    functions.herk(order_flag(rows), flag(op.triangle), transpose, n, k, std::real(alpha), data_of<T>(a), lda,
                   std::real(beta), data_of<T>(c), ldc);
  else
    functions.syrk(order_flag(rows), flag(op.triangle), transpose, n, k, BlasLibrary::factor(alpha), data_of<T>(a), lda,
                   BlasLibrary::factor(beta), data_of<T>(c), ldc);
  return true;
}

/// The whole product, of which one half is kept.
template <class T>
Result<void> syrk_by_gemm(const op::Syrk& op, const HostView& a, const HostView& b, const HostView& c, Team& team) {
  const bool hermitian = op.hermitian && detail::kIsComplex<T>;
  const OwnMatrix product = TROUPE_TRY(make_matrix(c.dtype, c.shape[0], c.shape[1]));
  const Conjugation second{.a = false, .b = hermitian};
  TROUPE_TRY(gemm(op.alpha, op::Scalar(0.0), a, transposed(b), product.view, team, second));
  if (op.has_b) {
    auto alpha = op.alpha.as<std::complex<double>>();
    if (hermitian) alpha = std::conj(alpha);
    TROUPE_TRY(gemm(op::Scalar(alpha), op::Scalar(1.0), b, transposed(a), product.view, team, second));
  }
  const Matrix from = matrix_of(product.view);
  const Matrix to = matrix_of(c);
  const auto beta = op.beta.as<T>();
  for (std::int64_t i = 0; i < to.rows; ++i)
    for (std::int64_t j = op.triangle == Triangle::lower ? 0 : i;
         j < (op.triangle == Triangle::lower ? i + 1 : to.columns); ++j) {
      T sum = load<T>(from.at(i, j));
      if (beta != T{}) sum += beta * load<T>(to.at(i, j));
      if (hermitian && i == j) sum = T(std::real(sum));
      store(to.at(i, j), sum);
    }
  return {};
}

// ---- triangular ----

/// out = a out, or a^-1 out, times alpha, where it lies. False when BLAS has no function for these layouts.
template <class T>
bool call_triangular(const op::Triangular& op, const HostView& a, const HostView& out, Team& team) {
  const BlasLibrary* const blas = open_blas();
  if (!blas || !fit_an_int(a, out)) return false;
  const Layout in_a = layout_of<T>(matrix_of(a));
  const Layout in_out = layout_of<T>(matrix_of(out));
  if (!in_a.usable() || !in_out.usable()) return false;
  const bool rows = in_out.row_major;
  const bool same = is_in_order(in_a, rows);
  if (same && op.conjugates_a && !blas->conjugates()) return false;
  const int transpose = same ? (op.conjugates_a ? BlasLibrary::kConjugate : BlasLibrary::kNoTranspose)
                             : (op.conjugates_a ? BlasLibrary::kConjugateTranspose : BlasLibrary::kTranspose);
  const auto alpha = op.alpha.as<T>();
  auto* const function = op.solves ? blas->of<T>().trsm : blas->of<T>().trmm;
  for_some_columns(*blas, out, team, [&](std::int64_t j, int columns) noexcept {
    function(order_flag(rows), BlasLibrary::kLeft, flag(same ? op.triangle : other(op.triangle)), transpose,
             op.unit_diagonal ? BlasLibrary::kUnit : BlasLibrary::kNonUnit, static_cast<int>(out.shape[0]), columns,
             BlasLibrary::factor(alpha), data_of<T>(a), leading(in_a, rows == same), column_of<T>(out, j),
             leading(in_out, rows));
  });
  return true;
}

/// Row by row, each when those that it depends on are known.
template <class T>
void substitute(T alpha, const Matrix& a, Triangle triangle, bool unit_diagonal, const Matrix& x) {
  for (std::int64_t step = 0; step < a.rows; ++step) {
    const std::int64_t i = triangle == Triangle::lower ? step : a.rows - 1 - step;
    const std::int64_t first = triangle == Triangle::lower ? 0 : i + 1;
    const std::int64_t last = triangle == Triangle::lower ? i : a.rows;
    for (std::int64_t column = 0; column < x.columns; ++column) {
      T sum = alpha * load<T>(x.at(i, column));
      for (std::int64_t j = first; j < last; ++j) sum -= load<T>(a.at(i, j)) * load<T>(x.at(j, column));
      store(x.at(i, column), unit_diagonal ? sum : sum / load<T>(a.at(i, i)));
    }
  }
}

template <class T>
std::int32_t first_zero_on_diagonal(const Matrix& a) noexcept {
  for (std::int64_t i = 0; i < a.rows; ++i)
    if (load<T>(a.at(i, i)) == T{}) return static_cast<std::int32_t>(std::min(i + 1, kMostInt));
  return 0;
}

template <class T>
Result<void> solve_triangular(const op::Triangular& op, const HostView& a, const HostView& b, const HostView& out,
                              Team& team) {
  TROUPE_TRY(copy(b, out, team));
  if (call_triangular<T>(op, a, out, team)) return {};
  // Neither of them as it should be: both copied.
  const Half half = op.unit_diagonal ? Half::unit_triangular : Half::triangular;
  const OwnMatrix whole = TROUPE_TRY(written_out<T>(a, op.triangle, half, op.conjugates_a));
  const OwnMatrix solution = TROUPE_TRY(packed(b));
  op::Triangular plain = op;
  plain.conjugates_a = false;
  if (!call_triangular<T>(plain, whole.view, solution.view, team))
    substitute(op.alpha.as<T>(), matrix_of(whole.view), op.triangle, op.unit_diagonal, matrix_of(solution.view));
  return copy(solution.view, out);
}

template <class T>
Result<void> multiply_triangular(const op::Triangular& op, const HostView& a, const HostView& b, const HostView& out,
                                 Team& team) {
  if (layout_of<T>(matrix_of(out)).usable()) {
    TROUPE_TRY(copy(b, out, team));
    if (call_triangular<T>(op, a, out, team)) return {};
  }
  const Half half = op.unit_diagonal ? Half::unit_triangular : Half::triangular;
  const OwnMatrix whole = TROUPE_TRY(written_out<T>(a, op.triangle, half, op.conjugates_a));
  return gemm(op.alpha, op::Scalar(0.0), whole.view, b, out, team);
}

// ---- factors of 0 ----

/// For an operand that has been multiplied by 0 already.
template <class Op>
Op with_alpha_one(Op op) {
  op.alpha = op::Scalar(1.0);
  return op;
}

template <class T>
Result<void> run_symm(const op::Symm& op, const HostView& a, const HostView& b, const HostView& c, Team& team) {
  if (call_symm<T>(op, a, b, c, team)) return {};
  const Half half = op.hermitian ? Half::hermitian : Half::symmetric;
  const OwnMatrix whole = TROUPE_TRY(written_out<T>(a, op.triangle, half));
  return gemm(op.alpha, op.beta, whole.view, b, c, team);
}
template <class T>
Result<void> run_syrk(const op::Syrk& op, const HostView& a, const HostView& b, const HostView& c, Team& team) {
  if (a.data && call_syrk<T>(op, a, b, c, team)) return {};
  return syrk_by_gemm<T>(op, a, b, c, team);
}
template <class T>
Result<void> run_triangular(const op::Triangular& op, const HostView& a, const HostView& b, const HostView& out,
                            Team& team) {
  if (op::is_zero(op.alpha)) {
    const TimesZero zeros = TROUPE_TRY(times_zero(b));
    return run_triangular<T>(with_alpha_one(op), a, zeros.view, out, team);
  }
  return op.solves ? solve_triangular<T>(op, a, b, out, team) : multiply_triangular<T>(op, a, b, out, team);
}

// ---- batches ----

HostView matrix_in_batch(const HostView& batch, std::int64_t index) {
  return {batch.data ? batch.data + index * batch.strides[0] * size_bytes(batch.dtype) : nullptr, batch.dtype,
          Shape{batch.shape[1], batch.shape[2]}, Strides{batch.strides[1], batch.strides[2]}};
}

}  // namespace

Result<void> run_op(const op::Gemm& op, const HostViews& here) {
  const HostView a = here(op.a);
  const HostView b = here(op.b);
  const HostView c = here(op.c);
  const Conjugation conjugates{op.conjugates_a, op.conjugates_b};
  if (c.shape.rank() != 3) return gemm(op.alpha, op.beta, a, b, c, here.team(), conjugates);
  for (const HostView* batch : {&a, &b, &c}) {
    TROUPE_TRY(check(*batch));
    if (batch->shape.rank() != 3 || batch->shape[0] != c.shape[0])
      return fail(ErrorKind::invalid_argument, "a batch " + batch->shape.to_string() + " does not fit the others");
  }
  return try_each(here.team(), c.shape[0],
                  grain_of_products(here.team(), c.shape[0], c.shape[1], c.shape[2], a.shape[2]), [&](std::int64_t i) {
                    return gemm(op.alpha, op.beta, matrix_in_batch(a, i), matrix_in_batch(b, i), matrix_in_batch(c, i),
                                here.team(), conjugates);
                  });
}

Result<void> run_op(const op::GemmGroup& op, const HostViews& here) {
  if (op.matrices.size() % 3 != 0) return fail(ErrorKind::invalid_argument, "a product has three matrices");
  const auto count = static_cast<std::int64_t>(op.matrices.size() / 3);
  std::int64_t grain = count;  // the largest decides
  for (std::size_t i = 0; i < op.matrices.size(); i += 3) {
    const op::View& a = op.matrices[i].view;
    const op::View& c = op.matrices[i + 2].view;
    if (a.shape.rank() != 2 || c.shape.rank() != 2)
      return fail(ErrorKind::invalid_argument, "a product has three matrices");
    const std::int64_t items = grain_of_products(here.team(), count, c.shape[0], c.shape[1], a.shape[1]).items();
    grain = items > count ? grain : std::min(grain, items);
  }
  return try_each(here.team(), count, Grain::of_items(grain), [&](std::int64_t i) {
    const auto matrix = [&](int which) { return here(op.matrices[static_cast<std::size_t>(3 * i + which)].view); };
    return gemm(op.alpha, op.beta, matrix(0), matrix(1), matrix(2), here.team());
  });
}

Result<void> run_op(const op::Symm& op, const HostViews& here) {
  const HostView a = here(op.a);
  const HostView b = here(op.b);
  const HostView c = here(op.c);
  TROUPE_TRY(check_rank_2("symm", c));
  TROUPE_TRY(check_matrix("symm", a, c.dtype, c.shape[0], c.shape[0]));
  TROUPE_TRY(check_matrix("symm", b, c.dtype, c.shape[0], c.shape[1]));
  if (!c.data) return {};
  return visit_four("symm", c.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    if (!op::is_zero(op.alpha)) return run_symm<T>(op, a, b, c, here.team());
    const TimesZero zeros = TROUPE_TRY(times_zero(b));
    return run_symm<T>(with_alpha_one(op), a, zeros.view, c, here.team());
  });
}

Result<void> run_op(const op::Syrk& op, const HostViews& here) {
  const HostView a = here(op.a);
  const HostView b = op.has_b ? here(op.b) : a;
  const HostView c = here(op.c);
  TROUPE_TRY(check_rank_2("syrk", c));
  TROUPE_TRY(check_rank_2("syrk", a));
  TROUPE_TRY(check_matrix("syrk", c, a.dtype, a.shape[0], a.shape[0]));
  TROUPE_TRY(check_matrix("syrk", b, a.dtype, a.shape[0], a.shape[1]));
  if (!c.data) return {};
  return visit_four("syrk", c.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    if (!op::is_zero(op.alpha) || !a.data) return run_syrk<T>(op, a, b, c, here.team());
    const TimesZero zeros = TROUPE_TRY(times_zero(a));
    return run_syrk<T>(with_alpha_one(op), zeros.view, op.has_b ? b : zeros.view, c, here.team());
  });
}

Result<void> run_op(const op::Triangular& op, const HostViews& here) {
  const HostView a = here(op.a);
  const HostView b = here(op.b);
  const HostView out = here(op.out);
  TROUPE_TRY(check_rank_2("triangular", out));
  TROUPE_TRY(check_matrix("triangular", a, out.dtype, out.shape[0], out.shape[0]));
  TROUPE_TRY(check_matrix("triangular", b, out.dtype, out.shape[0], out.shape[1]));
  return visit_four("triangular", out.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    if (!op.solves) return out.data ? run_triangular<T>(op, a, b, out, here.team()) : Result<void>();
    const HostView verdict = here(op.verdict);
    if (!verdict.data || verdict.dtype != DType::i32)
      return fail(ErrorKind::invalid_argument, "there is no place for the verdict");
    const std::int32_t zero = op.unit_diagonal ? 0 : first_zero_on_diagonal<T>(matrix_of(a));
    store(verdict.data, zero);
    if (zero != 0 || !out.data) return {};
    return run_triangular<T>(op, a, b, out, here.team());
  });
}

}  // namespace troupe::host
