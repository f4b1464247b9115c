// Matrices with matrices.
#include <optional>

#include "troupe/library/conformance.test.hpp"
#include "troupe/library/dense.test.hpp"

namespace troupe::conformance {
namespace {

struct Extents {
  std::int64_t rows, columns, depth;
};
constexpr std::array<Extents, 9> kExtents{
    {{0, 3, 2}, {3, 0, 2}, {4, 3, 0}, {1, 1, 1}, {1, 9, 5}, {9, 1, 5}, {5, 7, 3}, {31, 17, 23}, {64, 65, 130}}};

std::string text(const Extents& extents, Layout layout) {
  return std::to_string(extents.rows) + " " + std::to_string(extents.columns) + " " + std::to_string(extents.depth) +
         " " + name(layout);
}

template <class T>
class BlasMatrices : public Conformance<T> {
 protected:
  using Number = T;
  Blas blas() const { return this->device().blas(); }
  /// At worst one for each product and each sum; chance makes it far fewer.
  static double roundings(std::int64_t depth) { return 16 + 2 * static_cast<double>(depth); }
  Sample<Number> square(std::int64_t n, Layout layout) { return this->random({n, n}, layout); }
};
template <class T>
class BlasConformanceOfMatrices : public BlasMatrices<T> {};
CONFORMANCE_SUITE(BlasConformanceOfMatrices, FourTypes);

/// Those that have a gemm and nothing else.
template <class T>
class BlasConformanceOfProducts : public BlasMatrices<T> {};
using ProductTypes = Types<float, double, std::complex<float>, std::complex<double>, f16, bf16, f8e4m3, f8e5m2>;
CONFORMANCE_SUITE(BlasConformanceOfProducts, ProductTypes);

CONFORMANCE_TEST(BlasConformanceOfProducts, gemm) {
  this->covers("blas", "gemm");
  for (const Extents& e : kExtents)
    for (const Layout layout : kLayouts) {
      SCOPED_TRACE(text(e, layout));
      Sample<T> a = this->random({e.rows, e.depth}, layout);
      Sample<T> b = this->random({e.depth, e.columns}, next(layout));
      Sample<T> c = this->poisoned({e.rows, e.columns}, next(layout, 2));
      const Dense<T> product = Dense<T>(a, e.rows, e.depth) * Dense<T>(b, e.depth, e.columns);
      value(this->blas().gemm(a.array(), b.array(), c.array()).get());
      this->expect_close(c.read(), product.elements(), this->roundings(e.depth));
      c.write(this->random({e.rows, e.columns}).values());
      const Dense<T> want = Dense<T>(0.5) * product + Dense<T>(-2) * Dense<T>(c, e.rows, e.columns);
      value(this->blas().gemm(a.array(), b.array(), c.array(), {.alpha = 0.5, .beta = -2.0}).get());
      this->expect_close(c.read(), want.elements(), this->roundings(e.depth));
    }
}

CONFORMANCE_TEST(BlasConformanceOfProducts, gemm_batched) {
  this->covers("blas", "gemm, strided batch");
  for (const std::int64_t count : {0, 1, 7})
    for (const Extents& e : {Extents{1, 1, 1}, {5, 7, 3}, {16, 16, 16}})
      for (const Layout layout : kLayouts) {
        SCOPED_TRACE(text(e, layout));
        Sample<T> a = this->random({count, e.rows, e.depth}, layout);
        Sample<T> b = this->random({count, e.depth, e.columns}, next(layout));
        Sample<T> c = this->poisoned({count, e.rows, e.columns}, next(layout, 2));
        std::vector<Wide<T>> want;
        for (std::int64_t i = 0; i < count; ++i) {
          const auto part = [i](const Sample<T>& sample, std::int64_t rows, std::int64_t columns) {
            const auto first = sample.values().begin() + i * rows * columns;
            return Dense<T>(std::vector<T>(first, first + rows * columns), rows, columns);
          };
          const Dense<T> product = part(a, e.rows, e.depth) * part(b, e.depth, e.columns);
          want.insert(want.end(), product.elements().begin(), product.elements().end());
        }
        value(this->blas().gemm(a.array(), b.array(), c.array()).get());
        this->expect_close(c.read(), want, this->roundings(e.depth));
      }
}

CONFORMANCE_TEST(BlasConformanceOfProducts, gemm_batch_with_one_factor_for_all) {
  this->covers("blas", "gemm, strided batch");
  Sample<T> a = this->random({3, 5, 4});
  Sample<T> b = this->random({4, 6});
  Sample<T> c = this->poisoned({3, 5, 6});
  const Dense<T> want = Dense<T>(a, 15, 4) * Dense<T>(b, 4, 6);
  const Array<T> same = value(b.array().broadcast({3, 4, 6}));
  value(this->blas().gemm(a.array(), same, c.array()).get());
  this->expect_close(c.read(), want.elements(), this->roundings(4));
}

CONFORMANCE_TEST(BlasConformanceOfProducts, gemm_group) {
  // Alike and aligned, alike, and all different: by one call of cuBLAS, or one after another.
  for (const std::optional<Layout> same :
       {std::optional(Layout::dense), std::optional(Layout::padded), std::optional<Layout>()}) {
    this->covers("blas", "gemm, group");
    std::vector<Sample<T>> a, b, c;
    std::vector<Extents> extents;
    for (std::int64_t i = 0; i < 12; ++i) {
      const Extents e = same ? Extents{8, 12, 16} : Extents{i, 13 - i, 2 * i};
      const Layout layout = same ? *same : next(Layout::dense, static_cast<int>(i));
      extents.push_back(e);
      a.push_back(this->random({e.rows, e.depth}, layout));
      b.push_back(this->random({e.depth, e.columns}, layout));
      c.push_back(this->random({e.rows, e.columns}, layout));
    }
    const auto arrays = [](const std::vector<Sample<T>>& samples) {
      std::vector<AnyArray> all;
      for (const Sample<T>& sample : samples) all.push_back(sample.array());
      return all;
    };
    std::vector<Dense<T>> want;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Extents& e = extents[i];
      want.push_back(Dense<T>(0.5) * (Dense<T>(a[i], e.rows, e.depth) * Dense<T>(b[i], e.depth, e.columns)) +
                     Dense<T>(c[i], e.rows, e.columns));
    }
    value(this->blas().gemm_group(arrays(a), arrays(b), arrays(c), {.alpha = 0.5, .beta = 1.0}).get());
    for (std::size_t i = 0; i < a.size(); ++i)
      this->expect_close(c[i].read(), want[i].elements(), this->roundings(extents[i].depth));
  }
}

// ---- integers and tf32 ----

template <class T>
class BlasConformanceOfIntegers : public BlasMatrices<T> {};
CONFORMANCE_SUITE(BlasConformanceOfIntegers, Types<std::int8_t>);

CONFORMANCE_TEST(BlasConformanceOfIntegers, gemm) {
  this->covers("blas", "gemm");
  std::vector<Extents> extents(kExtents.begin(), kExtents.end());
  extents.push_back({32, 48, 64});  // as cuBLAS likes it
  for (const Extents& e : extents)
    for (const Layout layout : kLayouts) {
      SCOPED_TRACE(text(e, layout));
      Sample<std::int8_t> a = this->random({e.rows, e.depth}, layout);
      Sample<std::int8_t> b = this->random({e.depth, e.columns}, next(layout));
      Sample<std::int32_t> c = this->template random_of<std::int32_t>({e.rows, e.columns}, next(layout, 2));
      std::vector<std::int64_t> want(c.values().begin(), c.values().end());
      const Dense<std::int8_t> product =
          Dense<std::int8_t>(a, e.rows, e.depth) * Dense<std::int8_t>(b, e.depth, e.columns);
      for (std::size_t i = 0; i < want.size(); ++i) want[i] = 3 * product.elements()[i] - 2 * want[i];
      value(this->blas().gemm(a.array(), b.array(), c.array(), {.alpha = 3.0, .beta = -2.0}).get());
      this->expect_close(c.read(), want, 0);
    }
}

template <class T>
class BlasConformanceOfTf32 : public BlasMatrices<T> {};
CONFORMANCE_SUITE(BlasConformanceOfTf32, Types<float>);

CONFORMANCE_TEST(BlasConformanceOfTf32, gemm) {
  this->covers("blas", "gemm, tf32");
  for (const Extents& e : kExtents) {
    Sample<float> a = this->random({e.rows, e.depth});
    Sample<float> b = this->random({e.depth, e.columns});
    Sample<float> c = this->poisoned({e.rows, e.columns});
    const Dense<float> want = Dense<float>(a, e.rows, e.depth) * Dense<float>(b, e.depth, e.columns);
    value(this->blas().gemm(a.array(), b.array(), c.array(), {.compute = Compute::tf32}).get());
    constexpr double kOfF32 = 0x1p13;  // the factors have 10 bits of mantissa instead of 23
    this->expect_close(c.read(), want.elements(), kOfF32 * this->roundings(e.depth));
  }
}

// ---- the four types ----

CONFORMANCE_TEST(BlasConformanceOfMatrices, gemm_conjugates) {
  this->covers("blas", "gemm, conjugated");
  for (const Extents& e : kExtents)
    for (const Layout layout : kLayouts)
      for (const int which : {1, 2, 3}) {
        SCOPED_TRACE(text(e, layout));
        const bool first = which & 1;
        const bool second = which & 2;
        Sample<T> a = this->random({e.rows, e.depth}, layout);
        Sample<T> b = this->random({e.depth, e.columns}, next(layout, which));
        Sample<T> c = this->poisoned({e.rows, e.columns}, next(layout, 2));
        const Dense<T> want =
            Dense<T>(a, e.rows, e.depth).conjugated_if(first) * Dense<T>(b, e.depth, e.columns).conjugated_if(second);
        value(this->blas().gemm(a.array(), b.array(), c.array(), {.conjugate_a = first, .conjugate_b = second}).get());
        this->expect_close(c.read(), want.elements(), this->roundings(e.depth));
      }
}

CONFORMANCE_TEST(BlasConformanceOfMatrices, symm) {
  for (const bool hermitian : {false, true})
    for (const Side side : {Side::left, Side::right})
      for (const Triangle triangle : {Triangle::lower, Triangle::upper})
        for (const Layout layout : kLayouts)
          for (const Extents& e : {Extents{0, 3, 0}, {1, 1, 1}, {7, 5, 0}, {31, 20, 0}}) {
            this->covers("blas", "symm");
            SCOPED_TRACE(text(e, layout));
            const std::int64_t n = side == Side::left ? e.rows : e.columns;
            Sample<T> a = this->square(n, layout);
            Sample<T> b = this->random({e.rows, e.columns}, next(layout, hermitian ? 0 : 1));
            Sample<T> c = this->random({e.rows, e.columns}, next(layout, side == Side::left ? 0 : 2));
            const Dense<T> whole = Dense<T>(a, n, n).symmetric(triangle, hermitian);
            const Dense<T> other(b, e.rows, e.columns);
            const Dense<T> want = Dense<T>(2) * (side == Side::left ? whole * other : other * whole) +
                                  Dense<T>(0.5) * Dense<T>(c, e.rows, e.columns);
            value(this->blas()
                      .symm(a.array(), b.array(), c.array(),
                            {.alpha = 2.0, .beta = 0.5, .triangle = triangle, .hermitian = hermitian, .side = side})
                      .get());
            this->expect_close(c.read(), want.elements(), this->roundings(n));
          }
}

/// syrk and its relatives: one half of c becomes `want`, the other stays.
template <class T>
std::vector<Wide<T>> half(const Dense<T>& want, const Dense<T>& before, Triangle triangle, bool hermitian) {
  Dense<T> result = before;
  for (std::int64_t i = 0; i < result.rows(); ++i)
    for (std::int64_t j = 0; j < result.columns(); ++j) {
      if (triangle == Triangle::lower ? i < j : i > j) continue;
      result(i, j) = want(i, j);
      if constexpr (detail::kIsComplex<T>)
        if (i == j && hermitian) result(i, j) = Wide<T>(want(i, j).real());
    }
  return result.elements();
}

/// A c whose diagonal is real, as a Hermitian one's is.
template <class T>
std::vector<T> with_real_diagonal(std::vector<T> values, std::int64_t n) {
  if constexpr (detail::kIsComplex<T>)
    for (std::int64_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i * n + i)].imag(0);
  return values;
}

