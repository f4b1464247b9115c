// Scans, reductions and counts, for every type and layout, on each backend, against sums that are made one after the
// other: in f64 for floats, in the type itself for integers, which wrap.
#include "troupe/library/primitives/primitives_fixture.test.hpp"

namespace troupe::conformance {
namespace {

constexpr std::array kFunctions{Combine::sum,     Combine::product, Combine::min,    Combine::max,
                                Combine::bit_and, Combine::bit_or,  Combine::bit_xor};

template <class T>
class PrimitivesCombine : public PrimitivesConformance<T> {
 protected:
  static constexpr bool kIsFloat = !std::integral<T>;

  static bool takes(Combine function) {
    if (function >= Combine::bit_and) return std::integral<T>;
    return !std::same_as<T, bool> || function >= Combine::min;
  }
  /// What is put together in: exact for integers.
  using Sum = std::conditional_t<kIsFloat, double, T>;
  static Sum sum_of(T number) {
    if constexpr (detail::kIsSmallFloat<T>)
      return static_cast<float>(number);
    else
      return number;
  }
  static Sum combine(Combine function, Sum a, Sum b) {
    switch (function) {
      case Combine::sum: return primitives::combine<Combine::sum>(a, b);
      case Combine::product: return primitives::combine<Combine::product>(a, b);
      case Combine::min: return primitives::combine<Combine::min>(a, b);
      case Combine::max: return primitives::combine<Combine::max>(a, b);
      default: break;
    }
    if constexpr (std::integral<T>) {
      if (function == Combine::bit_and) return primitives::combine<Combine::bit_and>(a, b);
      if (function == Combine::bit_or) return primitives::combine<Combine::bit_or>(a, b);
      return primitives::combine<Combine::bit_xor>(a, b);
    }
    return a;
  }
  static Sum neutral(Combine function) {
    switch (function) {
      case Combine::product: return primitives::neutral<Combine::product, Sum>();
      case Combine::min: return primitives::neutral<Combine::min, Sum>();
      case Combine::max: return primitives::neutral<Combine::max, Sum>();
      case Combine::bit_and: return primitives::neutral<Combine::bit_and, Sum>();
      default: return Sum{};
    }
  }
  /// Near 1, so that a product neither vanishes nor grows; of other functions anything.
  std::vector<T> terms(Combine function, std::int64_t count) {
    if (function == Combine::min || function == Combine::max) return this->keys(count);
    std::vector<T> terms = this->numbers(count);
    if constexpr (kIsFloat)
      if (function == Combine::product)
        for (T& term : terms) term = T(static_cast<float>(1 + 0.01 * static_cast<double>(sum_of(term))));
    return terms;
  }
  std::vector<Sum> scanned(Combine function, bool exclusive, const std::vector<T>& x, std::size_t begin,
                           std::size_t end) {
    std::vector<Sum> all;
    Sum sum = neutral(function);
    for (std::size_t i = begin; i < end; ++i) {
      if (exclusive) all.push_back(sum);
      sum = combine(function, sum, sum_of(x[i]));
      if (!exclusive) all.push_back(sum);
    }
    return all;
  }
  /// Sums and products of floats nearly, everything else exactly. A sum of n numbers up to 1 is as wrong as its parts,
  /// which are up to n.
  void expect_like(Combine function, const std::vector<T>& got, const std::vector<Sum>& want, std::int64_t length,
                   const std::string& what = "") {
    this->count_case();
    ASSERT_EQ(got.size(), want.size());
    const bool is_near = kIsFloat && (function == Combine::sum || function == Combine::product);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const Sum one = sum_of(got[i]), other = want[i];
      if (is_near) {
        const double size = std::max(1.0, std::fabs(static_cast<double>(other)));
        const double off = 4 * epsilon<T>() * size +
                           4 * epsilon<float>() * static_cast<double>(length) * (std::same_as<T, double> ? 1e-8 : 1.0);
        ASSERT_NEAR(static_cast<double>(one), static_cast<double>(other), off) << what << " element " << i;
      } else if (other != other) {                            // NOLINT(misc-redundant-expression): NaN
        ASSERT_TRUE(one != one) << what << " element " << i;  // NOLINT(misc-redundant-expression)
      } else {
        ASSERT_EQ(one, other) << what << " element " << i;
      }
    }
  }
};
CONFORMANCE_SUITE(PrimitivesCombine, KeyTypes);

std::string text_of(Combine function, const Shape& shape, Layout layout) {
  return std::string(name(function)) + " of " + shape.to_string() + " " + name(layout);
}

CONFORMANCE_TEST(PrimitivesCombine, scan) {
  this->covers("primitives", "scan");
  using Total = typename PrimitivesCombine<T>::Sum;
  for (const Combine function : kFunctions)
    for (const bool exclusive : {false, true})
      for (const Shape& shape : {Shape{3, 300}, Shape{2, 3, 17}, Shape{70'001}, Shape{2, 9'000}, Shape{3, 0}})
        for (const Layout layout : kLayouts) {
          if (!this->takes(function)) continue;
          const bool is_long = this->length_of(shape) > 1'000;
          if (is_long && layout != Layout::dense && layout != Layout::offset) continue;
          const Sample<T> x = this->template sample<T>(shape, layout, this->terms(function, this->elements_in(shape)));
          Sample<T> y = this->poisoned(shape, is_long ? layout : next(layout));
          value(this->primitives().scan(function, x.array(), y.array(), {.exclusive = exclusive}).get());
          std::vector<Total> want;
          const auto length = static_cast<std::size_t>(this->length_of(shape));
          for (std::size_t row = 0; row < static_cast<std::size_t>(this->rows_of(shape)); ++row)
            for (const Total sum : this->scanned(function, exclusive, x.values(), row * length, (row + 1) * length))
              want.push_back(sum);
          this->expect_like(function, y.read(), want, this->length_of(shape), text_of(function, shape, layout));
        }
}

CONFORMANCE_TEST(PrimitivesCombine, scan_to_wide_integers) {
  if constexpr (std::integral<T>) {
    this->covers("primitives", "scan, reduce, to i64 or u64");
    using Out = std::conditional_t<std::unsigned_integral<T> && !std::same_as<T, bool>, std::uint64_t, std::int64_t>;
    const std::int64_t count = 5'000;
    const Sample<T> x = this->vector(this->keys(count));
    Sample<Out> y = this->template room<Out>(count), sum = this->template poisoned_of<Out>({});
    value(this->primitives().scan(Combine::sum, x.array(), y.array()).get());
    value(this->primitives().reduce(Combine::sum, x.array(), sum.array()).get());
    std::vector<Out> want;
    std::uint64_t so_far = 0;
    for (const T number : x.values()) want.push_back(static_cast<Out>(so_far += static_cast<std::uint64_t>(number)));
    this->expect_same(y.read(), want);
    this->expect_same(sum.read(), std::vector<Out>{want.back()});
  } else {
    GTEST_SKIP() << "floats stay what they are";
  }
}

CONFORMANCE_TEST(PrimitivesCombine, reduce) {
  this->covers("primitives", "reduce");
  using Total = typename PrimitivesCombine<T>::Sum;
  for (const Combine function : kFunctions)
    for (const Shape& shape : {Shape{3, 300}, Shape{2, 3, 17}, Shape{70'001}, Shape{500, 5}, Shape{3, 0}})
      for (const Layout layout : {Layout::dense, Layout::transposed, Layout::sliced, Layout::reversed}) {
        if (!this->takes(function)) continue;
        const Sample<T> x = this->template sample<T>(shape, layout, this->terms(function, this->elements_in(shape)));
        Sample<T> y = this->poisoned(this->without_last(shape), next(layout));
        value(this->primitives().reduce(function, x.array(), y.array()).get());
        std::vector<Total> want;
        const auto length = static_cast<std::size_t>(this->length_of(shape));
        for (std::size_t row = 0; row < static_cast<std::size_t>(this->rows_of(shape)); ++row) {
          Total sum = this->neutral(function);
          for (std::size_t i = 0; i < length; ++i)
            sum = this->combine(function, sum, this->sum_of(x.values()[row * length + i]));
          want.push_back(sum);
        }
        this->expect_like(function, y.read(), want, this->length_of(shape), text_of(function, shape, layout));
      }
}

CONFORMANCE_TEST(PrimitivesCombine, argmax_and_argmin) {
  this->covers("primitives", "argmax, argmin");
  for (const Shape& shape : {Shape{5, 300}, Shape{2, 3, 17}, Shape{70'001}, Shape{4, 1}})
    for (const Layout layout : {Layout::dense, Layout::transposed, Layout::reversed})
      for (const bool is_special : {false, true}) {
        const std::int64_t count = this->elements_in(shape);
        const Sample<T> x =
            this->template sample<T>(shape, layout, is_special ? this->keys(count) : this->numbers(count));
        const Shape out = this->without_last(shape);
        Sample<std::int64_t> greatest = this->template poisoned_of<std::int64_t>(out, layout);
        Sample<std::int32_t> least = this->template poisoned_of<std::int32_t>(out);
        value(this->primitives().argmax(x.array(), greatest.array()).get());
        value(this->primitives().argmin(x.array(), least.array()).get());
        std::vector<std::int64_t> want_greatest;
        std::vector<std::int32_t> want_least;
        const auto length = static_cast<std::size_t>(this->length_of(shape));
        for (std::size_t row = 0; row < static_cast<std::size_t>(this->rows_of(shape)); ++row) {
          std::size_t most = 0, less = 0;
          const auto at = [&](std::size_t i) { return this->sum_of(x.values()[row * length + i]); };
          for (std::size_t i = 1; i < length; ++i) {
            const bool is_nan = at(i) != at(i);                                  // NOLINT(misc-redundant-expression)
            if (at(most) == at(most) && (at(i) > at(most) || is_nan)) most = i;  // NOLINT(misc-redundant-expression)
            if (at(less) == at(less) && (at(i) < at(less) || is_nan)) less = i;  // NOLINT(misc-redundant-expression)
          }
          want_greatest.push_back(static_cast<std::int64_t>(most));
          want_least.push_back(static_cast<std::int32_t>(less));
        }
        this->expect_same(greatest.read(), want_greatest, shape.to_string());
        this->expect_same(least.read(), want_least, shape.to_string());
      }
}

CONFORMANCE_TEST(PrimitivesCombine, segments) {
  this->covers("primitives", "segmented_reduce, segmented_scan");
  using Total = typename PrimitivesCombine<T>::Sum;
  const std::vector<std::int32_t> offsets{0, 0, 1, 1, 40, 40, 41, 700, 703, 9'000, 9'000};
  const std::int64_t count = offsets.back();
  for (const Combine function : kFunctions)
    for (const bool exclusive : {false, true})
      for (const Layout layout : {Layout::dense, Layout::sliced, Layout::reversed}) {
        if (!this->takes(function)) continue;
        const Sample<std::int32_t> segments = this->template vector<std::int32_t>(offsets, layout);
        const Sample<T> x = this->vector(this->terms(function, count), layout);
        Sample<T> y = this->room(count, next(layout));
        Sample<T> all = this->room(static_cast<std::int64_t>(offsets.size()) - 1, layout);
        value(this->primitives().segmented_scan(function, segments.array(), x.array(), y.array(), exclusive).get());
        value(this->primitives().segmented_reduce(function, segments.array(), x.array(), all.array()).get());
        std::vector<Total> want, sums;
        for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
          const auto begin = static_cast<std::size_t>(offsets[s]), end = static_cast<std::size_t>(offsets[s + 1]);
          for (const Total sum : this->scanned(function, exclusive, x.values(), begin, end)) want.push_back(sum);
          const std::vector<Total> whole = this->scanned(function, false, x.values(), begin, end);
          sums.push_back(whole.empty() ? this->neutral(function) : whole.back());
        }
        this->expect_like(function, y.read(), want, count, std::string(name(function)) + " scan");
        this->expect_like(function, all.read(), sums, count, std::string(name(function)) + " reduce");
      }
}

CONFORMANCE_TEST(PrimitivesCombine, histogram) {
  this->covers("primitives", "histogram");
  for (const std::int64_t bins : {1, 7, 256, 100'000})
    for (const Shape& shape : {Shape{31, 170}, Shape{5}, Shape{}, Shape{0, 3}})
      for (const Layout layout : {Layout::dense, Layout::transposed, Layout::sliced}) {
        const Sample<T> x = this->sample_of_keys(shape, layout);
        Sample<std::int64_t> counts = this->template room<std::int64_t>(bins, layout);
        value(this->primitives().histogram(x.array(), -1.5, 8, counts.array()).get());
        std::vector<std::int64_t> want(static_cast<std::size_t>(bins));
        for (const T number : x.values()) {
          const std::int64_t bin = primitives::bin_of(static_cast<double>(this->sum_of(number)), -1.5, 8, bins);
          if (bin >= 0) ++want[static_cast<std::size_t>(bin)];
        }
        this->expect_same(counts.read(), want, std::to_string(bins) + " bins");
      }
}

CONFORMANCE_TEST(PrimitivesCombine, histogram_by_bounds) {
  this->covers("primitives", "histogram, by bounds");
  const std::vector<float> numbers{-1, -0.5, 0, 0, 0.25, 1, 3, 7};
  std::vector<T> bounds;
  for (const float number : numbers)
    if (!std::unsigned_integral<T> || number >= 0) bounds.push_back(static_cast<T>(number));
  for (const Layout layout : {Layout::dense, Layout::transposed, Layout::sliced}) {
    const Sample<T> x = this->sample_of_keys({31, 170}, layout);
    const Sample<T> edges = this->vector(bounds, layout);
    Sample<std::int32_t> counts = this->template room<std::int32_t>(static_cast<std::int64_t>(bounds.size()) - 1);
    value(this->primitives().histogram(x.array(), edges.array(), counts.array()).get());
    std::vector<std::int32_t> want(bounds.size() - 1);
    for (const T number : x.values()) {
      const auto at = this->sum_of(number);
      for (std::size_t bin = 0; bin < want.size(); ++bin) {
        const auto low = this->sum_of(bounds[bin]), high = this->sum_of(bounds[bin + 1]);
        const bool is_last = bin + 1 == want.size();
        // Of bins without width, the number is in the one that has some, or in the last of all.
        if (at >= low && (at < high || (is_last && at == high))) ++want[bin];
      }
    }
    this->expect_same(counts.read(), want);
  }
}

}  // namespace
}  // namespace troupe::conformance
