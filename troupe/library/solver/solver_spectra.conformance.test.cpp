#include "troupe/library/solver/solver.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class SolverSpectraConformance : public SolverFixture<T> {
 protected:
  using Base = SolverFixture<T>;
  using typename Base::Number;
  using typename Base::RealNumber;
  using typename Base::WideNumber;
  using Reals = std::vector<RealNumber>;

  void expect_ordered(const Reals& values, std::int64_t n, std::int64_t which, bool falling) {
    for (std::int64_t i = 1; i < n; ++i) {
      const RealNumber before = values[static_cast<std::size_t>(which * n + i - 1)];
      const RealNumber after = values[static_cast<std::size_t>(which * n + i)];
      EXPECT_TRUE(falling ? before >= after : before <= after) << before << ", " << after;
    }
  }

  void expect_svd(const ReferenceMatrix<WideNumber>& a, const ReferenceMatrix<WideNumber>& u, const Reals& s,
                  const ReferenceMatrix<WideNumber>& vt, std::int64_t which) {
    const std::int64_t k = std::min(a.rows, a.columns);
    const auto roundings = 32 + 8 * static_cast<double>(std::max(a.rows, a.columns));
    this->expect_orthonormal_columns(u, roundings);
    this->expect_orthonormal_columns(adjoint(vt), roundings);
    expect_ordered(s, k, which, true);
    ReferenceMatrix<WideNumber> diagonal = zeros<WideNumber>(u.columns, vt.rows);
    for (std::int64_t i = 0; i < k; ++i) {
      diagonal.at(i, i) = WideNumber(s[static_cast<std::size_t>(which * k + i)]);
      EXPECT_GE(s[static_cast<std::size_t>(which * k + i)], 0);
    }
    const auto v = this->probe(a.columns);
    this->expect_nothing_left(u * (diagonal * (vt * v)) - a * v, roundings, largest(diagonal));
  }

  void try_svd(std::int64_t batch, std::int64_t rows, std::int64_t columns, bool is_full, Layout layout,
               SvdOptions options) {
    const std::int64_t k = std::min(rows, columns);
    const std::int64_t columns_of_u = is_full ? rows : k;
    const std::int64_t rows_of_vt = is_full ? columns : k;
    Sample<Number> a = this->random(batch_shape(batch, rows, columns), layout);
    Sample<Number> u = this->poisoned(batch_shape(batch, rows, columns_of_u), next(layout));
    auto s = this->template poisoned_of<RealNumber>(batch_shape(batch, k), next(layout, 2));
    Sample<Number> vt = this->poisoned(batch_shape(batch, rows_of_vt, columns), next(layout, 3));
    auto values = this->template poisoned_of<RealNumber>(batch_shape(batch, k), next(layout, 4));
    value(this->device().solver().svd(a.array(), u.array(), s.array(), vt.array(), options).get());
    value(this->device().solver().singular_values(a.array(), values.array(), options).get());
    u.read();
    vt.read();
    for (std::int64_t i = 0; i < count_of(batch); ++i)
      expect_svd(matrix_of(a.values(), rows, columns, i), matrix_of(u.values(), rows, columns_of_u, i), s.read(),
                 matrix_of(vt.values(), rows_of_vt, columns, i), i);
    const auto longest = static_cast<double>(std::max(rows, columns));
    this->expect_close(values.read(), widened(s.values()), 16 + 4 * longest, longest);
  }

  /// a v = b v w, and v^H b v = 1.
  void expect_eigenvectors(const ReferenceMatrix<WideNumber>& a, const ReferenceMatrix<WideNumber>& b, const Reals& w,
                           const ReferenceMatrix<WideNumber>& v, std::int64_t which) {
    const double roundings = 32 + 8 * static_cast<double>(a.rows);
    expect_ordered(w, a.rows, which, false);
    const auto diagonal = diagonal_of<WideNumber>(w, a.rows, which);
    const auto directions = this->probe(a.rows);
    const auto turned = v * directions;
    this->expect_nothing_left(a * turned - b * (v * (diagonal * directions)), roundings,
                              largest(a) + largest(b) * largest(diagonal));
    this->expect_nothing_left(adjoint(v) * (b * turned) - directions, roundings, 1);
  }
};
CONFORMANCE_SUITE(SolverSpectraConformance, FourTypes);

