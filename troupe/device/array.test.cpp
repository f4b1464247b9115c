#include "troupe/device/array.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "troupe/device/chunks.test.hpp"
#include "troupe/device/vault.hpp"

namespace troupe {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

template <class T>
void expect_invalid(const Result<T>& result, std::string_view what) {
  ASSERT_FALSE(result) << what;
  EXPECT_EQ(result.error().kind(), ErrorKind::invalid_argument);
  EXPECT_NE(result.error().message().find(what), std::string_view::npos) << result.error().message();
}

/// The flat numbers of the elements, counted from the block's start, in row-major order of the view.
std::vector<std::int64_t> offsets(const AnyArray& array) {
  std::vector<std::int64_t> found{
      static_cast<std::int64_t>(array.view().address - (array ? array.block()->address() : 0)) /
      size_bytes(array.dtype())};
  for (int d = 0; d < array.rank(); ++d) {
    std::vector<std::int64_t> further;
    for (const std::int64_t start : found)
      for (std::int64_t i = 0; i < array.shape()[d]; ++i) further.push_back(start + i * array.strides()[d]);
    found = std::move(further);
  }
  return found;
}

class ArrayTest : public testing::Test {
 protected:
  template <Element T = float>
  Array<T> make(const Shape& shape) {
    const auto bytes = static_cast<std::uint64_t>(value(size_bytes(shape, dtype_of<T>)));
    return value(Array<T>::over(value(vault->allocate(bytes)), shape));
  }

  using Offsets = std::vector<std::int64_t>;
  detail::IntrusivePtr<detail::Vault> vault =
      value(detail::Vault::create({.limit_bytes = 1 << 20}, 5, std::make_shared<TestChunks>()));
  detail::IntrusivePtr<detail::VaultBlock> front = value(vault->allocate(1));  // so that offsets are not 0
};

TEST_F(ArrayTest, lies_row_major_over_its_block) {
  const Array<float> array = make({2, 3});
  EXPECT_TRUE(array);
  EXPECT_EQ(array.shape(), (Shape{2, 3}));
  EXPECT_EQ(array.strides(), (Strides{3, 1}));
  EXPECT_EQ(array.rank(), 2);
  EXPECT_EQ(array.dtype(), DType::f32);
  EXPECT_EQ(array.element_count(), 6);
  EXPECT_EQ(array.size_bytes(), 24);
  EXPECT_TRUE(array.is_contiguous());
  EXPECT_EQ(array.device(), 5);
  EXPECT_EQ(array.view().address, array.block()->address());
  EXPECT_EQ(array.range(), array.block()->range());
}

TEST_F(ArrayTest, of_rank_0_is_one_element) {
  const Array<double> scalar = make<double>({});
  EXPECT_EQ(scalar.element_count(), 1);
  EXPECT_EQ(scalar.size_bytes(), 8);
  EXPECT_EQ(scalar.transpose().rank(), 0);
  EXPECT_EQ(value(scalar.reshape({1, 1})).shape(), (Shape{1, 1}));
  expect_invalid(scalar.select(0, 0), "the array is []; it has no dimension 0");
}

TEST_F(ArrayTest, does_not_lie_over_a_block_that_is_too_small) {
  expect_invalid(Array<float>::over(value(vault->allocate(23)), {2, 3}),
                 "the shape [2, 3] of f32 needs 24 bytes; the block has 23");
  expect_invalid(Array<float>::over(nullptr, {2, 3}), "an array needs a block of memory; there is none");
}

TEST_F(ArrayTest, refuses_shapes_that_overflow) {
  const auto block = value(vault->allocate(8));
  expect_invalid(Array<float>::over(block, {kMost, 2}), "63 bits");
  expect_invalid(Array<float>::over(block, {kMost / 2}), "more bytes than 63 bits");
  expect_invalid(Array<float>::over(block, {-1}), "negative");
  expect_invalid(Array<float>::over(block, {1, 1, 1, 1, 1, 1, 1, 1, 1}), "too many dimensions; at most 8 are possible");
  expect_invalid(make({2}).broadcast({kMost, 2}), "63 bits");
  expect_invalid(make({2}).broadcast({kMost / 4, 2}), "more bytes than 63 bits");
  expect_invalid(make({2}).reshape({kMost, kMost}), "63 bits");
}

TEST_F(ArrayTest, keeps_its_memory_as_long_as_a_view_of_it_lives) {
  Array<float> array = make({4, 4});
  Array<float> row = value(array.select(0, 1));
  array = {};
  EXPECT_EQ(vault->stats().blocks, 2U);
  row = {};
  EXPECT_EQ(vault->stats().blocks, 1U);
}

TEST_F(ArrayTest, copies_share_the_memory) {
  const Array<float> array = make({4});
  const Array<float> copy = array;  // NOLINT(performance-unnecessary-copy-initialization): it is what is tested
  EXPECT_EQ(copy.block(), array.block());
  EXPECT_EQ(copy.view(), array.view());
}

TEST_F(ArrayTest, moved_from_is_empty) {
  Array<double> from = make<double>({2, 3});
  Array<double> to = std::move(from);
  // NOLINTBEGIN(bugprone-use-after-move): it is what is tested
  EXPECT_FALSE(from);
  EXPECT_EQ(from.rank(), 0);
  EXPECT_EQ(from.element_count(), 0);
  EXPECT_EQ(from.dtype(), DType::f64);
  expect_invalid(from.slice(0, 0, 1), "the array is an empty handle");
  from = std::move(to);
  EXPECT_TRUE(from);
  EXPECT_FALSE(to);
  EXPECT_EQ(from.shape(), (Shape{2, 3}));
  Array<double>& same = from;
  from = std::move(same);
  EXPECT_EQ(from.element_count(), 6);
  // NOLINTEND(bugprone-use-after-move)
}

TEST_F(ArrayTest, that_is_empty_answers_everything_with_an_error) {
  const Array<std::int8_t> none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.element_count(), 0);
  EXPECT_EQ(none.size_bytes(), 0);
  EXPECT_EQ(none.device(), -1);
  EXPECT_EQ(none.dtype(), DType::i8);
  EXPECT_TRUE(none.range().empty());
  EXPECT_FALSE(none.transpose());
  expect_invalid(none.slice(0, 0, 0), "slice: the array is an empty handle: default-constructed or moved from");
  expect_invalid(none.select(0, 0), "select: the array is an empty handle");
  expect_invalid(none.reshape({1}), "reshape: the array is an empty handle");
  expect_invalid(none.permute({}), "permute: the array is an empty handle");
  expect_invalid(none.broadcast({1}), "broadcast: the array is an empty handle");
  expect_invalid(none.as<std::int8_t>(), "the array is an empty handle");
}

