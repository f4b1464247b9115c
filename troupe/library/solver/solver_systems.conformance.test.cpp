#include "troupe/library/solver/solver.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class SolverConformance : public SolverFixture<T> {
 protected:
  using Base = SolverFixture<T>;
  using typename Base::Number;
  using typename Base::WideNumber;

  /// a x = b for each matrix of the batch, as exactly as the type allows.
  void expect_solved(const std::vector<ReferenceMatrix<WideNumber>>& all, const std::vector<Number>& b,
                     const std::vector<Number>& x, std::int64_t sides) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::int64_t n = all[i].rows;
      const ReferenceMatrix<WideNumber> right = matrix_of(b, n, sides, static_cast<std::int64_t>(i));
      const ReferenceMatrix<WideNumber> got = matrix_of(x, n, sides, static_cast<std::int64_t>(i));
      const double magnitude = static_cast<double>(n) * largest(all[i]) * largest(got) + largest(right);
      this->expect_nothing_left(all[i] * got - right, 8 + static_cast<double>(n), magnitude);
    }
  }
  /// p a = l u, for l and u in one matrix.
  void expect_factored(ReferenceMatrix<WideNumber> a, const ReferenceMatrix<WideNumber>& lu,
                       std::span<const std::int32_t> pivots) {
    ReferenceMatrix<WideNumber> lower = identity<WideNumber>(lu.rows);
    ReferenceMatrix<WideNumber> upper = lu;
    for (std::int64_t i = 0; i < lu.rows; ++i)
      for (std::int64_t j = 0; j < std::min(i, lu.columns); ++j) {
        lower.at(i, j) = std::exchange(upper.at(i, j), WideNumber(0));
        EXPECT_LE(static_cast<double>(std::abs(lower.at(i, j))), 1.5);
      }
    for (std::int64_t i = 0; i < std::ssize(pivots); ++i) {
      const std::int64_t pivot = pivots[static_cast<std::size_t>(i)];
      ASSERT_TRUE(i <= pivot && pivot < a.rows) << pivot;
      for (std::int64_t j = 0; j < a.columns; ++j) std::swap(a.at(i, j), a.at(pivot, j));
    }
    const auto v = this->probe(a.columns);
    this->expect_nothing_left(lower * (upper * v) - a * v, 8 + static_cast<double>(std::max(a.rows, a.columns)),
                              largest(upper));
  }
  static std::span<const std::int32_t> pivots_of(const std::vector<std::int32_t>& all, std::int64_t count,
                                                 std::int64_t which) {
    return std::span(all).subspan(static_cast<std::size_t>(which * count), static_cast<std::size_t>(count));
  }
  std::vector<ReferenceMatrix<WideNumber>> matrices_of(const Sample<Number>& a, std::int64_t batch, std::int64_t n) {
    std::vector<ReferenceMatrix<WideNumber>> all;
    for (std::int64_t i = 0; i < count_of(batch); ++i) all.push_back(matrix_of(a.values(), n, n, i));
    return all;
  }
  std::vector<ReferenceMatrix<WideNumber>> from_lowers_of(const Sample<Number>& a, std::int64_t batch, std::int64_t n) {
    std::vector<ReferenceMatrix<WideNumber>> all;
    for (std::int64_t i = 0; i < count_of(batch); ++i) all.push_back(Base::from_lower(a.values(), n, i));
    return all;
  }
};
CONFORMANCE_SUITE(SolverConformance, FourTypes);

CONFORMANCE_TEST(SolverConformance, solve) {
  this->covers("solver", "solve");
  for_each_square([&](std::int64_t batch, std::int64_t n, Layout layout) {
    for (const std::int64_t sides : {0, 1, 3}) {
      if (n > 50 && sides != 3) continue;
      Sample<T> a = this->random(batch_shape(batch, n, n), layout);
      Sample<T> b = this->random(batch_shape(batch, n, sides), next(layout));
      Sample<T> x = this->poisoned(batch_shape(batch, n, sides), next(layout, 2));
      value(this->device().solver().solve(a.array(), b.array(), x.array()).get());
      this->expect_solved(this->matrices_of(a, batch, n), b.values(), x.read(), sides);
    }
  });
}

