// Sorts, searches and the greatest ones, for every type and layout, on each backend, against a stable sort by rank.
#include "troupe/library/primitives/primitives_fixture.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class PrimitivesOrder : public PrimitivesConformance<T> {};
CONFORMANCE_SUITE(PrimitivesOrder, KeyTypes);

CONFORMANCE_TEST(PrimitivesOrder, sort) {
  this->covers("primitives", "sort");
  for (const SortOrder order : kOrders)
    for (const Shape& shape : this->shapes())
      for (const Layout layout : kLayouts) {
        const Sample<T> keys = this->sample_of_keys(shape, layout);
        Sample<T> sorted = this->poisoned(shape, next(layout));
        value(this->primitives().sort(keys.array(), sorted.array(), {.order = order}).get());
        this->expect_same(sorted.read(),
                          this->picked(keys.values(), this->order_of_rows(keys.values(), shape, order), shape),
                          shape.to_string() + " " + name(layout));
      }
}

CONFORMANCE_TEST(PrimitivesOrder, sort_of_long_rows) {
  this->covers("primitives", "sort, long rows");
  for (const SortOrder order : kOrders)
    for (const Shape& shape : {Shape{100'003}, Shape{3, 20'011}}) {
      Sample<T> keys = this->sample_of_keys(shape);
      const std::vector<T> want = this->picked(keys.values(), this->order_of_rows(keys.values(), shape, order), shape);
      value(this->primitives().sort(keys.array(), keys.array(), {.order = order}).get());  // in place
      this->expect_same(keys.read(), want, shape.to_string());
    }
}

CONFORMANCE_TEST(PrimitivesOrder, sort_along_the_first_axis) {
  this->covers("primitives", "sort, another axis");
  const Shape shape{70, 9};
  const Sample<T> keys = this->sample_of_keys(shape);
  Sample<T> sorted = this->poisoned(shape);
  value(this->primitives().sort(keys.array(), sorted.array(), {.axis = 0}).get());
  const std::vector<T> got = sorted.read();
  for (std::size_t column = 0; column < 9; ++column) {
    std::vector<T> of, theirs;
    for (std::size_t i = 0; i < 70; ++i) {
      of.push_back(keys.values()[i * 9 + column]);
      theirs.push_back(got[i * 9 + column]);
    }
    const Shape line{70};
    this->expect_same(theirs, this->picked(of, this->order_of_rows(of, line, SortOrder::ascending), line));
  }
}