TEST_F(ArrayTest, slices_by_step) {
  const Array<float> array = make({10});
  EXPECT_EQ(offsets(value(array.slice(0, 2, 5))), (Offsets{2, 3, 4}));
  EXPECT_EQ(offsets(value(array.slice(0, 1, 10, 3))), (Offsets{1, 4, 7}));
  EXPECT_EQ(offsets(value(array.slice(0, 1, 8, 3))), (Offsets{1, 4, 7}));
  EXPECT_EQ(offsets(value(array.slice(0, 1, 7, 3))), (Offsets{1, 4}));
  EXPECT_EQ(offsets(value(array.slice(0, 4, 5, kMost))), (Offsets{4}));
}

TEST_F(ArrayTest, slices_downwards_by_a_negative_step) {
  const Array<float> array = make({5});
  const Array<float> reverse = value(array.slice(0, 4, -1, -1));
  EXPECT_EQ(offsets(reverse), (Offsets{4, 3, 2, 1, 0}));
  EXPECT_EQ(reverse.range(), array.range());
  EXPECT_FALSE(reverse.is_contiguous());
  EXPECT_EQ(offsets(value(reverse.slice(0, 4, -1, -1))), (Offsets{0, 1, 2, 3, 4}));
  EXPECT_EQ(offsets(value(array.slice(0, 4, 0, -2))), (Offsets{4, 2}));
  EXPECT_EQ(offsets(value(array.slice(0, 4, -1, -4))), (Offsets{4, 0}));
  EXPECT_EQ(offsets(value(array.slice(0, 3, 2, kLeast))), (Offsets{3}));
  EXPECT_EQ(value(array.slice(0, 2, 2, -1)).element_count(), 0);
}

TEST_F(ArrayTest, counts_dimensions_and_indices_below_zero_from_the_end) {
  const Array<float> line = make({5});
  EXPECT_EQ(offsets(value(line.slice(0, -3, -1))), (Offsets{2, 3}));
  EXPECT_EQ(offsets(value(line.slice(-1, -1, -1, -1))), (Offsets{4, 3, 2, 1, 0}));
  EXPECT_EQ(offsets(value(line.slice(0, -2, 0, -1))), (Offsets{3, 2, 1}));
  const Array<float> array = make({2, 3, 4});
  EXPECT_EQ(value(array.slice(-1, 1, 3)).view(), value(array.slice(2, 1, 3)).view());
  EXPECT_EQ(value(array.select(-3, -1)).view(), value(array.select(0, 1)).view());
  EXPECT_EQ(value(array.permute({-1, 0, -2})).view(), value(array.permute({2, 0, 1})).view());
}

