// Every transform, type and layout, on each backend, against the sums that define it, in higher precision; by their
// error as a whole, as errors of transforms are told.
#include <numbers>

#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {
namespace {

/// f32 for c64.
template <class T>
using Real = typename T::value_type;

template <class T>
class FftConformance : public Conformance<T> {
 protected:
  using W = Wide<T>;
  using Part = typename W::value_type;

  /// The transform of a row-major array along one axis, by its definition, without a factor.
  static std::vector<W> sums(const std::vector<W>& x, const Shape& shape, int axis, bool is_inverse) {
    std::int64_t inner = 1, outer = 1;
    const std::int64_t n = shape[axis];
    for (int i = 0; i < shape.rank(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
    std::vector<W> roots;
    for (std::int64_t k = 0; k < n; ++k) {
      const Part angle = (is_inverse ? 2 : -2) * std::numbers::pi_v<Part> * static_cast<Part>(k) / static_cast<Part>(n);
      roots.emplace_back(std::cos(angle), std::sin(angle));
    }
    std::vector<W> y(x.size());
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < inner; ++i)
        for (std::int64_t k = 0; k < n; ++k) {
          W sum = 0;
          for (std::int64_t j = 0; j < n; ++j)
            sum += x[static_cast<std::size_t>((o * n + j) * inner + i)] * roots[static_cast<std::size_t>(j * k % n)];
          y[static_cast<std::size_t>((o * n + k) * inner + i)] = sum;
        }
    return y;
  }
  static std::vector<W> transform(std::vector<W> x, const Shape& shape, const std::vector<int>& axes, bool is_inverse,
                                  FftNorm norm = FftNorm::backward) {
    Part count = 1;
    for (const int axis : axes) {
      const int from_start = axis < 0 ? axis + shape.rank() : axis;
      x = sums(x, shape, from_start, is_inverse);
      count *= static_cast<Part>(shape[from_start]);
    }
    if (norm == FftNorm::ortho)
      for (W& number : x) number /= std::sqrt(count);
    else if ((norm == FftNorm::backward) == is_inverse)
      for (W& number : x) number /= count;
    return x;
  }
  /// The first half along the last axis.
  static std::vector<W> half(const std::vector<W>& whole, std::int64_t n) {
    std::vector<W> kept;
    for (std::size_t i = 0; i < whole.size(); ++i)
      if (static_cast<std::int64_t>(i) % n <= n / 2) kept.push_back(whole[i]);
    return kept;
  }

  /// The error as a whole is a few roundings, and more for more steps.
  template <class U>
  void expect_near(const std::vector<U>& got, const std::vector<Wide<U>>& want, std::string_view what,
                   const Shape& shape) {
    this->count_case();
    ASSERT_EQ(got.size(), want.size());
    double off = 0, all = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      off += static_cast<double>(std::norm(widen(got[i]) - want[i]));
      all += static_cast<double>(std::norm(want[i]));
    }
    const double steps = 2 + std::log2(1 + static_cast<double>(got.size()));
    EXPECT_LE(std::sqrt(off), epsilon<T>() * steps * std::sqrt(all)) << what << " of " << shape.to_string();
  }