CONFORMANCE_TEST(BlasConformanceOfMatrices, syrk) {
  this->covers("blas", "syrk");
  for (const Triangle triangle : {Triangle::lower, Triangle::upper})
    for (const Layout layout : kLayouts)
      for (const int by : {0, 1, 2})
        for (const auto& [n, k] : {std::pair{0, 2}, {1, 1}, {5, 0}, {7, 5}, {31, 20}}) {
          Sample<T> a = this->random({n, k}, layout);
          Sample<T> c = this->random({n, n}, next(layout, by));
          const Dense<T> m(a, n, k);
          const Dense<T> before(c, n, n);
          const Dense<T> want = Dense<T>(2) * (m * m.transposed()) + Dense<T>(0.5) * before;
          value(this->blas().syrk(a.array(), c.array(), {.alpha = 2.0, .beta = 0.5, .triangle = triangle}).get());
          this->expect_close(c.read(), half(want, before, triangle, false), this->roundings(k));
        }
}

CONFORMANCE_TEST(BlasConformanceOfMatrices, herk) {
  this->covers("blas", "herk");
  for (const Triangle triangle : {Triangle::lower, Triangle::upper})
    for (const Layout layout : kLayouts)
      for (const int by : {0, 1, 2})
        for (const auto& [n, k] : {std::pair{0, 2}, {1, 1}, {5, 0}, {7, 5}, {31, 20}}) {
          Sample<T> a = this->random({n, k}, layout);
          Sample<T> c = this->random({n, n}, next(layout, by));
          c.write(with_real_diagonal(c.values(), n));
          const Dense<T> m(a, n, k);
          const Dense<T> before(c, n, n);
          const Dense<T> want = Dense<T>(2) * (m * m.transposed().conjugated_if(true)) + Dense<T>(0.5) * before;
          value(this->blas().herk(a.array(), c.array(), {.alpha = 2.0, .beta = 0.5, .triangle = triangle}).get());
          this->expect_close(c.read(), half(want, before, triangle, true), this->roundings(k));
        }
}