CONFORMANCE_TEST(SolverConformance, solve_with_vectors) {
  this->covers("solver", "solve");
  for (const Layout layout : kLayouts)
    for (const std::int64_t batch : {-1, 1, 4}) {
      Sample<T> a = this->random(batch_shape(batch, 5, 5), layout);
      Sample<T> b = this->random(batch_shape(batch, 5), next(layout));
      Sample<T> x = this->poisoned(batch_shape(batch, 5), next(layout, 2));
      value(this->device().solver().solve(a.array(), b.array(), x.array()).get());
      this->expect_solved(this->matrices_of(a, batch, 5), b.values(), x.read(), 1);
    }
}

CONFORMANCE_TEST(SolverConformance, solve_positive) {
  this->covers("solver", "solve_positive");
  for_each_square([&](std::int64_t batch, std::int64_t n, Layout layout) {
    Sample<T> a = this->hermitian(batch, n, true, layout);
    Sample<T> b = this->random(batch_shape(batch, n, 2), next(layout));
    Sample<T> x = this->poisoned(batch_shape(batch, n, 2), next(layout, 2));
    value(this->device().solver().solve_positive(a.array(), b.array(), x.array()).get());
    this->expect_solved(this->from_lowers_of(a, batch, n), b.values(), x.read(), 2);
  });
}

CONFORMANCE_TEST(SolverConformance, inverse) {
  this->covers("solver", "inverse");
  for_each_square([&](std::int64_t batch, std::int64_t n, Layout layout) {
    Sample<T> a = this->near_identity(batch, n, layout);
    Sample<T> out = this->poisoned(batch_shape(batch, n, n), next(layout));
    value(this->device().solver().inverse(a.array(), out.array()).get());
    out.read();
    for (std::int64_t i = 0; i < count_of(batch); ++i) {
      const auto inverse = matrix_of(out.values(), n, n, i);
      const auto v = this->probe(n);
      this->expect_nothing_left(matrix_of(a.values(), n, n, i) * (inverse * v) - v, 8 + static_cast<double>(n),
                                largest(inverse));
    }
  });
}

CONFORMANCE_TEST(SolverConformance, lu) {
  this->covers("solver", "lu");
  const auto try_shape = [&](std::int64_t batch, std::int64_t rows, std::int64_t columns, Layout layout) {
    Sample<T> a = this->random(batch_shape(batch, rows, columns), layout);
    Sample<T> lu = this->poisoned(batch_shape(batch, rows, columns), next(layout));
    auto pivots =
        this->template poisoned_of<std::int32_t>(batch_shape(batch, std::min(rows, columns)), next(layout, 2));
    value(this->device().solver().lu(a.array(), lu.array(), pivots.array()).get());
    lu.read();
    pivots.read();
    for (std::int64_t m = 0; m < count_of(batch); ++m)
      this->expect_factored(matrix_of(a.values(), rows, columns, m), matrix_of(lu.values(), rows, columns, m),
                            this->pivots_of(pivots.values(), std::min(rows, columns), m));
  };
  for_each_square([&](std::int64_t batch, std::int64_t n, Layout layout) { try_shape(batch, n, n, layout); });
  for_each_shape(try_shape);
}

CONFORMANCE_TEST(SolverConformance, lu_solve) {
  this->covers("solver", "lu_solve");
  for_each_square([&](std::int64_t batch, std::int64_t n, Layout layout) {
    Sample<T> a = this->random(batch_shape(batch, n, n), layout);
    Sample<T> lu = this->poisoned(batch_shape(batch, n, n), next(layout));
    auto pivots = this->template poisoned_of<std::int32_t>(batch_shape(batch, n), next(layout, 2));
    Sample<T> b = this->random(batch_shape(batch, n, 2), next(layout, 3));
    Sample<T> x = this->poisoned(batch_shape(batch, n, 2), next(layout, 4));
    value(this->device().solver().lu(a.array(), lu.array(), pivots.array()).submit());
    value(this->device().solver().lu_solve(lu.array(), pivots.array(), b.array(), x.array()).get());
    this->expect_solved(this->matrices_of(a, batch, n), b.values(), x.read(), 2);
  });
}

