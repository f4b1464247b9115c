// What the suites of the solvers share: small dense algebra in higher precision, to judge a result by what it leaves
// over (a x - b, a - q r, ...), and matrices of the kinds that solvers are for.
#pragma once

#include <algorithm>

#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {

template <class W>
struct ReferenceMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<W> elements = {};  // row-major

  W& at(std::int64_t i, std::int64_t j) { return elements[static_cast<std::size_t>(i * columns + j)]; }
  const W& at(std::int64_t i, std::int64_t j) const { return elements[static_cast<std::size_t>(i * columns + j)]; }
};
template <class W>
ReferenceMatrix<W> zeros(std::int64_t rows, std::int64_t columns) {
  return {rows, columns, std::vector<W>(static_cast<std::size_t>(rows * columns))};
}
template <class W>
ReferenceMatrix<W> identity(std::int64_t n) {
  ReferenceMatrix<W> one = zeros<W>(n, n);
  for (std::int64_t i = 0; i < n; ++i) one.at(i, i) = W(1);
  return one;
}
template <class W>
ReferenceMatrix<W> operator*(const ReferenceMatrix<W>& a, const ReferenceMatrix<W>& b) {
  ReferenceMatrix<W> product = zeros<W>(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k)
      for (std::int64_t j = 0; j < b.columns; ++j) product.at(i, j) += a.at(i, k) * b.at(k, j);
  return product;
}
template <class W>
ReferenceMatrix<W> operator-(ReferenceMatrix<W> a, const ReferenceMatrix<W>& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.columns, b.columns);
  for (std::size_t i = 0; i < a.elements.size(); ++i) a.elements[i] -= b.elements[i];
  return a;
}
template <class W>
ReferenceMatrix<W> adjoint(const ReferenceMatrix<W>& a) {
  ReferenceMatrix<W> turned = zeros<W>(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) turned.at(j, i) = conjugate(a.at(i, j));
  return turned;
}
template <class W>
double largest(const ReferenceMatrix<W>& a) {
  double most = 0;
  for (const W& element : a.elements) {
    const auto size = static_cast<double>(std::abs(element));
    if (!(size <= most)) most = size;  // a NaN stays
    if (std::isnan(most)) return most;
  }
  return most;
}

/// Matrix `which` of a batch, or the only one, of elements in row-major order.
template <class T>
ReferenceMatrix<Wide<T>> matrix_of(const std::vector<T>& values, std::int64_t rows, std::int64_t columns,
                                   std::int64_t which = 0) {
  ReferenceMatrix<Wide<T>> matrix = zeros<Wide<T>>(rows, columns);
  const auto first = static_cast<std::size_t>(which * rows * columns);
  for (std::size_t i = 0; i < matrix.elements.size(); ++i) matrix.elements[i] = widen(values[first + i]);
  return matrix;
}
/// A real vector as a diagonal matrix.
template <class W, class R>
ReferenceMatrix<W> diagonal_of(const std::vector<R>& values, std::int64_t n, std::int64_t which = 0) {
  ReferenceMatrix<W> diagonal = zeros<W>(n, n);
  for (std::int64_t i = 0; i < n; ++i) diagonal.at(i, i) = W(values[static_cast<std::size_t>(which * n + i)]);
  return diagonal;
}

/// Shapes of batches: one matrix has no first extent.
inline Shape batch_shape(std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  return batch < 0 ? Shape{rows, columns} : Shape{batch, rows, columns};
}
inline Shape batch_shape(std::int64_t batch, std::int64_t length) {
  return batch < 0 ? Shape{length} : Shape{batch, length};
}

template <class T>
class SolverFixture : public Conformance<T> {
 public:
  using Number = T;
  using WideNumber = Wide<Number>;
  using RealNumber = detail::RealType<Number>;

