#include "troupe/op/view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace troupe::op {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

View view_of(Shape shape, Strides strides, Address address = address_of(3, 4096), DType dtype = DType::f32) {
  return {.address = address, .dtype = dtype, .shape = shape, .strides = strides};
}

/// The offsets of all elements, in elements, in row-major order.
std::vector<std::int64_t> offsets_of(const View& view) {
  std::vector<std::int64_t> offsets{0};
  for (int i = 0; i < view.shape.rank(); ++i) {
    std::vector<std::int64_t> further;
    for (const std::int64_t offset : offsets)
      for (std::int64_t index = 0; index < view.shape[i]; ++index) further.push_back(offset + index * view.strides[i]);
    offsets = std::move(further);
  }
  return offsets;
}

View random_view(std::mt19937_64& random) {
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  std::vector<std::int64_t> extents(static_cast<std::size_t>(number(0, 4)));
  std::vector<std::int64_t> distances(extents.size());
  for (std::int64_t& extent : extents) extent = number(0, 9) == 0 ? 0 : number(1, 4);
  for (std::int64_t& distance : distances) distance = number(-12, 12);
  if (number(0, 1) == 0) {  // rather often, a layout without overlap: dense or with gaps, in any order and direction
    std::int64_t step = 1;
    std::vector<std::size_t> order(extents.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::shuffle(order, random);
    for (const std::size_t i : order) {
      distances[i] = number(0, 1) == 0 ? step : -step;
      step *= std::max<std::int64_t>(extents[i], 1) + (number(0, 3) == 0 ? 1 : 0);
    }
  }
  return view_of(Shape(extents), Strides(distances), address_of(7, 1 << 20),
                 static_cast<DType>(number(0, kDTypes - 1)));
}

std::string text_of(const View& view) { return view.shape.to_string() + " with strides " + view.strides.to_string(); }

TEST(Address, is_a_chunk_and_an_offset) {
  const Address address = address_of(4095, kMaxChunkBytes - 1);
  EXPECT_EQ(chunk_of(address), 4095U);
  EXPECT_EQ(offset_of(address), kMaxChunkBytes - 1);
  EXPECT_EQ(address_of(1, 0), kMaxChunkBytes);
}

TEST(Range, overlaps_what_shares_a_byte_with_it) {
  const Range range{100, 200};
  EXPECT_TRUE(range.overlaps({199, 300}));
  EXPECT_TRUE(range.overlaps({0, 101}));
  EXPECT_TRUE(range.overlaps({120, 130}));
  EXPECT_TRUE(range.overlaps(range));
  EXPECT_FALSE(range.overlaps({200, 300}));
  EXPECT_FALSE(range.overlaps({0, 100}));
  EXPECT_TRUE(range.covers({100, 200}));
  EXPECT_FALSE(range.covers({100, 201}));
  EXPECT_TRUE(Range({5, 5}).empty());
}

TEST(View, touches_from_its_first_byte_to_its_last) {
  const Address at = address_of(3, 4096);
  EXPECT_EQ(*range_of(view_of({2, 3}, {3, 1})), (Range{at, at + 24}));
  EXPECT_EQ(*range_of(view_of({2, 3}, {10, 2})), (Range{at, at + 60}));
  EXPECT_EQ(*range_of(view_of({4}, {-1})), (Range{at - 12, at + 4}));
  EXPECT_EQ(*range_of(view_of({5, 5}, {0, 0})), (Range{at, at + 4}));
  EXPECT_EQ(*range_of(view_of({}, {}, at, DType::c128)), (Range{at, at + 16}));
}

TEST(View, touches_nothing_without_elements) {
  for (const View& view : {view_of({0}, {1}), view_of({5, 0}, {kMost, kLeast}), view_of({0, 5}, {kLeast, kMost})}) {
    EXPECT_TRUE(range_of(view)->empty()) << text_of(view);
    EXPECT_EQ(element_count(view), 0);
    EXPECT_TRUE(is_dense(view)) << text_of(view);
    EXPECT_FALSE(may_overlap_itself(view)) << text_of(view);
  }
}

TEST(View, touches_what_its_elements_touch) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 10'000; ++round) {
    const View view = random_view(random);
    const auto offsets = offsets_of(view);
    const Result<Range> range = range_of(view);
    ASSERT_TRUE(range) << text_of(view);
    EXPECT_EQ(element_count(view), static_cast<std::int64_t>(offsets.size()));
    EXPECT_EQ(range->empty(), offsets.empty());
    if (offsets.empty()) continue;
    const auto [lowest, highest] = std::ranges::minmax(offsets);
    const auto bytes = static_cast<std::uint64_t>(size_bytes(view.dtype));
    EXPECT_EQ(range->begin, view.address + static_cast<std::uint64_t>(lowest) * bytes) << text_of(view);
    EXPECT_EQ(range->end, view.address + static_cast<std::uint64_t>(highest + 1) * bytes) << text_of(view);
  }
}

