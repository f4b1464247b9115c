// Selections, sets, and moving by indices, for every type and layout, on each backend.
#include "troupe/library/primitives/primitives_fixture.test.hpp"

namespace troupe::conformance {
namespace {

constexpr std::int64_t kLengths[] = {0, 1, 33, 300, 20'011};

template <class T>
class PrimitivesSelect : public PrimitivesConformance<T> {
 protected:
  Sample<bool> flags(std::int64_t count, Layout layout, unsigned of) {
    std::vector<bool> set(static_cast<std::size_t>(count));
    for (auto&& flag : set) flag = this->random_numbers()() % 8 < of;
    return this->template vector<bool>(std::move(set), layout);
  }
  /// The first of `all` are those; what is behind them is poison still.
  template <class U>
  void expect_begins(std::vector<U> got, const std::vector<U>& want, std::int64_t count, const std::string& what = "") {
    ASSERT_EQ(count, static_cast<std::int64_t>(want.size())) << what;
    const std::vector<U> rest(got.begin() + static_cast<std::ptrdiff_t>(want.size()), got.end());
    got.resize(want.size());
    this->expect_same(got, want, what);
    this->expect_same(rest, std::vector<U>(rest.size(), poison<U>()), what + ", behind the last");
  }
};
using AllTypes = Types<float, f16, bf16, double, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                       std::uint32_t, std::int64_t, std::uint64_t, bool, std::complex<float>, std::complex<double>>;
CONFORMANCE_SUITE(PrimitivesSelect, AllTypes);

CONFORMANCE_TEST(PrimitivesSelect, select_and_partition) {
  this->covers("primitives", "select, partition");
  for (const std::int64_t length : kLengths)
    for (const unsigned of : {0U, 3U, 8U})
      for (const Layout layout : {Layout::dense, Layout::offset, Layout::sliced, Layout::reversed}) {
        const Sample<T> x = this->vector(this->numbers(length), layout);
        const Sample<bool> flags = this->flags(length, next(layout), of);
        std::vector<T> chosen, all;
        for (std::size_t i = 0; i < x.values().size(); ++i)
          if (flags.values()[i]) chosen.push_back(x.values()[i]);
        all = chosen;
        for (std::size_t i = 0; i < x.values().size(); ++i)
          if (!flags.values()[i]) all.push_back(x.values()[i]);
        Sample<T> y = this->room(length, next(layout, 2)), both = this->room(length, layout);
        const std::int64_t count = value(this->primitives().select(x.array(), flags.array(), y.array()).get());
        this->expect_begins(y.read(), chosen, count, std::to_string(length));
        Sample<std::int64_t> of_both = this->template room<std::int64_t>(1);
        value(this->primitives().partition(x.array(), flags.array(), both.array(), of_both.array()).get());
        this->expect_same(both.read(), all, std::to_string(length));
        this->expect_same(of_both.read(), std::vector<std::int64_t>{count});
      }
}

template <class T>
class PrimitivesPositions : public PrimitivesSelect<T> {};
CONFORMANCE_SUITE(PrimitivesPositions, Types<std::int32_t, std::int64_t>);

CONFORMANCE_TEST(PrimitivesPositions, positions) {
  this->covers("primitives", "positions");
  for (const std::int64_t length : kLengths)
    for (const Layout layout : kLayouts) {
      const Sample<bool> flags = this->flags(length, layout, 3);
      Sample<T> y = this->room(length, next(layout));
      const std::int64_t count = value(this->primitives().positions(flags.array(), y.array()).get());
      std::vector<T> want;
      for (std::size_t i = 0; i < flags.values().size(); ++i)
        if (flags.values()[i]) want.push_back(static_cast<T>(i));
      this->expect_begins(y.read(), want, count);
    }
}

template <class T>
class PrimitivesRuns : public PrimitivesSelect<T> {
 protected:
  static bool are_equal(T a, T b) { return primitives::rank_of(a) == primitives::rank_of(b); }
  /// Ascending, with many equal ones.
  std::vector<T> sorted_keys(std::int64_t count) {
    const std::vector<T> keys = this->keys(count);
    const Shape line{count};
    return this->picked(keys, this->order_of_rows(keys, line, SortOrder::ascending), line);
  }
  static std::size_t count_in(const std::vector<T>& keys, T key) {
    return static_cast<std::size_t>(std::ranges::count_if(keys, [&](T other) { return are_equal(other, key); }));
  }
};
CONFORMANCE_SUITE(PrimitivesRuns, KeyTypes);

CONFORMANCE_TEST(PrimitivesRuns, unique_and_run_lengths) {
  this->covers("primitives", "unique, run_lengths");
  for (const std::int64_t length : kLengths)
    for (const bool is_sorted : {false, true})
      for (const Layout layout : {Layout::dense, Layout::sliced, Layout::reversed}) {
        const Sample<T> x = this->vector(is_sorted ? this->sorted_keys(length) : this->keys(length), layout);
        std::vector<T> want;
        std::vector<std::int64_t> want_lengths;
        for (std::size_t i = 0; i < x.values().size(); ++i)
          if (i > 0 && this->are_equal(x.values()[i - 1], x.values()[i])) {
            ++want_lengths.back();
          } else {
            want.push_back(x.values()[i]);
            want_lengths.push_back(1);
          }
        Sample<T> y = this->room(length, next(layout)), again = this->room(length);
        Sample<std::int64_t> lengths = this->template room<std::int64_t>(length, layout);
        const std::int64_t count = value(this->primitives().unique(x.array(), y.array()).get());
        this->expect_begins(y.read(), want, count);
        const std::int64_t runs =
            value(this->primitives().run_lengths(x.array(), again.array(), lengths.array()).get());
        this->expect_begins(again.read(), want, runs);
        this->expect_begins(lengths.read(), want_lengths, runs);
      }
}

CONFORMANCE_TEST(PrimitivesRuns, sets) {
  this->covers("primitives", "sets");
  constexpr std::pair<std::int64_t, std::int64_t> kPairs[] = {{0, 0},     {0, 5},     {5, 0},
                                                              {300, 200}, {7, 5'000}, {5'000, 4'000}};
  for (const auto& [in_a, in_b] : kPairs)
    for (const SetOperation operation :
         {SetOperation::unite, SetOperation::intersect, SetOperation::difference, SetOperation::symmetric_difference})
      for (const Layout layout : {Layout::dense, Layout::sliced, Layout::reversed}) {
        const Sample<T> a = this->vector(this->sorted_keys(in_a), layout);
        const Sample<T> b = this->vector(this->sorted_keys(in_b), next(layout));
        Sample<T> y = this->room(in_a + in_b, layout);
        const std::int64_t count = value(this->primitives().sets(operation, a.array(), b.array(), y.array()).get());
        std::vector<T> want;
        std::size_t i = 0, j = 0;
        while (i < a.values().size() || j < b.values().size()) {
          const bool from_a = j == b.values().size() ||
                              (i < a.values().size() && primitives::rank_of(static_cast<T>(a.values()[i])) <=
                                                            primitives::rank_of(static_cast<T>(b.values()[j])));
          const T key = from_a ? a.values()[i] : b.values()[j];
          const std::size_t m = this->count_in(a.values(), key), n = this->count_in(b.values(), key);
          const auto take = [&](const std::vector<T>& from, std::size_t first, std::size_t how_many) {
            for (std::size_t k = 0; k < how_many; ++k) want.push_back(from[first + k]);
          };
          switch (operation) {
            case SetOperation::unite:
              take(a.values(), i, m);
              if (n > m) take(b.values(), j + m, n - m);
              break;
            case SetOperation::intersect: take(a.values(), i, std::min(m, n)); break;
            case SetOperation::difference:
              if (m > n) take(a.values(), i + n, m - n);
              break;
            case SetOperation::symmetric_difference:
              if (m > n) take(a.values(), i + n, m - n);
              if (n > m) take(b.values(), j + m, n - m);
              break;
          }
          i += m;
          j += n;
        }
        this->expect_begins(y.read(), want, count, std::string(name(operation)));
      }
}

// ---- moving by indices ----

template <class T>
class PrimitivesMoves : public PrimitivesSelect<T> {
 protected:
  template <Element I>
  std::vector<I> indices(std::int64_t count, std::int64_t of) {
    std::vector<I> indices(static_cast<std::size_t>(count));
    for (I& index : indices) index = static_cast<I>(this->random_numbers()() % static_cast<std::uint64_t>(of));
    return indices;
  }
};
CONFORMANCE_SUITE(PrimitivesMoves, AllTypes);

CONFORMANCE_TEST(PrimitivesMoves, gather) {
  this->covers("primitives", "gather");
  for (const int axis : {0, 1, -1})
    for (const Layout layout : kLayouts) {
      const Shape shape{40, 30};
      const bool by_rows = axis == 0;
      const Sample<T> x = this->random(shape, layout);
      const Shape out = by_rows ? Shape{55, 30} : Shape{40, 55};
      const Sample<std::int64_t> each = this->template sample<std::int64_t>(
          out, next(layout), this->template indices<std::int64_t>(55 * (by_rows ? 30 : 40), by_rows ? 40 : 30));
      const Sample<std::int32_t> alike =
          this->template vector<std::int32_t>(this->template indices<std::int32_t>(55, by_rows ? 40 : 30), layout);
      Sample<T> y = this->poisoned(out, next(layout, 2)), z = this->poisoned(out, layout);
      value(this->primitives().gather(x.array(), each.array(), y.array(), {.axis = axis}).get());
      value(this->primitives().gather(x.array(), alike.array(), z.array(), {.axis = axis}).get());
      std::vector<T> want, want_alike;
      for (std::int64_t i = 0; i < out[0]; ++i)
        for (std::int64_t j = 0; j < out[1]; ++j) {
          const auto at = [&](std::int64_t index) {
            return x.values()[static_cast<std::size_t>(by_rows ? index * 30 + j : i * 30 + index)];
          };
          want.push_back(at(each.values()[static_cast<std::size_t>(i * out[1] + j)]));
          want_alike.push_back(at(alike.values()[static_cast<std::size_t>(by_rows ? i : j)]));
        }
      this->expect_same(y.read(), want);
      this->expect_same(z.read(), want_alike);
    }
}

CONFORMANCE_TEST(PrimitivesMoves, scatter_where_the_last_stays) {
  this->covers("primitives", "scatter");
  for (const int axis : {0, 1})
    for (const Layout layout : kLayouts) {
      const Shape shape{40, 30}, into{20, 30}, across{40, 20};
      const Sample<T> x = this->random(shape, layout);
      const Sample<std::int32_t> each =
          this->template sample<std::int32_t>(shape, next(layout), this->template indices<std::int32_t>(1'200, 20));
      const Shape& out = axis == 0 ? into : across;
      Sample<T> y = this->random(out, next(layout, 2));
      std::vector<T> want = y.values();
      value(this->primitives().scatter(x.array(), each.array(), y.array(), {.axis = axis}).get());
      for (std::int64_t i = 0; i < 40; ++i)
        for (std::int64_t j = 0; j < 30; ++j) {
          const auto from = static_cast<std::size_t>(i * 30 + j);
          const std::int64_t index = each.values()[from];
          want[static_cast<std::size_t>(axis == 0 ? index * 30 + j : i * 20 + index)] = x.values()[from];
        }
      this->expect_same(y.read(), want);
    }
}

template <class T>
class PrimitivesScatters : public PrimitivesMoves<T> {};
CONFORMANCE_SUITE(PrimitivesScatters, KeyTypes);

CONFORMANCE_TEST(PrimitivesScatters, scatter_that_adds_or_compares) {
  this->covers("primitives", "scatter, add, min, max");
  for (const Duplicates rule : {Duplicates::add, Duplicates::min, Duplicates::max})
    for (const Layout layout : {Layout::dense, Layout::offset, Layout::sliced, Layout::reversed}) {
      if (std::same_as<T, bool> && rule == Duplicates::add) continue;
      // 37 places of an odd number of bytes, so that neighbours share words.
      const bool adds = rule == Duplicates::add;
      const Sample<T> x = this->vector(adds ? this->numbers(1'000) : this->keys(1'000), layout);
      const Sample<std::int64_t> indices =
          this->template vector<std::int64_t>(this->template indices<std::int64_t>(1'000, 37), next(layout));
      Sample<T> y = this->vector(this->numbers(37), layout);
      std::vector<T> want = y.values();
      value(this->primitives().scatter(x.array(), indices.array(), y.array(), {.duplicates = rule}).get());
      std::vector<double> sums;
      for (const T number : want) sums.push_back(static_cast<double>(primitives::widened(number)));
      for (std::size_t i = 0; i < 1'000; ++i) {
        const auto to = static_cast<std::size_t>(indices.values()[i]);
        const auto number = primitives::widened(static_cast<T>(x.values()[i]));
        if (adds && !std::integral<T>) {
          sums[to] += static_cast<double>(number);
          continue;
        }
        const auto there = primitives::widened(static_cast<T>(want[to]));
        if (rule == Duplicates::min)
          want[to] = T(primitives::combine<Combine::min>(there, number));
        else if (rule == Duplicates::max)
          want[to] = T(primitives::combine<Combine::max>(there, number));
        else if constexpr (std::integral<T> && !std::same_as<T, bool>)
          want[to] = primitives::combine<Combine::sum>(there, number);
      }
      const std::vector<T> got = y.read();
      this->count_case();
      for (std::size_t i = 0; i < got.size(); ++i) {
        const auto one = static_cast<double>(primitives::widened(static_cast<T>(got[i])));
        if (adds && !std::integral<T>) {
          EXPECT_NEAR(one, sums[i], 64 * epsilon<T>() * 8) << i;  // some 27 numbers up to 1
        } else {
          const auto other = static_cast<double>(primitives::widened(static_cast<T>(want[i])));
          EXPECT_TRUE(one == other || (std::isnan(one) && std::isnan(other))) << i << ": " << one << ", " << other;
        }
      }
    }
}

}  // namespace
}  // namespace troupe::conformance