TEST_F(ArrayTest, slices_of_slices_add_up) {
  const Array<float> array = make({6, 8});
  const Array<float> part = value(value(array.slice(0, 1, 6, 2)).slice(1, 7, 0, -3));  // rows 1 3 5, columns 7 4 1
  EXPECT_EQ(part.shape(), (Shape{3, 3}));
  const Array<float> inner = value(value(part.slice(0, 1, 3)).slice(1, 1, 2));  // rows 3 5, column 4
  EXPECT_EQ(offsets(inner), (Offsets{3 * 8 + 4, 5 * 8 + 4}));
  EXPECT_EQ(inner.size_bytes(), 8);
  EXPECT_EQ(inner.range(), (op::Range{array.view().address + 112, array.view().address + 180}));
}

TEST_F(ArrayTest, refuses_slices_outside_of_it) {
  const Array<float> array = make({3, 4});
  expect_invalid(array.slice(2, 0, 1), "slice: the array is [3, 4]; it has no dimension 2");
  expect_invalid(array.slice(-3, 0, 1), "it has no dimension -3");
  expect_invalid(array.slice(1, 0, 5), "slice from 0 to 5 with step 1 does not lie in dimension 1 of [3, 4]");
  expect_invalid(array.slice(1, -1, 2), "slice from -1 to 2 with step 1 does not lie in");
  expect_invalid(array.slice(1, -5, 2), "does not lie in");
  expect_invalid(array.slice(1, 3, 2), "does not lie in");
  expect_invalid(array.slice(1, 4, 0, -1), "does not lie in");
  expect_invalid(array.slice(1, 3, -2, -1), "does not lie in");
  expect_invalid(array.slice(1, 1, 3, -1), "does not lie in");
  expect_invalid(array.slice(1, kLeast, kMost), "does not lie in");
  expect_invalid(array.slice(1, 0, 1, 0), "step is 0; it must not be 0");
}

TEST_F(ArrayTest, selects_one_index_and_drops_the_dimension) {
  const Array<float> array = make({2, 3, 4});
  const Array<float> row = value(array.select(1, 2));
  EXPECT_EQ(row.shape(), (Shape{2, 4}));
  EXPECT_EQ(row.strides(), (Strides{12, 1}));
  EXPECT_EQ(offsets(row), (Offsets{8, 9, 10, 11, 20, 21, 22, 23}));
  const Array<float> one = value(value(row.select(0, 1)).select(0, 3));
  EXPECT_EQ(one.rank(), 0);
  EXPECT_EQ(offsets(one), (Offsets{23}));
  expect_invalid(array.select(1, 3), "select: index is 3; dimension 1 of [2, 3, 4] has 3 indices, counted from 0");
  expect_invalid(array.select(1, -4), "index is -4");
}