CONFORMANCE_TEST(SolverSpectraConformance, qr) {
  this->covers("solver", "qr");
  for (const bool is_full : {false, true})
    for_each_shape([&](std::int64_t batch, std::int64_t rows, std::int64_t columns, Layout layout) {
      const std::int64_t inner = is_full ? rows : std::min(rows, columns);
      Sample<T> a = this->random(batch_shape(batch, rows, columns), layout);
      Sample<T> q = this->poisoned(batch_shape(batch, rows, inner), next(layout));
      Sample<T> r = this->poisoned(batch_shape(batch, inner, columns), next(layout, 2));
      value(this->device().solver().qr(a.array(), q.array(), r.array()).get());
      q.read();
      r.read();
      for (std::int64_t m = 0; m < count_of(batch); ++m) {
        const auto roundings = 8 + 2 * static_cast<double>(std::max(rows, columns));
        const auto one_q = matrix_of(q.values(), rows, inner, m);
        const auto one_r = matrix_of(r.values(), inner, columns, m);
        this->expect_orthonormal_columns(one_q, roundings);
        for (std::int64_t i = 0; i < inner; ++i)
          for (std::int64_t j = 0; j < std::min(i, columns); ++j) EXPECT_EQ(one_r.at(i, j), Wide<T>(0));
        const auto v = this->probe(columns);
        this->expect_nothing_left(one_q * (one_r * v) - matrix_of(a.values(), rows, columns, m) * v, roundings,
                                  largest(one_r));
      }
    });
}

CONFORMANCE_TEST(SolverSpectraConformance, least_squares) {
  this->covers("solver", "least_squares");
  for_each_shape([&](std::int64_t batch, std::int64_t rows, std::int64_t columns, Layout layout) {
    Sample<T> a = this->random(batch_shape(batch, rows, columns), layout);
    Sample<T> b = this->random(batch_shape(batch, rows, 2), next(layout));
    Sample<T> x = this->poisoned(batch_shape(batch, columns, 2), next(layout, 2));
    value(this->device().solver().least_squares(a.array(), b.array(), x.array()).get());
    x.read();
    for (std::int64_t m = 0; m < count_of(batch); ++m) {
      const auto matrix = matrix_of(a.values(), rows, columns, m);
      const auto got = matrix_of(x.values(), columns, 2, m);
      const auto rest = matrix * got - matrix_of(b.values(), rows, 2, m);
      const auto longest = static_cast<double>(std::max(rows, columns));
      const double magnitude = longest * (longest * largest(got) + 1);
      // What is left over is orthogonal to the columns of a tall a; nothing is left over for a wide one.
      this->expect_nothing_left(rows > columns ? adjoint(matrix) * rest : rest, 16 + longest, magnitude);
    }
  });
}

CONFORMANCE_TEST(SolverSpectraConformance, least_squares_gives_the_smallest_solution) {
  this->covers("solver", "least_squares");
  // Of x + y + z = 3 and x - y = 0 the smallest solution is (1, 1, 1).
  Sample<T> a(this->device(), {2, 3}, Layout::dense, {T(1), T(1), T(1), T(1), T(-1), T(0)});
  Sample<T> b(this->device(), {2}, Layout::dense, {T(3), T(0)});
  Sample<T> x = this->poisoned({3});
  value(this->device().solver().least_squares(a.array(), b.array(), x.array()).get());
  this->expect_close(x.read(), {Wide<T>(1), Wide<T>(1), Wide<T>(1)}, 16);
}