TEST(View, may_end_with_its_chunk_and_not_leave_it) {
  const Address last = address_of(5, kMaxChunkBytes - 8);
  EXPECT_EQ(range_of(view_of({2}, {1}, last))->end, address_of(6, 0));
  EXPECT_EQ(range_of(view_of({3}, {1}, last)).error().kind(), ErrorKind::invalid_argument);
  EXPECT_TRUE(range_of(view_of({2}, {-1}, address_of(5, 4))));
  EXPECT_FALSE(range_of(view_of({2}, {-1}, address_of(5, 3))));
  EXPECT_FALSE(range_of(view_of({2}, {-1}, address_of(5, 0))));
  EXPECT_FALSE(range_of(view_of({1}, {1}, address_of(5, kMaxChunkBytes - 3))));
}

TEST(View, leaves_its_chunk_rather_than_overflow) {
  for (const View& view : {
           view_of({kMost}, {1}),
           view_of({kMost}, {1}, 0, DType::c128),
           view_of({2}, {kMost}),
           view_of({2}, {kLeast}),
           view_of({2, 2}, {kMost, kLeast}),
           view_of({2}, {kMost / 4}, address_of(0, kMaxChunkBytes - 4)),
           view_of({kMost / 16, 16}, {1, 1}),
           view_of({(std::int64_t{1} << 44) + 1}, {1}, 0, DType::u8),
       }) {
    const Result<Range> range = range_of(view);
    ASSERT_FALSE(range) << text_of(view);
    EXPECT_EQ(range.error().kind(), ErrorKind::invalid_argument);
  }
  EXPECT_TRUE(range_of(view_of({std::int64_t{1} << 44}, {1}, 0, DType::u8))) << "exactly one chunk";
}

TEST(View, is_in_no_chunk_beyond_the_last) {
  EXPECT_TRUE(range_of(view_of({1}, {1}, address_of(kMaxChunks - 1, kMaxChunkBytes - 4))));
  EXPECT_FALSE(range_of(view_of({1}, {1}, address_of(kMaxChunks, 0))));
  // Its last byte is the last one of all addresses: one past it is 0 again.
  const Result<Range> range = range_of(view_of({1}, {1}, ~Address{0} - 3));
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().kind(), ErrorKind::invalid_argument);
}

TEST(View, has_no_range_with_a_shape_that_cannot_be) {
  for (const View& view :
       {view_of({-1}, {1}), view_of({2, 2}, {1}), view_of({kMost, 2}, {0, 0}), view_of({0, -1}, {1, 1}),
        view_of({2}, {2, 1}), view_of({1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1})}) {
    EXPECT_EQ(range_of(view).error().kind(), ErrorKind::invalid_argument) << text_of(view);
    EXPECT_FALSE(is_dense(view)) << text_of(view);
    EXPECT_TRUE(may_overlap_itself(view)) << text_of(view);
  }
}

TEST(View, is_dense_in_any_order_of_its_dimensions) {
  EXPECT_TRUE(is_dense(view_of({2, 3}, {3, 1})));
  EXPECT_TRUE(is_dense(view_of({2, 3}, {1, 2})));
  EXPECT_TRUE(is_dense(view_of({2, 3}, {-3, 1})));
  EXPECT_TRUE(is_dense(view_of({2, 1, 3}, {3, 99, 1})));
  EXPECT_TRUE(is_dense(view_of({}, {})));
  EXPECT_FALSE(is_dense(view_of({2, 3}, {4, 1})));
  EXPECT_FALSE(is_dense(view_of({3}, {2})));
  EXPECT_FALSE(is_dense(view_of({3}, {0})));
}