TEST_F(ArrayTest, reshapes_when_it_is_contiguous) {
  const Array<float> array = make({2, 6});
  EXPECT_EQ(value(array.reshape({3, 4})).strides(), (Strides{4, 1}));
  EXPECT_EQ(value(array.reshape({3, -1, 2})).shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(value(array.reshape({-1})).shape(), (Shape{12}));
  EXPECT_EQ(value(value(array.slice(0, 1, 2)).reshape({2, 3})).view().address, array.view().address + 24);
}

TEST_F(ArrayTest, refuses_to_reshape_what_is_not_contiguous) {
  expect_invalid(make({2, 6}).transpose().reshape({12}),
                 "reshape: the array is [6, 2] with strides [1, 6]; it must be contiguous: copy it first");
  expect_invalid(value(make({4}).broadcast({3, 4})).reshape({12}), "it must be contiguous");
}

TEST_F(ArrayTest, refuses_shapes_with_other_numbers_of_elements) {
  const Array<float> array = make({2, 6});
  expect_invalid(array.reshape({5}), "reshape of [2, 6] to [5]: both must have as many elements");
  expect_invalid(array.reshape({-1, 5}), "no extent in place of -1 gives as many elements");
  expect_invalid(array.reshape({-1, 0}), "no extent in place of -1 gives as many elements");
  expect_invalid(array.reshape({-1, -1}), "only one extent may be -1");
  expect_invalid(array.reshape({-2}), "negative");
  expect_invalid(array.reshape({-1, -2}), "no extent in place of -1 gives as many elements");
  expect_invalid(array.reshape({-1, kMost, kMost}), "no extent in place of -1 gives as many elements");
}

TEST_F(ArrayTest, transposes_by_reversing_its_dimensions) {
  const Array<float> array = make({2, 3, 4});
  const Array<float> transposed = array.transpose();
  EXPECT_EQ(transposed.shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(transposed.strides(), (Strides{1, 4, 12}));
  EXPECT_EQ(transposed.transpose().view(), array.view());
}

TEST_F(ArrayTest, permutes_its_dimensions) {
  const Array<float> array = make({2, 3, 4});
  const Array<float> permuted = value(array.permute({2, 0, 1}));
  EXPECT_EQ(permuted.shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(permuted.strides(), (Strides{1, 12, 4}));
  EXPECT_EQ(value(array.permute(std::vector<int>{2, 1, 0})).view(), array.transpose().view());
  for (const auto& wrong : {std::vector<int>{0, 1}, {0, 1, 1}, {0, 1, 3}, {-4, 0, 1}, {0, 1, 2, 3}, {0, 1, 2, 2}})
    expect_invalid(array.permute(wrong), "the order must name each of the 3 dimensions once");
}

TEST_F(ArrayTest, broadcasts_extents_of_1_and_in_front) {
  const Array<float> column = make({3, 1});
  const Array<float> wide = value(column.broadcast({2, 3, 4}));
  EXPECT_EQ(wide.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(wide.strides(), (Strides{0, 1, 0}));
  EXPECT_EQ(wide.range(), column.range());
  EXPECT_TRUE(op::may_overlap_itself(wide.view()));
  EXPECT_EQ(value(column.broadcast({3, 1})).view(), column.view());
  EXPECT_EQ(value(make({}).broadcast({2, 2})).strides(), (Strides{0, 0}));
  EXPECT_EQ(value(column.broadcast({3, 0})).element_count(), 0);
  expect_invalid(column.broadcast({4, 4}),
                 "broadcast of [3, 1] to [4, 4]: counted from the last dimension, extents must be equal or 1");
  expect_invalid(column.broadcast({3}), "counted from the last dimension, extents must be equal or 1");
  expect_invalid(column.broadcast({3, -1}), "negative");
}

TEST_F(ArrayTest, without_elements_has_views_without_elements) {
  const Array<float> none = make({3, 0, 4});
  EXPECT_TRUE(none);
  EXPECT_EQ(none.element_count(), 0);
  EXPECT_TRUE(none.range().empty());
  EXPECT_TRUE(none.is_contiguous());
  EXPECT_EQ(value(none.select(0, 2)).shape(), (Shape{0, 4}));
  EXPECT_EQ(value(none.slice(0, 2, 0, -1)).shape(), (Shape{2, 0, 4}));
  EXPECT_EQ(value(none.slice(1, -1, -1, -1)).shape(), (Shape{3, 0, 4}));
  EXPECT_EQ(value(none.reshape({0, 7})).shape(), (Shape{0, 7}));
  expect_invalid(none.reshape({0, -1}), "no extent in place of -1 gives as many elements");
  expect_invalid(none.select(1, 0), "has 0 indices");
  EXPECT_EQ(value(make({3}).slice(0, 3, 3)).element_count(), 0);
}

TEST_F(ArrayTest, without_elements_may_have_any_extents) {
  const Array<float> none = make({0, kMost});
  const Array<float> far = value(none.slice(1, 0, kMost, kMost - 1));
  EXPECT_EQ(far.shape(), (Shape{0, 2}));
  EXPECT_EQ(value(far.slice(1, 2, 2)).shape(), (Shape{0, 0}));
  EXPECT_EQ(value(far.slice(1, 1, -1, -1)).shape(), (Shape{0, 2}));
}

TEST_F(ArrayTest, gets_its_type_back) {
  const AnyArray any = make<double>({2});
  EXPECT_EQ(value(any.as<double>()).view(), any.view());
  expect_invalid(any.as<float>(), "the array is f64; it must be f32");
  static_assert(std::is_convertible_v<Array<float>, AnyArray>);
  static_assert(!std::is_convertible_v<AnyArray, Array<float>>);
  static_assert(!std::is_constructible_v<Array<float>, AnyArray>);
}

TEST_F(ArrayTest, never_leaves_its_block_whatever_is_asked) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const auto below = [&](int bound) { return static_cast<std::int64_t>(random()) % bound; };
    AnyArray array = make({1 + below(5), below(4) + (round % 10 != 0), 1 + below(6)});
    for (int step = 0; step < 8; ++step) {
      const int dimension = static_cast<int>(below(4));
      const auto number = [&] { return below(9) - 2; };
      Result<AnyArray> next = array;
      switch (below(5)) {
        case 0:
        case 1: next = array.slice(dimension, number(), number(), number()); break;
        case 2: next = array.select(dimension, number()); break;
        case 3: next = array.transpose(); break;
        default: next = array.broadcast({2, array.rank() > 0 ? array.shape()[0] : 3}); break;
      }
      if (!next) continue;
      array = *next;
      for (const std::int64_t place : offsets(array)) {
        ASSERT_GE(place, 0);
        ASSERT_LT(static_cast<std::uint64_t>(place) * 4, array.block()->size_bytes());
      }
    }
  }
}

}  // namespace
}  // namespace troupe
