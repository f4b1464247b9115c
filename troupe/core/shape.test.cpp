#include "troupe/core/shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace troupe {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

const Shape kNegative{2, -3};
const Shape kTooLong{1, 1, 1, 1, 1, 1, 1, 1, 1};
const Shape kTooMany{std::int64_t{1} << 32, std::int64_t{1} << 31};

template <class T>
void expect_invalid(const Result<T>& result, std::string_view what) {
  ASSERT_FALSE(result) << what;
  EXPECT_EQ(result.error().kind(), ErrorKind::invalid_argument);
  EXPECT_NE(result.error().message().find(what), std::string_view::npos) << result.error().message();
}

TEST(Shape, is_a_plain_value_written_in_braces) {
  const std::int64_t n = 3;
  const Shape shape{2, n};
  EXPECT_EQ(shape.rank(), 2);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[1], 3);
  EXPECT_EQ(std::vector<std::int64_t>(shape.begin(), shape.end()), (std::vector<std::int64_t>{2, 3}));
  EXPECT_TRUE(std::is_trivially_copyable_v<Shape> && std::is_trivially_copyable_v<Strides>);
}

TEST(Shape, equals_only_the_same_extents) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2}), (Shape{2, 0}));
  EXPECT_NE((Shape{}), (Shape{0}));
  EXPECT_NE(kTooLong, (Shape{1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(Shape, prints_its_extents) {
  EXPECT_EQ((Shape{2, 3}).to_string(), "[2, 3]");
  EXPECT_EQ((Shape{}).to_string(), "[]");
  EXPECT_EQ((Strides{-1}).to_string(), "[-1]");
  EXPECT_EQ(kTooLong.to_string(), "[1, 1, 1, 1, 1, 1, 1, 1, ...]");
}

TEST(Shape, is_made_from_extents_that_are_valid) {
  const std::vector<std::int64_t> extents{4, 0, 7};
  EXPECT_EQ(value(Shape::make(extents)), (Shape{4, 0, 7}));
  EXPECT_EQ(value(Shape::make({})), Shape{});
}

TEST(Shape, can_be_written_wrong_without_harm_and_says_so_when_used) {
  const std::vector<std::pair<Shape, std::string_view>> wrong{
      {kNegative, "the shape [2, -3] has a negative extent"},
      {kTooLong, "[1, 1, 1, 1, 1, 1, 1, 1, ...] has too many dimensions; at most 8 are possible"},
      {kTooMany, "more elements than 63 bits can count"},
      {Shape{0, kMost, 2}, "more elements than 63 bits can count"},
      {Shape{kMost, kMost, -1}, "negative extent"},
      {Shape{kLeast}, "negative extent"},
  };
  for (const auto& [shape, what] : wrong) {
    expect_invalid(check(shape), what);
    expect_invalid(element_count(shape), what);
    expect_invalid(size_bytes(shape, DType::i8), what);
    expect_invalid(span_of(shape, contiguous_strides(shape)), what);
    EXPECT_EQ(contiguous_strides(shape), Strides(std::vector<std::int64_t>(static_cast<std::size_t>(shape.rank()), 0)));
    EXPECT_FALSE(is_contiguous(shape, contiguous_strides(shape)));
    expect_invalid(detail::row_major(shape, DType::f32), what);
  }
  expect_invalid(Shape::make(std::vector<std::int64_t>{2, -3}), "negative extent");
  expect_invalid(Shape::make(std::vector<std::int64_t>(9, 1)), "too many dimensions; at most 8 are possible");
  expect_invalid(Shape::make(std::vector<std::int64_t>(1'000'000, 1)), "too many dimensions; at most 8 are possible");
  expect_invalid(Shape::make(std::vector<std::int64_t>{kMost, 2}), "more elements");
}

TEST(ShapeDeathTest, dies_when_asked_for_a_dimension_it_does_not_have) {
  EXPECT_DEATH((void)(Shape{2, 3})[2], "a dimension is below the rank");
  EXPECT_DEATH((void)(Shape{2, 3})[-1], "a dimension is below the rank");
}

TEST(Shape, counts_elements_and_bytes) {
  EXPECT_EQ(value(element_count(Shape{})), 1);
  EXPECT_EQ(value(element_count(Shape{2, 3, 4})), 24);
  EXPECT_EQ(value(element_count(Shape{5, 0, 7})), 0);
  EXPECT_EQ(value(element_count(Shape{kMost, 1})), kMost);
  EXPECT_EQ(value(size_bytes(Shape{2, 3}, DType::c128)), 96);
  EXPECT_EQ(value(size_bytes(Shape{}, DType::f8e4m3)), 1);
  EXPECT_EQ(value(size_bytes(Shape{0, kMost}, DType::f64)), 0);
}

TEST(Shape, refuses_more_bytes_than_can_be_counted) {
  EXPECT_EQ(value(size_bytes(Shape{kMost}, DType::u8)), kMost);
  EXPECT_EQ(value(size_bytes(Shape{kMost / 2}, DType::f16)), kMost - 1);
  expect_invalid(size_bytes(Shape{kMost / 2 + 1}, DType::f16), "of f16 has more bytes");
}

TEST(Strides, of_a_contiguous_array_are_row_major) {
  EXPECT_EQ(contiguous_strides(Shape{}), Strides{});
  EXPECT_EQ(contiguous_strides(Shape{7}), (Strides{1}));
  EXPECT_EQ(contiguous_strides(Shape{2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(contiguous_strides(Shape{2, 0, 4}), (Strides{4, 4, 1}));
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{2, 3, 4}, Shape{2, 0, 4}}) {
    const detail::RowMajor layout = value(detail::row_major(shape, DType::f64));
    EXPECT_EQ(layout.strides, contiguous_strides(shape));
    EXPECT_EQ(layout.size_bytes, value(size_bytes(shape, DType::f64)));
  }
  EXPECT_FALSE(detail::row_major(Shape{std::int64_t{1} << 61}, DType::f64)) << "the bytes do not fit";
}

TEST(Strides, are_contiguous_when_elements_lie_side_by_side) {
  EXPECT_TRUE(is_contiguous(Shape{2, 3}, Strides{3, 1}));
  EXPECT_TRUE(is_contiguous(Shape{}, Strides{}));
  EXPECT_FALSE(is_contiguous(Shape{2, 3}, Strides{1, 2}));
  EXPECT_FALSE(is_contiguous(Shape{2, 3}, Strides{4, 1}));
  EXPECT_FALSE(is_contiguous(Shape{3}, Strides{-1}));
  EXPECT_FALSE(is_contiguous(Shape{3}, Strides{0}));
}

TEST(Strides, do_not_matter_along_an_extent_of_one_or_in_an_empty_array) {
  EXPECT_TRUE(is_contiguous(Shape{2, 1, 3}, Strides{3, -99, 1}));
  EXPECT_TRUE(is_contiguous(Shape{1}, Strides{kLeast}));
  EXPECT_TRUE(is_contiguous(Shape{2, 0}, Strides{-5, kMost}));
}

TEST(Strides, of_another_rank_do_not_go_with_a_shape) {
  const Strides too_long{1, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_FALSE(is_contiguous(Shape{2, 3}, Strides{1}));
  EXPECT_FALSE(is_contiguous(Shape{1, 1, 1, 1, 1, 1, 1, 1}, too_long));
  expect_invalid(span_of(Shape{2, 3}, Strides{1}), "[2, 3] has the strides [1]; it needs one for each extent");
  expect_invalid(span_of(Shape{0}, Strides{}), "it needs one for each extent");
  expect_invalid(span_of(Shape{1, 1, 1, 1, 1, 1, 1, 1}, too_long), "it needs one for each extent");
}

TEST(OffsetSpan, reaches_from_the_lowest_to_the_highest_element) {
  EXPECT_EQ(value(span_of(Shape{2, 3}, Strides{3, 1})), (OffsetSpan{0, 5}));
  EXPECT_EQ(value(span_of(Shape{2, 3}, Strides{-3, 1})), (OffsetSpan{-3, 2}));
  EXPECT_EQ(value(span_of(Shape{1000}, Strides{0})), (OffsetSpan{0, 0}));
  EXPECT_EQ(value(span_of(Shape{}, Strides{})), (OffsetSpan{0, 0}));
  EXPECT_EQ(value(span_of(Shape{1}, Strides{kLeast})), (OffsetSpan{0, 0}));
  EXPECT_EQ(value(span_of(Shape{2, 3}, Strides{100, -7})).length(), 115);
}

TEST(OffsetSpan, is_empty_when_there_are_no_elements) {
  const OffsetSpan span = value(span_of(Shape{5, 0}, Strides{kMost, kMost}));
  EXPECT_TRUE(span.empty());
  EXPECT_EQ(span.length(), 0);
}

TEST(OffsetSpan, refuses_what_does_not_fit) {
  EXPECT_EQ(value(span_of(Shape{2}, Strides{kMost - 1})), (OffsetSpan{0, kMost - 1}));
  EXPECT_EQ(value(span_of(Shape{2}, Strides{-kMost + 1})), (OffsetSpan{-kMost + 1, 0}));
  expect_invalid(span_of(Shape{2}, Strides{kMost}), "reaches further than 63 bits can count");
  expect_invalid(span_of(Shape{2}, Strides{kLeast}), "reaches further than 63 bits can count");
  expect_invalid(span_of(Shape{3}, Strides{kMost / 2 + 1}), "reaches further than 63 bits can count");
  expect_invalid(span_of(Shape{2, 2}, Strides{kMost / 2 + 1, kMost / 2 + 1}), "reaches further than 63 bits can count");
  expect_invalid(span_of(Shape{2, 2}, Strides{kMost / 2 + 1, kLeast / 2}), "reaches further than 63 bits can count");
}

/// Visits the offset of every element, one by one.
template <class F>
void for_each_offset(const Shape& shape, const Strides& strides, F f, int dimension = 0, std::int64_t offset = 0) {
  if (dimension == shape.rank()) return f(offset);
  for (std::int64_t i = 0; i < shape[dimension]; ++i) {
    for_each_offset(shape, strides, f, dimension + 1, offset + i * strides[dimension]);
  }
}

TEST(OffsetSpan, agrees_with_a_walk_over_all_elements) {
  std::mt19937_64 random(20240611);
  std::uniform_int_distribution<std::int64_t> extent(0, 4);
  std::uniform_int_distribution<std::int64_t> stride(-9, 9);
  for (int round = 0; round < 5'000; ++round) {
    std::vector<std::int64_t> extents(random() % 5);
    std::vector<std::int64_t> distances(extents.size());
    std::ranges::generate(extents, [&] { return extent(random); });
    std::ranges::generate(distances, [&] { return stride(random); });
    const Shape shape(extents);
    Strides strides(distances);
    if (round % 3 == 0) strides = contiguous_strides(shape);
    OffsetSpan seen;
    bool side_by_side = true;
    std::int64_t count = 0;
    for_each_offset(shape, strides, [&](std::int64_t offset) {
      seen = count == 0 ? OffsetSpan{offset, offset}
                        : OffsetSpan{std::min(seen.lowest, offset), std::max(seen.highest, offset)};
      side_by_side &= offset == count;
      ++count;
    });
    ASSERT_EQ(value(span_of(shape, strides)), seen) << shape.to_string() << strides.to_string();
    ASSERT_EQ(is_contiguous(shape, strides), side_by_side) << shape.to_string() << strides.to_string();
    ASSERT_EQ(value(element_count(shape)), count);
  }
}

}  // namespace
}  // namespace troupe
