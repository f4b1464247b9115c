#include "troupe/op/overlap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "troupe/core/seed.test.hpp"

namespace troupe::op {
namespace {

constexpr std::int64_t kStart = 1 << 20;

/// Over one block of memory; `first` counts elements from its start.
View view_of(Shape shape, Strides strides, std::int64_t first = 0, DType dtype = DType::f32) {
  const auto offset = static_cast<std::uint64_t>(kStart + first * size_bytes(dtype));
  return {.address = address_of(3, offset), .dtype = dtype, .shape = shape, .strides = strides};
}

std::string text_of(const View& view) {
  return std::string(name(view.dtype)) + " " + view.shape.to_string() + " with strides " + view.strides.to_string() +
         " at " + std::to_string(offset_of(view.address) - kStart);
}

/// Where all its bytes are.
std::set<std::uint64_t> bytes_of(const View& view) {
  std::vector<std::uint64_t> places{view.address};
  const auto size = static_cast<std::uint64_t>(size_bytes(view.dtype));
  for (int i = 0; i < view.shape.rank(); ++i) {
    std::vector<std::uint64_t> further;
    for (const std::uint64_t place : places)
      for (std::int64_t index = 0; index < view.shape[i]; ++index)
        further.push_back(place + static_cast<std::uint64_t>(index * view.strides[i]) * size);
    places = std::move(further);
  }
  std::set<std::uint64_t> bytes;
  for (const std::uint64_t place : places)
    for (std::uint64_t byte = 0; byte < size; ++byte) bytes.insert(place + byte);
  return bytes;
}

Overlap overlap_by_looking(const View& a, const View& b) {
  const std::set<std::uint64_t> of_b = bytes_of(b);
  const std::set<std::uint64_t> of_a = bytes_of(a);
  return std::ranges::any_of(of_a, [&](std::uint64_t byte) { return of_b.contains(byte); }) ? Overlap::some
                                                                                            : Overlap::none;
}

/// In both orders, and as it really is.
void expect(Overlap expected, const View& a, const View& b) {
  ASSERT_EQ(overlap_by_looking(a, b), expected) << text_of(a) << " and " << text_of(b);
  EXPECT_EQ(overlap_of(a, b), expected) << text_of(a) << " and " << text_of(b);
  EXPECT_EQ(overlap_of(b, a), expected) << text_of(b) << " and " << text_of(a);
}

using enum Overlap;

TEST(Overlap, is_none_of_views_that_lie_apart) {
  expect(none, view_of({4}, {1}), view_of({4}, {1}, 4));
  expect(some, view_of({4}, {1}), view_of({4}, {1}, 3));
  expect(none, view_of({4}, {1}), view_of({0}, {1}));
  expect(none, view_of({}, {}), view_of({}, {}, 1));
  expect(some, view_of({}, {}), view_of({}, {}));
}

TEST(Overlap, is_none_of_two_blocks_of_columns) {
  expect(none, view_of({5, 3}, {10, 1}), view_of({5, 3}, {10, 1}, 3));
  expect(none, view_of({5, 3}, {10, 1}), view_of({5, 7}, {10, 1}, 3));
  expect(none, view_of({2, 5, 3}, {50, 10, 1}), view_of({2, 5, 3}, {50, 10, 1}, 3));
  expect(some, view_of({5, 4}, {10, 1}), view_of({5, 3}, {10, 1}, 3));
  expect(none, view_of({3, 5}, {1, 10}), view_of({5, 3}, {10, 1}, 4));        // one of them transposed
  expect(none, view_of({5, 3}, {-10, 1}, 40), view_of({5, 3}, {10, -1}, 5));  // upside down, and from the right
  expect(none, view_of({5, 3}, {10, 1}), view_of({5, 3}, {0, 1}, 23));        // a row that is repeated
  expect(some, view_of({5, 3}, {10, 1}), view_of({5, 3}, {0, 1}, 22));
}

TEST(Overlap, is_none_of_even_and_odd_columns) {
  expect(none, view_of({5, 5}, {10, 2}), view_of({5, 5}, {10, 2}, 1));
  expect(none, view_of({10}, {2}), view_of({10}, {-2}, 19));
  expect(none, view_of({2, 5}, {20, 1}), view_of({2, 5}, {20, 1}, 10));  // and rows
  expect(some, view_of({5, 5}, {10, 2}), view_of({5, 3}, {10, 3}, 1));
  expect(none, view_of({5, 5}, {10, 2}, 0, DType::u8), view_of({5, 5}, {10, 2}, 1, DType::u8));
}

TEST(Overlap, is_none_of_channels_of_a_picture) {
  for (int other : {1, 2}) expect(none, view_of({4, 6}, {18, 3}), view_of({4, 6}, {18, 3}, other));
  expect(none, view_of({4, 6, 2}, {18, 3, 1}), view_of({4, 6}, {18, 3}, 2));
  expect(some, view_of({4, 6, 2}, {18, 3, 1}), view_of({4, 6}, {18, 3}, 1));
}

TEST(Overlap, is_none_of_tiles) {
  for (const std::int64_t row : {0, 4})
    for (const std::int64_t column : {0, 3, 6})
      expect(row == 0 && column == 0 ? some : none, view_of({4, 3}, {9, 1}), view_of({4, 3}, {9, 1}, row * 9 + column));
  expect(some, view_of({4, 3}, {9, 1}), view_of({4, 3}, {9, 1}, 3 * 9 + 2));
}

TEST(Overlap, is_none_of_the_triangles_beside_a_diagonal) {
  expect(none, view_of({5}, {6}), view_of({4}, {6}, 1));  // the diagonal of a 5 x 5 matrix, and the one beside it
  expect(some, view_of({5}, {6}), view_of({5}, {1}, 10));
}

TEST(Overlap, counts_bytes_where_the_types_differ) {
  expect(none, view_of({4}, {2}, 0, DType::f32), view_of({4}, {4}, 2, DType::f16));
  expect(some, view_of({4}, {2}, 0, DType::f32), view_of({4}, {4}, 1, DType::f16));
  expect(none, view_of({4}, {2}, 0, DType::f64), view_of({4, 8}, {16, 1}, 8, DType::u8));
  expect(some, view_of({4}, {2}, 0, DType::f64), view_of({4, 9}, {16, 1}, 8, DType::u8));
}

TEST(Overlap, is_found_in_large_arrays_without_many_tries) {
  constexpr std::int64_t kWide = 1'000'003;
  EXPECT_EQ(overlap_of(view_of({50'000, 500'000}, {kWide, 1}), view_of({50'000, 500'003}, {kWide, 1}, 500'000)), none);
  EXPECT_EQ(overlap_of(view_of({50'000, 500'001}, {kWide, 1}), view_of({50'000, 500'003}, {kWide, 1}, 500'000)), some);
  EXPECT_EQ(overlap_of(view_of({99, 99, 99, 99}, {8'000'000, 40'000, 200, 2}),
                       view_of({99, 99, 99, 99}, {8'000'000, 40'000, 200, 2}, 1)),
            none);
}

TEST(Overlap, is_unsure_where_strides_have_nothing_to_do_with_each_other) {
  const View strange = view_of({9999, 9999}, {1'000'003, 99'991});
  EXPECT_EQ(overlap_of(strange, view_of({9999}, {100'003}, 77)), unsure);
  EXPECT_EQ(overlap_of(strange, view_of({-1}, {1})), unsure) << "a view that cannot be";
}

/// Up to four axes, small, with any strides, or with those of a part of a larger array.
View random_view(std::mt19937_64& random, const Strides& usual) {
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const bool is_usual = number(0, 3) != 0;
  std::vector<std::int64_t> extents(static_cast<std::size_t>(is_usual ? usual.rank() : number(0, 4)));
  std::vector<std::int64_t> distances(extents.size());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    extents[i] = number(0, 19) == 0 ? 0 : number(1, 4);
    distances[i] =
        is_usual ? usual[static_cast<int>(i)] * number(1, 2) * (number(0, 1) == 0 ? 1 : -1) : number(-12, 12);
  }
  constexpr DType kTypes[] = {DType::u8, DType::f16, DType::f32, DType::f32, DType::f32, DType::c64};
  return view_of(Shape(extents), Strides(distances), number(0, 60), kTypes[number(0, 5)]);
}

TEST(Overlap, is_what_looking_at_every_byte_says) {
  const std::uint64_t seed = test_seed();
  std::mt19937_64 random(seed);
  int counts[3] = {};
  int none_in_one_range = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::int64_t> whole(std::uniform_int_distribution<std::size_t>(1, 4)(random));
    for (std::int64_t& extent : whole) extent = std::uniform_int_distribution<std::int64_t>(2, 6)(random);
    const Strides usual = contiguous_strides(Shape(whole));
    const View a = random_view(random, usual);
    const View b = random_view(random, usual);
    const Overlap said = overlap_of(a, b);
    ++counts[static_cast<int>(said)];
    if (said == unsure) continue;
    const Overlap seen = overlap_by_looking(a, b);
    ASSERT_EQ(said, seen) << text_of(a) << " and " << text_of(b) << ", seed " << seed;
    none_in_one_range += seen == none && range_of(a)->overlaps(*range_of(b)) ? 1 : 0;
  }
  EXPECT_GT(counts[static_cast<int>(some)], 2000);
  EXPECT_GT(none_in_one_range, 500);
  EXPECT_EQ(counts[static_cast<int>(unsure)], 0) << "small views are always told apart";
}

}  // namespace
}  // namespace troupe::op