CONFORMANCE_TEST(BlasConformanceOfMatrices, syr2k) {
  this->covers("blas", "syr2k");
  for (const Triangle triangle : {Triangle::lower, Triangle::upper})
    for (const Layout layout : kLayouts)
      for (const int by : {0, 1, 2})
        for (const auto& [n, k] : {std::pair{1, 1}, {5, 0}, {7, 5}, {31, 20}}) {
          Sample<T> a = this->random({n, k}, layout);
          Sample<T> b = this->random({n, k}, next(layout, by / 2));
          Sample<T> c = this->random({n, n}, next(layout, by));
          const Dense<T> m(a, n, k);
          const Dense<T> other(b, n, k);
          const Dense<T> before(c, n, n);
          const Dense<T> want =
              Dense<T>(2) * (m * other.transposed() + other * m.transposed()) + Dense<T>(0.5) * before;
          value(this->blas()
                    .syr2k(a.array(), b.array(), c.array(), {.alpha = 2.0, .beta = 0.5, .triangle = triangle})
                    .get());
          this->expect_close(c.read(), half(want, before, triangle, false), this->roundings(2 * k));
        }
}

CONFORMANCE_TEST(BlasConformanceOfMatrices, her2k) {
  this->covers("blas", "her2k");
  const std::complex<double> alpha(2, detail::kIsComplex<T> ? -0.5 : 0);
  for (const Triangle triangle : {Triangle::lower, Triangle::upper})
    for (const Layout layout : kLayouts)
      for (const int by : {0, 1, 2})
        for (const auto& [n, k] : {std::pair{1, 1}, {5, 0}, {7, 5}, {31, 20}}) {
          Sample<T> a = this->random({n, k}, layout);
          Sample<T> b = this->random({n, k}, next(layout, by / 2));
          Sample<T> c = this->random({n, n}, next(layout, by));
          c.write(with_real_diagonal(c.values(), n));
          const Dense<T> m(a, n, k);
          const Dense<T> other(b, n, k);
          const Dense<T> before(c, n, n);
          const Dense<T> want = Dense<T>(alpha) * (m * other.transposed().conjugated_if(true)) +
                                Dense<T>(std::conj(alpha)) * (other * m.transposed().conjugated_if(true)) +
                                Dense<T>(0.5) * before;
          value(this->blas()
                    .her2k(a.array(), b.array(), c.array(), {.alpha = alpha, .beta = 0.5, .triangle = triangle})
                    .get());
          this->expect_close(c.read(), half(want, before, triangle, true), this->roundings(2 * k));
        }
}

