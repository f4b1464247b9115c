// A NaN is not lost: 0 times a NaN, or times an infinity, is a NaN wherever a factor multiplies. Only the old content
// of an output with a beta of 0 is not read; other suites fill such outputs with NaN.
#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class BlasNan : public Conformance<T> {
 protected:
  Blas blas() const { return this->device().blas(); }
  static T nan() { return poison<T>(); }
  static bool is_nan(T number) {
    const auto wide = widen(number);
    return wide != wide;  // also where one part is
  }
  /// Whole numbers, but for a NaN in the first place.
  Sample<T> spoilt(const Shape& shape, Layout layout = Layout::dense) {
    Sample<T> sample = good(shape, layout);
    std::vector<T> values = sample.values();
    values.front() = nan();
    sample.write(values);
    return sample;
  }
  Sample<T> good(const Shape& shape, Layout layout = Layout::dense) {
    Sample<T> sample = this->random(shape, layout);
    sample.write(std::vector<T>(sample.values().size(), T(2)));
    return sample;
  }
  void expect_nan_first(Sample<T>& sample) {
    this->count_case();
    EXPECT_TRUE(is_nan(sample.read().front()));
  }
  /// The NaN came through to the first element, and nowhere near the last.
  void expect_nan_at_the_beginning(Sample<T>& sample, T last) {
    this->count_case();
    const std::vector<T> values = sample.read();
    EXPECT_TRUE(is_nan(values.front()));
    EXPECT_EQ(values.back(), last);
  }
};

template <class T>
class BlasNanOfProducts : public BlasNan<T> {};
CONFORMANCE_SUITE(BlasNan, FourTypes);
CONFORMANCE_SUITE(BlasNanOfProducts,
                  Types<float, double, std::complex<float>, std::complex<double>, f16, bf16, f8e4m3>);

CONFORMANCE_TEST(BlasNan, scal_by_0_clears_numbers_only) {
  using R = detail::RealType<T>;
  for (const Layout layout : kLayouts)
    for (const std::int64_t count : {3, 100, 3000}) {
      SCOPED_TRACE(std::string(name(layout)) + " " + std::to_string(count));
      std::vector<T> values(static_cast<std::size_t>(count), T(3));
      values[0] = this->nan();
      values[1] = T(std::numeric_limits<R>::infinity());
      Sample<T> x(this->device(), {count}, layout, values);
      value(this->blas().scal(0.0, x.array()).get());
      const std::vector<T> got = x.read();
      EXPECT_TRUE(this->is_nan(got[0]));
      EXPECT_TRUE(this->is_nan(got[1]));
      EXPECT_EQ(got.back(), T(0));
    }
}

CONFORMANCE_TEST(BlasNan, axpy_by_0_keeps_it) {
  Sample<T> x = this->spoilt({40});
  Sample<T> y = this->good({40});
  value(this->blas().axpy(0.0, x.array(), y.array()).get());
  this->expect_nan_at_the_beginning(y, T(2));
}

CONFORMANCE_TEST(BlasNan, an_alpha_of_0_keeps_it_in_ops_on_vectors) {
  constexpr std::int64_t kSize = 5;
  for (const Layout layout : {Layout::dense, Layout::transposed, Layout::sliced}) {
    SCOPED_TRACE(name(layout));
    Sample<T> a = this->spoilt({kSize, kSize}, layout);
    Sample<T> whole = this->good({kSize, kSize}, layout);
    Sample<T> x = this->good({kSize}, layout);
    Sample<T> bad = this->spoilt({kSize}, layout);
    Sample<T> y = this->good({kSize}, layout);
    value(this->blas().gemv(a.array(), x.array(), y.array(), {.alpha = 0.0, .beta = 1.0}).get());
    this->expect_nan_at_the_beginning(y, T(2));
    Sample<T> c = this->good({kSize, kSize}, layout);
    value(this->blas().ger(bad.array(), x.array(), c.array(), {.alpha = 0.0}).get());
    this->expect_nan_at_the_beginning(c, T(2));
    Sample<T> out = this->good({kSize}, layout);
    value(
        this->blas().trmv(whole.array(), bad.array(), out.array(), {.alpha = 0.0, .triangle = Triangle::upper}).get());
    this->expect_nan_first(out);
    value(
        this->blas().trsv(whole.array(), bad.array(), out.array(), {.alpha = 0.0, .triangle = Triangle::upper}).get());
    this->expect_nan_first(out);
  }
}