  Fft fft() const { return this->device().fft(); }
};
CONFORMANCE_SUITE(FftConformance, Types<std::complex<float>, std::complex<double>>);

/// Every length up to some, and such as have all kinds of factors.
std::vector<std::int64_t> lengths() {
  std::vector<std::int64_t> all;
  for (std::int64_t n = 1; n <= (kSanitized ? 40 : 200); ++n) all.push_back(n);
  for (const std::int64_t n : {210, 243, 256, 289, 343, 360, 509, 512, 625, 1009, 1024}) all.push_back(n);
  return all;
}

CONFORMANCE_TEST(FftConformance, forward) {
  this->covers("fft", "forward");
  for (const std::int64_t n : lengths()) {
    const Shape shape{3, n};
    const Sample<T> x = this->random(shape);
    Sample<T> y = this->poisoned(shape);
    value(this->fft().forward(x.array(), y.array()).get());
    this->expect_near(y.read(), this->transform(widened(x.values()), shape, std::vector{1}, false), "forward", shape);
  }
}

CONFORMANCE_TEST(FftConformance, inverse) {
  this->covers("fft", "inverse");
  for (const std::int64_t n : lengths()) {
    const Shape shape{2, n};
    const Sample<T> x = this->random(shape);
    Sample<T> y = this->poisoned(shape);
    value(this->fft().inverse(x.array(), y.array()).get());
    this->expect_near(y.read(), this->transform(widened(x.values()), shape, std::vector{1}, true), "inverse", shape);
  }
}

CONFORMANCE_TEST(FftConformance, forward_of_real) {
  this->covers("fft", "forward");
  for (const std::int64_t n : lengths())
    for (const Layout layout :
         n < 20 || n == 128 ? std::vector(kLayouts.begin(), kLayouts.end()) : std::vector{Layout::dense}) {
      const Shape shape{5, n};
      const Sample<Real<T>> x = this->template random_of<Real<T>>(shape, layout);
      Sample<T> y = this->poisoned({5, n / 2 + 1}, next(layout, layout == Layout::dense ? 0 : 1));
      value(this->fft().forward(x.array(), y.array()).get());
      const std::vector<Wide<Real<T>>> wide = widened(x.values());
      const std::vector<Wide<T>> whole(wide.begin(), wide.end());
      this->expect_near(y.read(), this->half(this->transform(whole, shape, std::vector{1}, false), n),
                        "forward of real", shape);
    }
}

CONFORMANCE_TEST(FftConformance, inverse_to_real) {
  this->covers("fft", "inverse");
  for (const std::int64_t n : lengths())
    for (const Layout layout :
         n < 20 || n == 128 ? std::vector(kLayouts.begin(), kLayouts.end()) : std::vector{Layout::dense}) {
      const Shape shape{5, n};
      const Sample<Real<T>> numbers = this->template random_of<Real<T>>(shape);
      const std::vector<Wide<Real<T>>> wide = widened(numbers.values());
      const std::vector<Wide<T>> whole(wide.begin(), wide.end());
      std::vector<T> spectrum;
      for (const Wide<T>& number : this->half(this->transform(whole, shape, std::vector{1}, false), n))
        spectrum.emplace_back(static_cast<Real<T>>(number.real()), static_cast<Real<T>>(number.imag()));
      const Sample<T> x(this->device(), {5, n / 2 + 1}, layout, spectrum);
      Sample<Real<T>> y = this->template poisoned_of<Real<T>>(shape, next(layout, layout == Layout::dense ? 0 : 2));
      value(this->fft().inverse(x.array(), y.array()).get());
      this->expect_near(y.read(), wide, "inverse to real", shape);
      EXPECT_TRUE(x.values() == Sample<T>(x).read()) << "an input is never written";
    }
}

CONFORMANCE_TEST(FftConformance, every_layout_axis_and_norm) {
  this->covers("fft", "forward");
  for (const Shape& shape : {Shape{7}, Shape{6, 5}, Shape{4, 3, 70}, Shape{66, 2, 9}, Shape{2, 1, 3, 8}})
    for (const Layout layout : kLayouts)
      for (int axis = -1; axis < shape.rank() - 1; ++axis)
        for (const FftNorm norm : {FftNorm::backward, FftNorm::ortho, FftNorm::forward}) {
          const Sample<T> x = this->random(shape, layout);
          Sample<T> y = this->poisoned(shape, next(layout));
          value(this->fft().forward(x.array(), y.array(), {.axes = axis, .norm = norm}).get());
          this->expect_near(y.read(), this->transform(widened(x.values()), shape, std::vector{axis}, false, norm),
                            name(layout), shape);
          Sample<T> back = x;  // in place
          value(this->fft().inverse(back.array(), back.array(), {.axes = axis, .norm = norm}).get());
          this->expect_near(back.read(), this->transform(widened(x.values()), shape, std::vector{axis}, true, norm),
                            "in place", shape);
        }
}

CONFORMANCE_TEST(FftConformance, several_axes) {
  this->covers("fft", "inverse");
  const std::vector<std::pair<Shape, std::vector<int>>> cases{
      {{6, 5}, {0, 1}}, {{6, 5}, {-1, 0}}, {{4, 5, 6}, {0, 1, 2}}, {{3, 4, 5, 6}, {3, 1}}, {{2, 8, 3, 4}, {1, -1, 0}}};
  for (const auto& [shape, axes] : cases)
    for (const Layout layout : kLayouts) {
      const Sample<T> x = this->random(shape, layout);
      Sample<T> y = this->poisoned(shape, next(layout, 2));
      value(this->fft().forward(x.array(), y.array(), {.axes = axes}).get());
      this->expect_near(y.read(), this->transform(widened(x.values()), shape, axes, false), "several axes", shape);
      value(this->fft().inverse(y.array(), y.array(), {.axes = axes}).get());
      this->expect_near(y.read(), widened(x.values()), "and back", shape);
    }
}

CONFORMANCE_TEST(FftConformance, several_axes_of_real) {
  this->covers("fft", "inverse");
  for (const Shape& shape : {Shape{6, 5}, Shape{4, 8}, Shape{3, 4, 10}, Shape{5, 2, 7}})
    for (const Layout layout : kLayouts) {
      std::vector<int> axes;
      for (int i = 0; i < shape.rank(); ++i) axes.push_back(i);
      const std::int64_t n = shape[shape.rank() - 1];
      Shape halved = shape;
      halved[shape.rank() - 1] = n / 2 + 1;
      const Sample<Real<T>> x = this->template random_of<Real<T>>(shape, layout);
      Sample<T> y = this->poisoned(halved, next(layout, 3));
      value(this->fft().forward(x.array(), y.array(), {.axes = axes}).get());
      const std::vector<Wide<Real<T>>> wide = widened(x.values());
      const std::vector<Wide<T>> whole(wide.begin(), wide.end());
      this->expect_near(y.read(), this->half(this->transform(whole, shape, axes, false), n), "real", shape);
      Sample<Real<T>> back = this->template poisoned_of<Real<T>>(shape, next(layout));
      value(this->fft().inverse(y.array(), back.array(), {.axes = axes}).get());
      this->expect_near(back.read(), wide, "and back", shape);
    }
}

CONFORMANCE_TEST(FftConformance, long_lines_come_back) {
  this->covers("fft", "forward");
  for (const std::int64_t n : {kSanitized ? 4099 : 65'536, kSanitized ? 33'000 : 70'001, 40'320}) {
    const Sample<T> x = this->random({n});
    Sample<T> y = this->poisoned({n});
    value(this->fft().forward(x.array(), y.array()).get());
    const std::vector<T> spectrum = y.read();
    const std::vector<Wide<T>> wide = widened(x.values());
    for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 3, n - 1}) {  // some of it by its definition
      Wide<T> want = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        using P = typename Wide<T>::value_type;
        const P angle = -2 * std::numbers::pi_v<P> * static_cast<P>(j * k % n) / static_cast<P>(n);
        want += wide[static_cast<std::size_t>(j)] * Wide<T>(std::cos(angle), std::sin(angle));
      }
      EXPECT_LE(static_cast<double>(std::abs(widen(spectrum[static_cast<std::size_t>(k)]) - want)),
                20 * epsilon<T>() * std::sqrt(static_cast<double>(n)))
          << k << " of " << n;
    }
    value(this->fft().inverse(y.array(), y.array()).get());
    this->expect_near(y.read(), wide, "there and back", {n});
  }
}