CONFORMANCE_TEST(BlasConformanceOfMatrices, trmm) {
  this->covers("blas", "trmm");
  for (const Side side : {Side::left, Side::right})
    for (const Triangle triangle : {Triangle::lower, Triangle::upper})
      for (const int flags : {0, 1, 2, 3})
        for (const Layout layout : kLayouts)
          for (const Extents& e : {Extents{0, 3, 0}, {1, 1, 1}, {7, 5, 0}, {31, 20, 0}}) {
            SCOPED_TRACE(text(e, layout));
            const bool unit = flags & 1;
            const bool conjugates = flags & 2;
            const std::int64_t n = side == Side::left ? e.rows : e.columns;
            Sample<T> a = this->square(n, layout);
            Sample<T> b = this->random({e.rows, e.columns}, next(layout, 1));
            Sample<T> c = this->poisoned({e.rows, e.columns}, next(layout, flags));
            const Dense<T> whole = Dense<T>(a, n, n).triangular(triangle, unit).conjugated_if(conjugates);
            const Dense<T> other(b, e.rows, e.columns);
            const Dense<T> want = Dense<T>(2) * (side == Side::left ? whole * other : other * whole);
            value(this->blas()
                      .trmm(a.array(), b.array(), c.array(),
                            {.alpha = 2.0,
                             .triangle = triangle,
                             .unit_diagonal = unit,
                             .conjugate = conjugates,
                             .side = side})
                      .get());
            this->expect_close(c.read(), want.elements(), this->roundings(n));
          }
}