CONFORMANCE_TEST(SolverConformance, cholesky) {
  this->covers("solver", "cholesky");
  for_each_square([&](std::int64_t batch, std::int64_t n, Layout layout) {
    Sample<T> a = this->hermitian(batch, n, true, layout);
    Sample<T> l = this->poisoned(batch_shape(batch, n, n), next(layout));
    value(this->device().solver().cholesky(a.array(), l.array()).get());
    l.read();
    for (std::int64_t m = 0; m < count_of(batch); ++m) {
      const auto lower = matrix_of(l.values(), n, n, m);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = i + 1; j < n; ++j) EXPECT_EQ(lower.at(i, j), Wide<T>(0));
      const auto v = this->probe(n);
      this->expect_nothing_left(lower * (adjoint(lower) * v) - this->from_lower(a.values(), n, m) * v,
                                8 + static_cast<double>(n), 2 * static_cast<double>(n));
    }
  });
}

CONFORMANCE_TEST(SolverConformance, cholesky_solve) {
  this->covers("solver", "cholesky_solve");
  for_each_square([&](std::int64_t batch, std::int64_t n, Layout layout) {
    Sample<T> a = this->hermitian(batch, n, true, layout);
    Sample<T> l = this->poisoned(batch_shape(batch, n, n), next(layout));
    Sample<T> b = this->random(batch_shape(batch, n, 2), next(layout, 3));
    Sample<T> x = this->poisoned(batch_shape(batch, n, 2), next(layout, 4));
    value(this->device().solver().cholesky(a.array(), l.array()).submit());
    value(this->device().solver().cholesky_solve(l.array(), b.array(), x.array()).get());
    this->expect_solved(this->from_lowers_of(a, batch, n), b.values(), x.read(), 2);
  });
}

/// By elimination with pivots, in higher precision.
template <class W>
W determinant_of(ReferenceMatrix<W> a) {
  W product(1);
  for (std::int64_t k = 0; k < a.rows; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < a.rows; ++i)
      if (std::abs(a.at(i, k)) > std::abs(a.at(pivot, k))) pivot = i;
    if (pivot != k) product = -product;
    for (std::int64_t j = 0; j < a.columns; ++j) std::swap(a.at(k, j), a.at(pivot, j));
    product *= a.at(k, k);
    for (std::int64_t i = k + 1; i < a.rows; ++i) {
      const W factor = a.at(i, k) / a.at(k, k);
      for (std::int64_t j = k; j < a.columns; ++j) a.at(i, j) -= factor * a.at(k, j);
    }
  }
  return product;
}

CONFORMANCE_TEST(SolverConformance, determinant) {
  this->covers("solver", "determinant");
  for (const Layout layout : kLayouts)
    for (const std::int64_t n : {0, 1, 2, 7, 31}) {
      Sample<T> a = this->near_identity(-1, n, layout);
      std::vector<T> values = a.values();
      if (n > 1) std::swap_ranges(values.begin(), values.begin() + n, values.begin() + n);  // a sign to get right
      a.write(values);
      const T got = value(this->device().solver().determinant(a.array()).get());
      this->expect_close(std::vector<T>{got}, {determinant_of(matrix_of(a.values(), n, n))},
                         8 + static_cast<double>(n));
    }
}

CONFORMANCE_TEST(SolverConformance, determinants_of_a_batch) {
  this->covers("solver", "determinant");
  for (const Layout layout : kLayouts)
    for (const SquareCase& square : kSquareCases) {
      if (square.batch < 0) continue;
      Sample<T> a = this->near_identity(square.batch, square.n, layout);
      Sample<T> out = this->poisoned(Shape{square.batch}, next(layout));
      value(this->device().solver().determinants(a.array(), out.array()).get());
      std::vector<Wide<T>> want;
      for (std::int64_t i = 0; i < square.batch; ++i)
        want.push_back(determinant_of(matrix_of(a.values(), square.n, square.n, i)));
      this->expect_close(out.read(), want, 8 + static_cast<double>(square.n));
    }
}

CONFORMANCE_TEST(SolverConformance, a_singular_matrix_has_determinant_0) {
  this->covers("solver", "determinant");
  Sample<T> a(this->device(), {3, 3}, Layout::dense, std::vector<T>(9, T(1)));
  EXPECT_EQ(value(this->device().solver().determinant(a.array()).get()), T(0));
  this->count_case();
}

}  // namespace
}  // namespace troupe::conformance
