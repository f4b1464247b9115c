// What the conformance suites of primitives share: their types, keys among which there is everything that is special
// (NaN, infinities, both zeros, the least and the greatest integers, many equal ones), and rows of arrays.
#pragma once

#include "troupe/library/conformance.test.hpp"
#include "troupe/op/primitives_functions.hpp"

namespace troupe::conformance {

using KeyTypes = Types<float, f16, bf16, double, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                       std::uint32_t, std::int64_t, std::uint64_t, bool>;

template <class T>
T special_key(std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::same_as<T, bool>) {
    return random() % 2 == 1;
  } else if constexpr (std::integral<T>) {
    const T keys[] = {Limits::min(), Limits::max(), T{0}, T{1}, static_cast<T>(-1), static_cast<T>(random())};
    return keys[random() % std::size(keys)];
  } else {
    using Float = std::numeric_limits<float>;
    const float keys[] = {
        Float::infinity(), -Float::infinity(), Float::quiet_NaN(), -Float::quiet_NaN(), 0.0F, -0.0F, 1.0F};
    return T(keys[random() % std::size(keys)]);
  }
}

/// Bytes, since a NaN is not equal to itself.
template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
class PrimitivesConformance : public Conformance<T> {
 protected:
  static constexpr std::array<Shape, 5> shapes() {
    return {Shape{5, 300}, Shape{2, 3, 17}, Shape{33}, Shape{4, 1}, Shape{3, 0}};
  }
  static std::int64_t length_of(const Shape& shape) { return shape[shape.rank() - 1]; }
  static std::int64_t rows_of(const Shape& shape) {
    std::int64_t rows = 1;
    for (int i = 0; i + 1 < shape.rank(); ++i) rows *= shape[i];
    return rows;
  }
  static Shape without_last(const Shape& shape) {
    return Shape(std::span(shape.begin(), static_cast<std::size_t>(shape.rank() - 1)));
  }

  /// Two thirds ordinary numbers, many of them equal, and one third special ones.
  std::vector<T> keys(std::int64_t count) {
    std::mt19937_64& random = this->random_numbers();
    std::vector<T> keys(static_cast<std::size_t>(count));
    for (auto&& key : keys) key = random() % 3 == 0 ? special_key<T>(random) : random_element<T>(random);
    return keys;
  }
  /// Ordinary numbers.
  std::vector<T> numbers(std::int64_t count) {
    std::vector<T> numbers(static_cast<std::size_t>(count));
    for (auto&& number : numbers) number = random_element<T>(this->random_numbers());
    return numbers;
  }
  static std::int64_t elements_in(const Shape& shape) { return element_count(shape).value_or(0); }
  template <Element U>
  Sample<U> sample(const Shape& shape, Layout layout, std::vector<U> values) {
    if (values.empty()) return this->template poisoned_of<U>(shape, layout);
    return Sample<U>(this->device(), shape, layout, std::move(values));
  }
  Sample<T> sample_of_keys(const Shape& shape, Layout layout = Layout::dense) {
    return sample<T>(shape, layout, keys(elements_in(shape)));
  }
  template <Element U = T>
  Sample<U> vector(std::vector<U> values, Layout layout = Layout::dense) {
    const auto count = static_cast<std::int64_t>(values.size());
    return sample<U>({count}, layout, std::move(values));
  }
  template <Element U = T>
  Sample<U> room(std::int64_t count, Layout layout = Layout::dense) {
    return this->template poisoned_of<U>({count}, layout);
  }
  Primitives primitives() const { return this->device().primitives(); }

  /// Bit for bit.
  template <class U>
  void expect_same(const std::vector<U>& got, const std::vector<U>& want, const std::string& what = "") {
    this->count_case();
    ASSERT_EQ(got.size(), want.size()) << what;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const U left = got[i], right = want[i];
      ASSERT_TRUE(same(left, right)) << what << " element " << i << " of " << got.size();
    }
  }

  /// The positions 0 to n - 1 in the order of their keys.
  static std::vector<std::int64_t> order_of(const std::vector<T>& keys, std::size_t begin, std::size_t end,
                                            SortOrder order) {
    std::vector<std::int64_t> places(end - begin);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
    const auto rank = [&](std::int64_t i) {
      const T key = keys[begin + static_cast<std::size_t>(i)];
      return primitives::rank_of(key);
    };
    std::ranges::sort(places, [&](std::int64_t a, std::int64_t b) {
      if (rank(a) == rank(b)) return a < b;
      return order == SortOrder::ascending ? rank(a) < rank(b) : rank(b) < rank(a);
    });
    return places;
  }
  /// The same for each row, one behind the other.
  static std::vector<std::int64_t> order_of_rows(const std::vector<T>& keys, const Shape& shape, SortOrder order) {
    std::vector<std::int64_t> all;
    const auto length = static_cast<std::size_t>(length_of(shape));
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows_of(shape)); ++row)
      for (const std::int64_t place : order_of(keys, row * length, (row + 1) * length, order)) all.push_back(place);
    return all;
  }
  /// What stands at these places of the rows.
  template <class U>
  static std::vector<U> picked(const std::vector<U>& from, const std::vector<std::int64_t>& places,
                               const Shape& shape) {
    std::vector<U> all(places.size());
    const std::int64_t length = length_of(shape);
    for (std::size_t i = 0; i < places.size(); ++i)
      all[i] = from[static_cast<std::size_t>(static_cast<std::int64_t>(i) / length * length + places[i])];
    return all;
  }
};

inline constexpr std::array kOrders{SortOrder::ascending, SortOrder::descending};

}  // namespace troupe::conformance