TEST(View, is_dense_exactly_when_its_elements_fill_its_range_once_each) {
  std::mt19937_64 random(2);
  int dense = 0;
  for (int round = 0; round < 10'000; ++round) {
    const View view = random_view(random);
    const auto offsets = offsets_of(view);
    const std::set<std::int64_t> distinct(offsets.begin(), offsets.end());
    const bool fills = offsets.empty() || (distinct.size() == offsets.size() &&
                                           *distinct.rbegin() - *distinct.begin() + 1 == std::ssize(offsets));
    EXPECT_EQ(is_dense(view), fills) << text_of(view);
    dense += fills && offsets.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(dense, 500) << "the views are worth looking at";
}

TEST(View, that_overlaps_itself_is_never_said_not_to) {
  std::mt19937_64 random(3);
  int overlapping = 0;
  int suspected = 0;
  int total = 0;
  for (int round = 0; round < 10'000; ++round) {
    const View view = random_view(random);
    const auto offsets = offsets_of(view);
    const std::set<std::int64_t> distinct(offsets.begin(), offsets.end());
    const bool overlaps = distinct.size() != offsets.size();
    if (overlaps) {
      EXPECT_TRUE(may_overlap_itself(view)) << text_of(view);
    }
    if (is_dense(view)) {
      EXPECT_FALSE(may_overlap_itself(view)) << text_of(view);
    }
    total += offsets.size() > 1 ? 1 : 0;
    overlapping += overlaps ? 1 : 0;
    suspected += !overlaps && may_overlap_itself(view) ? 1 : 0;
  }
  EXPECT_GT(overlapping, 500);
  EXPECT_LT(suspected, total / 5) << "only strange layouts are suspected without reason";
}

TEST(View, may_overlap_itself_when_its_strides_are_beyond_counting) {
  EXPECT_TRUE(may_overlap_itself(view_of({2}, {0})));
  EXPECT_TRUE(may_overlap_itself(view_of({3, 3}, {kMost, kMost})));
  EXPECT_TRUE(may_overlap_itself(view_of({3}, {kLeast})));
  EXPECT_TRUE(may_overlap_itself(view_of({3, 2}, {kLeast, 1})));
  EXPECT_FALSE(is_dense(view_of({2}, {kLeast})));
  EXPECT_FALSE(may_overlap_itself(view_of({1}, {kLeast})));
}

TEST(Scalar, gives_its_value_as_any_type) {
  EXPECT_EQ(Scalar(2.5F).as<float>(), 2.5F);
  EXPECT_EQ(Scalar(2.5).as<std::int8_t>(), 2);
  EXPECT_EQ(Scalar(std::int32_t{-1}).as<std::uint8_t>(), 255);
  EXPECT_EQ(Scalar(std::complex<double>(1, 2)).as<std::complex<float>>(), std::complex<float>(1, 2));
  EXPECT_TRUE(Scalar(3.0).as<bool>());
  EXPECT_EQ(Scalar().as<double>(), 0.0);
}

TEST(Scalar, keeps_its_type_and_bytes) {
  for (int number = 0; number < kDTypes; ++number) {
    visit(static_cast<DType>(number), [&]<class T>(std::type_identity<T>) {
      const Scalar scalar(convert<T>(1.0));
      EXPECT_EQ(scalar.dtype(), dtype_of<T>);
      EXPECT_EQ(Scalar::from_bytes(scalar.dtype(), scalar.bytes()), scalar);
      EXPECT_EQ(scalar.as<T>(), convert<T>(1.0));
    });
  }
  EXPECT_NE(Scalar(1.0), Scalar(1.0F));
}

TEST(Scalar, makes_a_proper_bool_of_any_byte) {
  std::array<std::byte, 16> bytes{};
  bytes[0] = std::byte{0xaa};
  EXPECT_TRUE(Scalar::from_bytes(DType::boolean, bytes).as<bool>());
  EXPECT_EQ(Scalar::from_bytes(DType::boolean, bytes).bytes()[0], std::byte{1});
}

}  // namespace
}  // namespace troupe::op