CONFORMANCE_TEST(SolverSpectraConformance, svd) {
  this->covers("solver", "svd");
  for (const bool is_full : {false, true})
    for_each_shape([&](std::int64_t batch, std::int64_t rows, std::int64_t columns, Layout layout) {
      this->try_svd(batch, rows, columns, is_full, layout, {});
    });
}

CONFORMANCE_TEST(SolverSpectraConformance, svd_by_jacobi) {
  this->covers("solver", "svd (jacobi)");
  for (const bool is_full : {false, true})
    for_each_shape([&](std::int64_t batch, std::int64_t rows, std::int64_t columns, Layout layout) {
      this->try_svd(batch, rows, columns, is_full, layout, {.method = SvdMethod::jacobi});
    });
}

CONFORMANCE_TEST(SolverSpectraConformance, svd_of_a_matrix_without_full_rank) {
  using R = detail::RealType<T>;
  this->covers("solver", "svd");
  for (const SvdMethod method : {SvdMethod::automatic, SvdMethod::jacobi})
    for (const T element : {T(0), T(2)}) {
      Sample<T> a(this->device(), {5, 3}, Layout::dense, std::vector<T>(15, element));
      Sample<T> u = this->poisoned({5, 5});
      auto s = this->template poisoned_of<R>({3});
      Sample<T> vt = this->poisoned({3, 3});
      value(this->device().solver().svd(a.array(), u.array(), s.array(), vt.array(), {.method = method}).get());
      this->expect_svd(matrix_of(a.values(), 5, 3), matrix_of(u.read(), 5, 5), s.read(), matrix_of(vt.read(), 3, 3), 0);
    }
}

CONFORMANCE_TEST(SolverSpectraConformance, eigh) {
  using R = detail::RealType<T>;
  this->covers("solver", "eigh");
  for_each_square([&](std::int64_t batch, std::int64_t n, Layout layout) {
    Sample<T> a = this->hermitian(batch, n, false, layout);
    auto w = this->template poisoned_of<R>(batch_shape(batch, n), next(layout));
    auto values = this->template poisoned_of<R>(batch_shape(batch, n), next(layout, 3));
    Sample<T> v = this->poisoned(batch_shape(batch, n, n), next(layout, 2));
    value(this->device().solver().eigh(a.array(), w.array(), v.array()).get());
    value(this->device().solver().eigenvalues(a.array(), values.array()).get());
    v.read();
    for (std::int64_t i = 0; i < count_of(batch); ++i)
      this->expect_eigenvectors(this->from_lower(a.values(), n, i), identity<Wide<T>>(n), w.read(),
                                matrix_of(v.values(), n, n, i), i);
    this->expect_close(values.read(), widened(w.read()), 32 + 8 * static_cast<double>(n), static_cast<double>(n));
  });
}

CONFORMANCE_TEST(SolverSpectraConformance, generalized_eigh) {
  using R = detail::RealType<T>;
  this->covers("solver", "eigh (generalized)");
  for_each_square([&](std::int64_t batch, std::int64_t n, Layout layout) {
    Sample<T> a = this->hermitian(batch, n, false, layout);
    Sample<T> b = this->hermitian(batch, n, true, next(layout, 4));
    auto w = this->template poisoned_of<R>(batch_shape(batch, n), next(layout));
    auto values = this->template poisoned_of<R>(batch_shape(batch, n), next(layout, 3));
    Sample<T> v = this->poisoned(batch_shape(batch, n, n), next(layout, 2));
    value(this->device().solver().eigh(a.array(), b.array(), w.array(), v.array()).get());
    value(this->device().solver().eigenvalues(a.array(), b.array(), values.array()).get());
    v.read();
    for (std::int64_t i = 0; i < count_of(batch); ++i)
      this->expect_eigenvectors(this->from_lower(a.values(), n, i), this->from_lower(b.values(), n, i), w.read(),
                                matrix_of(v.values(), n, n, i), i);
    this->expect_close(values.read(), widened(w.read()), 32 + 8 * static_cast<double>(n), 1);
  });
}

}  // namespace
}  // namespace troupe::conformance
