// Vectors, and matrices with vectors. Matrices with matrices are in blas_matrices.conformance.test.cpp.
#include <cmath>

#include "troupe/library/conformance.test.hpp"
#include "troupe/library/dense.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class BlasConformance : public Conformance<T> {
 protected:
  Blas blas() const { return this->device().blas(); }

  /// Every shape in every layout: empty, one, odd, prime, large, of several dimensions.
  template <class F>
  void for_each_array(F&& f) {
    for (const Shape& shape : {Shape{0}, Shape{1}, Shape{31}, Shape{10'007}, Shape{7, 13}, Shape{3, 5, 4}})
      for (const Layout layout : kLayouts) {
        SCOPED_TRACE(shape.to_string() + " " + name(layout));
        f(shape, layout);
      }
  }
  /// Rows and columns, and how the matrix lies.
  template <class F>
  void for_each_matrix(F&& f) {
    for (const Layout layout : kLayouts)
      for (const auto& [rows, columns] : {std::pair{0, 3}, {3, 0}, {1, 1}, {1, 7}, {7, 1}, {13, 5}, {31, 67}}) {
        SCOPED_TRACE(std::to_string(rows) + " by " + std::to_string(columns) + " " + name(layout));
        f(rows, columns, layout);
      }
  }
};
CONFORMANCE_SUITE(BlasConformance, FourTypes);

CONFORMANCE_TEST(BlasConformance, axpy) {
  this->covers("blas", "axpy");
  this->for_each_array([&](const Shape& shape, Layout layout) {
    Sample<T> x = this->random(shape, layout);
    Sample<T> y = this->random(shape, next(layout));
    std::vector<Wide<T>> want = widened(y.values());
    for (std::size_t i = 0; i < want.size(); ++i) want[i] += Wide<T>(0.5) * widen(x.values()[i]);
    value(this->blas().axpy(0.5, x.array(), y.array()).get());
    this->expect_close(y.read(), want, 2);
  });
}

CONFORMANCE_TEST(BlasConformance, scal) {
  this->covers("blas", "scal");
  const auto alpha = detail::kIsComplex<T> ? std::complex<double>(0.5, -2) : std::complex<double>(-1.5);
  this->for_each_array([&](const Shape& shape, Layout layout) {
    Sample<T> x = this->random(shape, layout);
    std::vector<Wide<T>> want = widened(x.values());
    for (Wide<T>& element : want) element *= number<Wide<T>>(alpha);
    value(this->blas().scal(alpha, x.array()).get());
    this->expect_close(x.read(), want, 4);
  });
}

CONFORMANCE_TEST(BlasConformance, copy) {
  this->covers("blas", "copy");
  this->for_each_array([&](const Shape& shape, Layout layout) {
    Sample<T> x = this->random(shape, layout);
    Sample<T> y = this->poisoned(shape, next(layout));
    value(this->blas().copy(x.array(), y.array()).get());
    this->expect_equal(y.read(), x.values());
  });
}

CONFORMANCE_TEST(BlasConformance, swap) {
  this->covers("blas", "swap");
  this->for_each_array([&](const Shape& shape, Layout layout) {
    Sample<T> x = this->random(shape, layout);
    Sample<T> y = this->random(shape, next(layout));
    const std::vector<T> was_x = x.values();
    const std::vector<T> was_y = y.values();
    value(this->blas().swap(x.array(), y.array()).get());
    this->expect_equal(x.read(), was_y);
    this->expect_equal(y.read(), was_x);
  });
}

CONFORMANCE_TEST(BlasConformance, rot) {
  using W = Wide<T>;
  this->covers("blas", "rot");
  const auto sine = detail::kIsComplex<T> ? std::complex<double>(0.48, 0.64) : std::complex<double>(0.8);
  this->for_each_array([&](const Shape& shape, Layout layout) {
    Sample<T> x = this->random(shape, layout);
    Sample<T> y = this->random(shape, next(layout));
    std::vector<W> want_x = widened(x.values());
    std::vector<W> want_y = widened(y.values());
    for (std::size_t i = 0; i < want_x.size(); ++i) {
      const W a = want_x[i];
      const W b = want_y[i];
      want_x[i] = W(0.6) * a + number<W>(sine) * b;
      want_y[i] = W(0.6) * b - conjugate(number<W>(sine)) * a;
    }
    value(this->blas().rot(x.array(), y.array(), 0.6, sine).get());
    this->expect_close(x.read(), want_x, 8);
    this->expect_close(y.read(), want_y, 8);
  });
}

CONFORMANCE_TEST(BlasConformance, dot) {
  using W = Wide<T>;
  this->covers("blas", "dot");
  for (const bool conjugates : {false, true})
    this->for_each_array([&](const Shape& shape, Layout layout) {
      const Sample<T> x = this->random(shape, layout);
      const Sample<T> y = this->random(shape, next(layout));
      W want{};
      for (std::size_t i = 0; i < x.values().size(); ++i) {
        const W left = widen(x.values()[i]);
        want += (conjugates ? conjugate(left) : left) * widen(y.values()[i]);
      }
      const T got = value(this->blas().dot(x.array(), y.array(), {.conjugate = conjugates}).get());
      this->expect_close(std::vector<T>{got}, {want}, 16 + 4 * std::sqrt(static_cast<double>(x.values().size())),
                         std::sqrt(1.0 + static_cast<double>(x.values().size())));
    });
}

CONFORMANCE_TEST(BlasConformance, dot_of_what_is_repeated) {
  using W = Wide<T>;
  this->covers("blas", "dot");
  const Sample<T> columns = this->random({7, 1});
  const Sample<T> y = this->random({7, 5});
  const Array<T> x = value(columns.array().broadcast({7, 5}));
  W want{};
  for (std::size_t i = 0; i < 35; ++i) want += widen(columns.values()[i / 5]) * widen(y.values()[i]);
  this->expect_close(std::vector<T>{value(this->blas().dot(x, y.array()).get())}, {want}, 40, 6);
}

/// nrm2 and asum.
template <class Test, class T, class Call, class Add, class Finish>
void expect_sum(Test& test, const std::vector<T>& x, Call call, Add add, Finish finish) {
  using Real = detail::RealType<T>;
  using W = Wide<Real>;
  W sum{};
  for (const T element : x) {
    if constexpr (detail::kIsComplex<T>)
      sum += add(W(element.real())) + add(W(element.imag()));
    else
      sum += add(W(element));
  }
  test(std::vector<Real>{call()}, std::vector<W>{finish(sum)}, 16 + 4 * std::sqrt(static_cast<double>(x.size())));
}

CONFORMANCE_TEST(BlasConformance, nrm2) {
  this->covers("blas", "nrm2");
  const auto close = [&](const auto& got, const auto& want, double roundings) {
    this->expect_close(got, want, roundings);
  };
  this->for_each_array([&](const Shape& shape, Layout layout) {
    const Sample<T> x = this->random(shape, layout);
    expect_sum(
        close, x.values(), [&] { return value(this->blas().nrm2(x.array()).get()); },
        [](auto part) { return part * part; }, [](auto sum) { return std::sqrt(sum); });
  });
}

CONFORMANCE_TEST(BlasConformance, asum) {
  this->covers("blas", "asum");
  const auto close = [&](const auto& got, const auto& want, double roundings) {
    this->expect_close(got, want, roundings);
  };
  this->for_each_array([&](const Shape& shape, Layout layout) {
    const Sample<T> x = this->random(shape, layout);
    expect_sum(
        close, x.values(), [&] { return value(this->blas().asum(x.array()).get()); },
        [](auto part) { return std::abs(part); }, [](auto sum) { return sum; });
  });
}

template <class T>
double size_of(T number) {
  if constexpr (detail::kIsComplex<T>)  // rounded as the op rounds it, or two that are equal there would not be here
    return std::abs(number.real()) + std::abs(number.imag());
  else
    return std::abs(number);
}

CONFORMANCE_TEST(BlasConformance, iamax) {
  this->covers("blas", "iamax");
  this->for_each_array([&](const Shape& shape, Layout layout) {
    const Sample<T> x = this->random(shape, layout);
    if (x.values().empty()) {
      EXPECT_EQ(this->blas().iamax(x.array()).get().error().kind(), ErrorKind::invalid_argument);
      return;
    }
    const auto larger = [](T a, T b) { return size_of(a) < size_of(b); };
    const auto want = std::ranges::max_element(x.values(), larger) - x.values().begin();
    EXPECT_EQ(value(this->blas().iamax(x.array()).get()), want);
    this->count_case();
  });
}

CONFORMANCE_TEST(BlasConformance, iamin) {
  this->covers("blas", "iamin");
  this->for_each_array([&](const Shape& shape, Layout layout) {
    const Sample<T> x = this->random(shape, layout);
    if (x.values().empty()) return;
    const auto larger = [](T a, T b) { return size_of(a) < size_of(b); };
    const auto want = std::ranges::min_element(x.values(), larger) - x.values().begin();
    EXPECT_EQ(value(this->blas().iamin(x.array()).get()), want);
    this->count_case();
  });
}

CONFORMANCE_TEST(BlasConformance, gemv) {
  this->covers("blas", "gemv");
  for (const bool conjugates : {false, true})
    this->for_each_matrix([&](std::int64_t rows, std::int64_t columns, Layout layout) {
      Sample<T> a = this->random({rows, columns}, layout);
      Sample<T> x = this->random({columns}, next(layout));
      Sample<T> y = this->random({rows}, next(layout, 2));
      const Dense<T> want =
          Dense<T>(0.5) * (Dense<T>(a, rows, columns).conjugated_if(conjugates) * Dense<T>(x, columns, 1)) +
          Dense<T>(-1) * Dense<T>(y, rows, 1);
      value(this->blas()
                .gemv(a.array(), x.array(), y.array(), {.alpha = 0.5, .beta = -1.0, .conjugate_a = conjugates})
                .get());
      this->expect_close(y.read(), want.elements(), 16 + 2 * static_cast<double>(columns));
    });
}

CONFORMANCE_TEST(BlasConformance, ger) {
  this->covers("blas", "ger");
  for (const bool conjugates : {false, true})
    this->for_each_matrix([&](std::int64_t rows, std::int64_t columns, Layout layout) {
      Sample<T> a = this->random({rows, columns}, layout);
      Sample<T> x = this->random({rows}, next(layout));
      Sample<T> y = this->random({columns}, next(layout, 2));
      const Dense<T> want = Dense<T>(a, rows, columns) +
                            Dense<T>(2) * (Dense<T>(x, rows, 1) * Dense<T>(y, 1, columns).conjugated_if(conjugates));
      value(this->blas().ger(x.array(), y.array(), a.array(), {.alpha = 2.0, .conjugate = conjugates}).get());
      this->expect_close(a.read(), want.elements(), 8);
    });
}

CONFORMANCE_TEST(BlasConformance, symv) {
  this->covers("blas", "symv");
  for (const Layout layout : kLayouts)
    for (const std::int64_t n : {0, 1, 5, 37})
      for (const Triangle triangle : {Triangle::lower, Triangle::upper})
        for (const bool hermitian : {false, true}) {
          SCOPED_TRACE(std::to_string(n) + " " + name(layout));
          Sample<T> a = this->random({n, n}, layout);
          Sample<T> x = this->random({n}, next(layout));
          Sample<T> y = this->random({n}, next(layout, 2));
          const Dense<T> want = Dense<T>(2) * (Dense<T>(a, n, n).symmetric(triangle, hermitian) * Dense<T>(x, n, 1)) +
                                Dense<T>(0.5) * Dense<T>(y, n, 1);
          value(this->blas()
                    .symv(a.array(), x.array(), y.array(),
                          {.alpha = 2.0, .beta = 0.5, .triangle = triangle, .hermitian = hermitian})
                    .get());
          this->expect_close(y.read(), want.elements(), 16 + 2 * static_cast<double>(n));
        }
}

CONFORMANCE_TEST(BlasConformance, trmv) {
  this->covers("blas", "trmv");
  for (const Layout layout : kLayouts)
    for (const std::int64_t n : {0, 1, 5, 37})
      for (const Triangle triangle : {Triangle::lower, Triangle::upper})
        for (const bool unit : {false, true}) {
          SCOPED_TRACE(std::to_string(n) + " " + name(layout));
          Sample<T> a = this->random({n, n}, layout);
          Sample<T> x = this->random({n}, next(layout));
          Sample<T> y = this->poisoned({n}, next(layout, 2));
          const Dense<T> want = Dense<T>(a, n, n).triangular(triangle, unit).conjugated_if(unit) * Dense<T>(x, n, 1);
          value(this->blas()
                    .trmv(a.array(), x.array(), y.array(),
                          {.triangle = triangle, .unit_diagonal = unit, .conjugate = unit})
                    .get());
          this->expect_close(y.read(), want.elements(), 16 + 2 * static_cast<double>(n));
        }
}

CONFORMANCE_TEST(BlasConformance, trsv) {
  this->covers("blas", "trsv");
  for (const Layout layout : kLayouts)
    for (const std::int64_t n : {0, 1, 5, 37})
      for (const Triangle triangle : {Triangle::lower, Triangle::upper})
        for (const bool unit : {false, true}) {
          SCOPED_TRACE(std::to_string(n) + " " + name(layout));
          Sample<T> a = this->random({n, n}, layout);
          a.write(well_conditioned(a.values(), n));
          Sample<T> b = this->random({n}, next(layout));
          Sample<T> x = this->poisoned({n}, next(layout, 2));
          value(
              this->blas().trsv(a.array(), b.array(), x.array(), {.triangle = triangle, .unit_diagonal = unit}).get());
          x.read();
          const Dense<T> back = Dense<T>(a, n, n).triangular(triangle, unit) * Dense<T>(x, n, 1);
          this->expect_close(back.rounded(), Dense<T>(b, n, 1).elements(), 8 + 4 * static_cast<double>(n), 4);
        }
}

}  // namespace
}  // namespace troupe::conformance