CONFORMANCE_TEST(FftConformance, nothing_and_one_number) {
  this->covers("fft", "inverse");
  for (const Shape& shape : {Shape{0}, Shape{3, 0}, Shape{0, 4}, Shape{1}, Shape{2, 1, 1}}) {
    const Sample<T> x = this->random(shape);
    Sample<T> y = this->poisoned(shape);
    value(this->fft().forward(x.array(), y.array()).get());
    this->expect_near(y.read(), widened(x.values()), "forward", shape);
    value(this->fft().inverse(x.array(), y.array()).get());
    this->expect_near(y.read(), widened(x.values()), "inverse", shape);
  }
}

template <class T>
class FftF16Conformance : public Conformance<T> {
 public:
  void run_on(const Place& place) noexcept {
    is_host_ = std::string_view(place.backend) == "host";
    Conformance<T>::run_on(place);
  }

 protected:
  using C = std::complex<double>;

  /// The transform of each line of n, by its definition.
  static std::vector<C> sums(const std::vector<C>& x, std::size_t n, bool is_inverse) {
    std::vector<C> y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < n; ++j)
        y[i] += x[i / n * n + j] * std::polar(1.0, (is_inverse ? 2 : -2) * std::numbers::pi *
                                                       static_cast<double>(i % n * j % n) / static_cast<double>(n));
    return y;
  }
  static std::vector<C> numbers_of(const std::vector<f16>& pairs) {
    std::vector<C> all;
    for (std::size_t i = 0; i < pairs.size(); i += 2)
      all.emplace_back(static_cast<double>(pairs[i]), static_cast<double>(pairs[i + 1]));
    return all;
  }
  /// By the error as a whole.
  void expect_near(const std::vector<C>& got, const std::vector<C>& want) {
    this->count_case();
    ASSERT_EQ(got.size(), want.size());
    double off = 0, all = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      off += std::norm(got[i] - want[i]);
      all += std::norm(want[i]);
    }
    const double steps = 2 + std::log2(1 + static_cast<double>(got.size()));
    EXPECT_LE(std::sqrt(off), 0x1p-11 * steps * std::sqrt(all));
  }
  bool is_host_ = false;
};
CONFORMANCE_SUITE(FftF16Conformance, Types<f16>);