 protected:
  void SetUp() override {
    Conformance<T>::SetUp();
    if (this->IsSkipped()) return;
    const Array<Number> empty = value(this->device().template array<Number>({0, 0}));
    const Result<Number> tried = this->device().solver().determinant(empty).get();
    if (!tried && tried.error().kind() == ErrorKind::unsupported) GTEST_SKIP() << tried.error().message();
  }
  /// What matrices are multiplied by before they are compared: all of it when it is small, else a few directions, so
  /// that large matrices cost n^2 in the slow numbers of higher precision.
  ReferenceMatrix<WideNumber> probe(std::int64_t n) {
    constexpr std::int64_t kAll = 24;
    if (n <= kAll) return identity<WideNumber>(n);
    ReferenceMatrix<WideNumber> some = zeros<WideNumber>(n, 2);
    for (WideNumber& element : some.elements)
      element = this->random_numbers()() % 2 == 0 ? WideNumber(1) : WideNumber(-1);
    return some;
  }
  /// Nothing is left over but `roundings` of the type for numbers as large as `magnitude`.
  void expect_nothing_left(const ReferenceMatrix<WideNumber>& rest, double roundings, double magnitude) {
    this->count_case();
    const double most = largest(rest);
    EXPECT_LE(most, roundings * epsilon<Number>() * std::max(magnitude, 1.0)) << rest.rows << " rows";
  }
  void expect_orthonormal_columns(const ReferenceMatrix<WideNumber>& q, double roundings) {
    const ReferenceMatrix<WideNumber> v = probe(q.columns);
    expect_nothing_left(adjoint(q) * (q * v) - v, roundings, 1);
  }

  /// Far from singular, with a determinant near 1.
  Sample<Number> near_identity(std::int64_t batch, std::int64_t n, Layout layout) {
    Sample<Number> sample = this->random(batch_shape(batch, n, n), layout);
    std::vector<Number> values = sample.values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto place = static_cast<std::int64_t>(i) % (n * n);
      values[i] = values[i] * Number(RealNumber(0.5) / RealNumber(n)) +
                  Number(place / n == place % n ? RealNumber(1) : RealNumber(0));
    }
    sample.write(values);
    return sample;
  }
  /// Hermitian, with eigenvalues of either sign or only positive ones; poison above the diagonal, which nobody reads.
  Sample<Number> hermitian(std::int64_t batch, std::int64_t n, bool is_positive, Layout layout) {
    Sample<Number> sample = this->random(batch_shape(batch, n, n), layout);
    std::vector<Number> values = sample.values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) % (n * n) / n;
      const auto column = static_cast<std::int64_t>(i) % n;
      if (row < column) values[i] = poison<Number>();
      if (row == column) values[i] = Number(std::real(values[i]) + (is_positive ? RealNumber(2 * n) : RealNumber(0)));
    }
    sample.write(values);
    return sample;
  }
  /// The whole matrix of which the lower triangle was given.
  static ReferenceMatrix<WideNumber> from_lower(const std::vector<Number>& values, std::int64_t n,
                                                std::int64_t which = 0) {
    ReferenceMatrix<WideNumber> whole = matrix_of(values, n, n, which);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = i + 1; j < n; ++j) whole.at(i, j) = conjugate(whole.at(j, i));
    return whole;
  }
};

/// Square matrices to try: batches (-1 for a single matrix) and extents.
struct SquareCase {
  std::int64_t batch;
  std::int64_t n;
};
inline constexpr std::array kSquareCases{SquareCase{-1, 0},  SquareCase{-1, 1}, SquareCase{-1, 2}, SquareCase{-1, 7},
                                         SquareCase{-1, 31}, SquareCase{0, 3},  SquareCase{1, 4},  SquareCase{3, 0},
                                         SquareCase{5, 1},   SquareCase{4, 9}};
inline constexpr std::int64_t kLarge = 211;

/// `f(batch, n, layout)` for all of them, and once for a large one.
template <class F>
void for_each_square(F&& f) {
  for (const Layout layout : kLayouts)
    for (const SquareCase& square : kSquareCases) f(square.batch, square.n, layout);
  f(std::int64_t{-1}, kLarge, Layout::dense);
}

/// Matrices of any shape; a batch of -1 is a single one.
struct AnyCase {
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
};
inline constexpr std::array kAnyCases{AnyCase{-1, 0, 0},  AnyCase{-1, 3, 0}, AnyCase{-1, 0, 4}, AnyCase{-1, 1, 1},
                                      AnyCase{-1, 5, 1},  AnyCase{-1, 1, 6}, AnyCase{-1, 7, 7}, AnyCase{-1, 31, 13},
                                      AnyCase{-1, 8, 29}, AnyCase{0, 3, 2},  AnyCase{1, 4, 3},  AnyCase{3, 9, 5},
                                      AnyCase{4, 5, 9},   AnyCase{5, 6, 6}};

/// `f(batch, rows, columns, layout)` for all of them, and for a few large ones.
template <class F>
void for_each_shape(F&& f) {
  for (const Layout layout : kLayouts)
    for (const AnyCase& any : kAnyCases) f(any.batch, any.rows, any.columns, layout);
  f(-1, 149, 67, Layout::dense);
  f(-1, 67, 149, Layout::transposed);
}

inline std::int64_t count_of(std::int64_t batch) { return batch < 0 ? 1 : batch; }

}  // namespace troupe::conformance