CONFORMANCE_TEST(PrimitivesOrder, sort_with_values) {
  this->covers("primitives", "sort, with values");
  for (const SortOrder order : kOrders)
    for (const Shape& shape : {Shape{4, 300}, Shape{20'011}}) {
      const Sample<T> keys = this->sample_of_keys(shape);
      const std::vector<std::int64_t> places = this->order_of_rows(keys.values(), shape, order);
      const auto move_values = [&]<class U>(std::type_identity<U>) {
        const Sample<U> values = this->template random_of<U>(shape);
        Sample<T> sorted = this->poisoned(shape, Layout::padded);
        Sample<U> moved = this->template poisoned_of<U>(shape);
        value(this->primitives()
                  .sort(keys.array(), values.array(), sorted.array(), moved.array(), {.order = order})
                  .get());
        this->expect_same(sorted.read(), this->picked(keys.values(), places, shape));
        this->expect_same(moved.read(), this->picked(values.values(), places, shape));
      };
      move_values(std::type_identity<std::uint8_t>{});
      move_values(std::type_identity<f16>{});
      move_values(std::type_identity<float>{});
      move_values(std::type_identity<std::int64_t>{});
      move_values(std::type_identity<std::complex<double>>{});
    }
}

CONFORMANCE_TEST(PrimitivesOrder, argsort) {
  this->covers("primitives", "argsort");
  for (const SortOrder order : kOrders)
    for (const Shape& shape : this->shapes())
      for (const Layout layout : {Layout::dense, Layout::transposed, Layout::reversed}) {
        const Sample<T> keys = this->sample_of_keys(shape, layout);
        const std::vector<std::int64_t> want = this->order_of_rows(keys.values(), shape, order);
        Sample<std::int64_t> wide = this->template poisoned_of<std::int64_t>(shape, next(layout));
        value(this->primitives().argsort(keys.array(), wide.array(), {.order = order}).get());
        this->expect_same(wide.read(), want);
        Sample<std::int32_t> narrow = this->template poisoned_of<std::int32_t>(shape);
        value(this->primitives().argsort(keys.array(), narrow.array(), {.order = order}).get());
        this->expect_same(narrow.read(), std::vector<std::int32_t>(want.begin(), want.end()));
      }
}

CONFORMANCE_TEST(PrimitivesOrder, argsort_of_long_rows) {
  this->covers("primitives", "argsort, long rows");
  for (const SortOrder order : kOrders)
    for (const Shape& shape : {Shape{20'011}, Shape{2, 9'000}}) {
      const Sample<T> keys = this->sample_of_keys(shape);
      const std::vector<std::int64_t> want = this->order_of_rows(keys.values(), shape, order);
      Sample<std::int64_t> wide = this->template poisoned_of<std::int64_t>(shape);
      value(this->primitives().argsort(keys.array(), wide.array(), {.order = order}).get());
      this->expect_same(wide.read(), want);
      Sample<std::int32_t> narrow = this->template poisoned_of<std::int32_t>(shape);
      value(this->primitives().argsort(keys.array(), narrow.array(), {.order = order}).get());
      this->expect_same(narrow.read(), std::vector<std::int32_t>(want.begin(), want.end()));
    }
}

CONFORMANCE_TEST(PrimitivesOrder, top_k) {
  this->covers("primitives", "top_k");
  for (const bool greatest : {true, false})
    for (const Shape& shape : {Shape{5, 300}, Shape{33}, Shape{2, 5'000}, Shape{70'000}, Shape{4, 1}, Shape{3, 0}})
      for (const std::int64_t k : {0, 1, 7, 64, 299, 1'024, 1'500, 4'000}) {
        const std::int64_t length = this->length_of(shape);
        if (k > length) continue;
        const Sample<T> keys = this->sample_of_keys(shape, k == 7 ? Layout::sliced : Layout::dense);
        Shape best_shape = shape;
        best_shape[shape.rank() - 1] = k;
        Sample<T> best = this->poisoned(best_shape, Layout::padded);
        Sample<std::int64_t> indices = this->template poisoned_of<std::int64_t>(best_shape);
        value(this->primitives().top_k(keys.array(), best.array(), indices.array(), {.greatest = greatest}).get());
        const std::vector<std::int64_t> order =
            this->order_of_rows(keys.values(), shape, greatest ? SortOrder::descending : SortOrder::ascending);
        std::vector<std::int64_t> want;
        std::vector<T> want_keys;
        for (std::int64_t row = 0; row < this->rows_of(shape); ++row)
          for (std::int64_t i = 0; i < k; ++i) {
            want.push_back(order[static_cast<std::size_t>(row * length + i)]);
            want_keys.push_back(keys.values()[static_cast<std::size_t>(row * length + want.back())]);
          }
        this->expect_same(indices.read(), want, shape.to_string() + " " + std::to_string(k));
        this->expect_same(best.read(), want_keys);
      }
}

CONFORMANCE_TEST(PrimitivesOrder, bounds) {
  this->covers("primitives", "lower_bound, upper_bound");
  for (const std::int64_t count : {0, 1, 1'000}) {
    std::vector<T> of = this->keys(count);
    const Shape line{count};
    of = this->picked(of, this->order_of_rows(of, line, SortOrder::ascending), line);
    const Sample<T> sorted = this->vector(of, Layout::sliced);
    const Sample<T> keys = this->sample_of_keys({7, 30}, Layout::transposed);
    Sample<std::int64_t> lower = this->template poisoned_of<std::int64_t>({7, 30}, Layout::padded);
    Sample<std::int32_t> upper = this->template poisoned_of<std::int32_t>({7, 30});
    value(this->primitives().lower_bound(sorted.array(), keys.array(), lower.array()).get());
    value(this->primitives().upper_bound(sorted.array(), keys.array(), upper.array()).get());
    std::vector<std::int64_t> want_lower;
    std::vector<std::int32_t> want_upper;
    for (const T key : keys.values()) {
      const auto rank = primitives::rank_of(key);
      want_lower.push_back(std::ranges::count_if(of, [&](T other) { return primitives::rank_of(other) < rank; }));
      want_upper.push_back(static_cast<std::int32_t>(
          std::ranges::count_if(of, [&](T other) { return primitives::rank_of(other) <= rank; })));
    }
    this->expect_same(lower.read(), want_lower);
    this->expect_same(upper.read(), want_upper);
  }
}

CONFORMANCE_TEST(PrimitivesOrder, segmented_sort) {
  this->covers("primitives", "segmented_sort");
  const std::vector<std::int64_t> offsets{0, 0, 1, 1, 40, 40, 41, 700, 703, 9'000, 9'000};
  for (const SortOrder order : kOrders)
    for (const Layout layout : {Layout::dense, Layout::sliced}) {
      const Sample<std::int64_t> segments = this->template vector<std::int64_t>(offsets, layout);
      const Sample<T> keys = this->sample_of_keys({9'000}, layout);
      const Sample<float> values = this->template random_of<float>({9'000}, next(layout));
      Sample<T> alone = this->room(9'000), sorted = this->room(9'000, layout);
      Sample<float> moved = this->template room<float>(9'000);
      value(this->primitives().segmented_sort(segments.array(), keys.array(), alone.array(), order).get());
      value(this->primitives()
                .segmented_sort(segments.array(), keys.array(), values.array(), sorted.array(), moved.array(), order)
                .get());
      std::vector<T> want(9'000);
      std::vector<float> want_moved(9'000);
      for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        const auto begin = static_cast<std::size_t>(offsets[s]), end = static_cast<std::size_t>(offsets[s + 1]);
        const std::vector<std::int64_t> places = this->order_of(keys.values(), begin, end, order);
        for (std::size_t i = 0; i < places.size(); ++i) {
          want[begin + i] = keys.values()[begin + static_cast<std::size_t>(places[i])];
          want_moved[begin + i] = values.values()[begin + static_cast<std::size_t>(places[i])];
        }
      }
      this->expect_same(alone.read(), want);
      this->expect_same(sorted.read(), want);
      this->expect_same(moved.read(), want_moved);
    }
}

}  // namespace
}  // namespace troupe::conformance