CONFORMANCE_TEST(BlasConformanceOfMatrices, trsm) {
  this->covers("blas", "trsm");
  for (const Side side : {Side::left, Side::right})
    for (const Triangle triangle : {Triangle::lower, Triangle::upper})
      for (const int flags : {0, 1, 2, 3})
        for (const Layout layout : kLayouts)
          for (const Extents& e : {Extents{0, 3, 0}, {1, 1, 1}, {7, 5, 0}, {31, 20, 0}}) {
            SCOPED_TRACE(text(e, layout));
            const bool unit = flags & 1;
            const bool conjugates = flags & 2;
            const std::int64_t n = side == Side::left ? e.rows : e.columns;
            Sample<T> a = this->square(n, layout);
            a.write(well_conditioned(a.values(), n));
            Sample<T> b = this->random({e.rows, e.columns}, next(layout, 1));
            Sample<T> x = this->poisoned({e.rows, e.columns}, next(layout, flags));
            value(this->blas()
                      .trsm(a.array(), b.array(), x.array(),
                            {.alpha = 2.0,
                             .triangle = triangle,
                             .unit_diagonal = unit,
                             .conjugate = conjugates,
                             .side = side})
                      .get());
            x.read();
            const Dense<T> whole = Dense<T>(a, n, n).triangular(triangle, unit).conjugated_if(conjugates);
            const Dense<T> solution(x, e.rows, e.columns);
            const Dense<T> back = side == Side::left ? whole * solution : solution * whole;
            this->expect_close(back.rounded(), (Dense<T>(2) * Dense<T>(b, e.rows, e.columns)).elements(),
                               8 + 4 * static_cast<double>(n), 4);
          }
}

CONFORMANCE_TEST(BlasConformanceOfMatrices, geam) {
  this->covers("blas", "geam");
  for (const Extents& e : kExtents)
    for (const Layout layout : kLayouts)
      for (const int which : {0, 1, 2, 3}) {
        SCOPED_TRACE(text(e, layout));
        Sample<T> a = this->random({e.columns, e.rows}, layout);
        Sample<T> b = this->random({e.rows, e.columns}, next(layout, which));
        Sample<T> c = this->poisoned({e.rows, e.columns}, next(layout));
        const bool first = which & 1;
        const bool second = which & 2;
        const Dense<T> want = Dense<T>(2) * Dense<T>(a, e.columns, e.rows).transposed().conjugated_if(first) +
                              Dense<T>(-0.5) * Dense<T>(b, e.rows, e.columns).conjugated_if(second);
        value(this->blas()
                  .geam(a.array().transpose(), b.array(), c.array(),
                        {.alpha = 2.0, .beta = -0.5, .conjugate_a = first, .conjugate_b = second})
                  .get());
        this->expect_close(c.read(), want.elements(), 4);
      }
}

}  // namespace
}  // namespace troupe::conformance