CONFORMANCE_TEST(FftF16Conformance, forward) {
  if (this->is_host_) {
    const Sample<T> x = this->random(Shape{4, 2});
    Sample<T> y = this->poisoned(Shape{4, 2});
    EXPECT_EQ(this->device().fft().forward(x.array(), y.array()).get().error().kind(), ErrorKind::unsupported);
    return;
  }
  this->covers("fft", "forward");
  for (const std::int64_t n : {1, 2, 8, 64, 256})
    for (const Layout layout : kLayouts) {
      const Sample<T> x = this->random(Shape{3, n, 2}, layout);
      Sample<T> y = this->poisoned(Shape{3, n, 2}, layout);
      value(this->device().fft().forward(x.array(), y.array()).get());
      const auto size = static_cast<std::size_t>(n);
      this->expect_near(this->numbers_of(y.read()), this->sums(this->numbers_of(x.values()), size, false));
    }
}

CONFORMANCE_TEST(FftF16Conformance, inverse) {
  if (this->is_host_) GTEST_SKIP() << "f16 is for GPUs";
  this->covers("fft", "inverse");
  for (const std::int64_t n : {2, 16, 128}) {
    const Sample<T> x = this->random(Shape{2, n});
    Sample<T> half = this->poisoned(Shape{2, n / 2 + 1, 2});
    Sample<T> back = this->poisoned(Shape{2, n});
    value(this->device().fft().forward(x.array(), half.array(), {.norm = FftNorm::ortho}).get());
    value(this->device().fft().inverse(half.array(), back.array(), {.axes = 1, .norm = FftNorm::ortho}).get());
    std::vector<std::complex<double>> got, want;
    for (const f16 number : back.read()) got.emplace_back(static_cast<double>(number));
    for (const f16 number : x.values()) want.emplace_back(static_cast<double>(number));
    this->expect_near(got, want);
  }
}

}  // namespace
}  // namespace troupe::conformance