CONFORMANCE_TEST(BlasNan, an_alpha_of_0_keeps_it_in_ops_on_matrices) {
  constexpr std::int64_t kSize = 5;
  for (const Layout layout : {Layout::dense, Layout::transposed, Layout::sliced}) {
    SCOPED_TRACE(name(layout));
    Sample<T> a = this->spoilt({kSize, kSize}, layout);
    Sample<T> b = this->good({kSize, kSize}, layout);
    Sample<T> c = this->good({kSize, kSize}, layout);
    const auto expect = [&](T last) {
      this->expect_nan_at_the_beginning(c, last);
      c.write(std::vector<T>(static_cast<std::size_t>(kSize * kSize), T(2)));
    };
    value(this->blas().symm(b.array(), a.array(), c.array(), {.alpha = 0.0, .beta = 1.0}).get());
    expect(T(2));
    value(this->blas().syrk(a.array(), c.array(), {.alpha = 0.0, .beta = 1.0}).get());
    expect(T(2));
    value(this->blas().syr2k(a.array(), b.array(), c.array(), {.alpha = 0.0, .beta = 1.0}).get());
    expect(T(2));
    value(this->blas().herk(a.array(), c.array(), {.alpha = 0.0, .beta = 1.0}).get());
    expect(T(2));
    value(this->blas().her2k(a.array(), b.array(), c.array(), {.alpha = 0.0, .beta = 1.0}).get());
    expect(T(2));
    value(this->blas().trmm(b.array(), a.array(), c.array(), {.alpha = 0.0}).get());
    expect(T(0));
    value(this->blas().trsm(b.array(), a.array(), c.array(), {.alpha = 0.0}).get());
    expect(T(0));
    value(this->blas().geam(a.array(), b.array(), c.array(), {.alpha = 0.0, .beta = 1.0}).get());
    expect(T(2));
    value(this->blas().geam(b.array(), a.array(), c.array(), {.alpha = 1.0, .beta = 0.0}).get());
    expect(T(2));
  }
}

CONFORMANCE_TEST(BlasNanOfProducts, an_alpha_of_0_keeps_it_in_every_product) {
  for (const Layout layout : {Layout::dense, Layout::transposed, Layout::sliced})
    for (const double beta : {0.0, 1.0}) {
      SCOPED_TRACE(std::string(name(layout)) + " " + std::to_string(beta));
      const T last = T(static_cast<float>(2 * beta));
      Sample<T> a = this->spoilt({4, 3}, layout);
      Sample<T> b = this->good({3, 6}, layout);
      Sample<T> c = this->good({4, 6}, layout);
      value(this->blas().gemm(a.array(), b.array(), c.array(), {.alpha = 0.0, .beta = beta}).get());
      this->expect_nan_at_the_beginning(c, last);
      Sample<T> left = this->good({4, 3}, layout);
      Sample<T> right = this->spoilt({3, 6}, layout);
      Sample<T> d = this->good({4, 6}, layout);
      value(this->blas().gemm(left.array(), right.array(), d.array(), {.alpha = 0.0, .beta = beta}).get());
      this->expect_nan_at_the_beginning(d, last);
      Sample<T> as = this->spoilt({3, 4, 3});
      Sample<T> bs = this->good({3, 3, 6});
      Sample<T> cs = this->good({3, 4, 6});
      value(this->blas().gemm(as.array(), bs.array(), cs.array(), {.alpha = 0.0, .beta = beta}).get());
      this->expect_nan_at_the_beginning(cs, last);
      Sample<T> e = this->good({4, 6});
      const std::vector<AnyArray> lefts{a.array()};
      const std::vector<AnyArray> rights{b.array()};
      const std::vector<AnyArray> results{e.array()};
      value(this->blas().gemm_group(lefts, rights, results, {.alpha = 0.0, .beta = beta}).get());
      this->expect_nan_at_the_beginning(e, last);
    }
}

}  // namespace
}  // namespace troupe::conformance
