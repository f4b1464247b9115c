#include <gtest/gtest.h>

#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "troupe/device/array.hpp"
#include "troupe/device/chunks.test.hpp"
#include "troupe/device/vault.hpp"

namespace troupe {
namespace {

template <class T>
void expect_invalid(const Result<T>& result, std::string_view what) {
  ASSERT_FALSE(result) << what;
  EXPECT_EQ(result.error().kind(), ErrorKind::invalid_argument);
  EXPECT_NE(result.error().message().find(what), std::string_view::npos) << result.error().message();
}

class HostArrayTest : public testing::Test {
 protected:
  HostArray<int> counting(const Shape& shape) {
    auto array = value(HostArray<int>::over(value(vault->allocate(4096)), shape));
    std::iota(array.begin(), array.end(), 0);
    return array;
  }

  std::shared_ptr<TestChunks> source = std::make_shared<TestChunks>();
  detail::IntrusivePtr<detail::Vault> vault = value(detail::Vault::create({.limit_bytes = 1 << 20}, 5, source));
};

TEST_F(HostArrayTest, is_read_and_written_like_a_vector) {
  HostArray<int> array = counting({2, 3});
  EXPECT_EQ(array.size(), 6);
  EXPECT_FALSE(array.empty());
  EXPECT_EQ(array.data(), reinterpret_cast<int*>(array.block()->data()));
  array[5] = 50;
  EXPECT_EQ(std::accumulate(array.begin(), array.end(), 0), 60);
  EXPECT_EQ(array.span().back(), 50);
  EXPECT_EQ(array.at({1, 2}), 50);
  array.at({0, 1}) = 7;
  EXPECT_EQ(array[1], 7);
}

TEST_F(HostArrayTest, gives_const_elements_when_it_is_const) {
  const HostArray<int> array = counting({2});
  static_assert(std::is_same_v<decltype(array.data()), const int*>);
  static_assert(std::is_same_v<decltype(array[0]), const int&>);
  static_assert(std::is_same_v<decltype(array.span()), std::span<const int>>);
  EXPECT_EQ(array[1] + array.at({1}) + *array.begin(), 2);
}

TEST_F(HostArrayTest, shares_its_memory_with_copies) {
  HostArray<int> array = counting({2});
  const HostArray<int> copy = array;
  array[0] = 9;
  EXPECT_EQ(copy[0], 9);
}

TEST_F(HostArrayTest, dies_at_an_index_outside) {
  HostArray<int> array = counting({2, 3});
  EXPECT_DEATH((void)array[6], "index 6 of 6 elements");
  EXPECT_DEATH((void)array[-1], "index -1 of 6 elements");
  EXPECT_DEATH((void)array.at({0, 3}), "index 3 of 3 elements");
  EXPECT_DEATH((void)array.at({0}), "an index for each dimension");
  EXPECT_DEATH((void)HostArray<int>()[0], "index 0 of 0 elements");
}

TEST_F(HostArrayTest, slices_rows_that_stay_contiguous) {
  const HostArray<int> array = counting({4, 3});
  HostArray<int> rows = value(array.slice_rows(1, 3));
  EXPECT_EQ(rows.shape(), (Shape{2, 3}));
  EXPECT_EQ(std::vector<int>(rows.begin(), rows.end()), (std::vector<int>{3, 4, 5, 6, 7, 8}));
  rows[0] = 99;
  EXPECT_EQ(array.at({1, 0}), 99);
  EXPECT_EQ(value(value(rows.slice_rows(1, 2)).reshape({3, 1})).at({2, 0}), 8);
  EXPECT_TRUE(value(array.slice_rows(4, 4)).empty());
  expect_invalid(array.slice_rows(3, 5), "does not lie in dimension 0");
  expect_invalid(HostArray<int>().slice_rows(0, 0), "the array is an empty handle");
  expect_invalid(counting({}).slice_rows(0, 0), "the array is []; it has no dimension 0");
}

TEST_F(HostArrayTest, is_made_from_views_that_it_can_be) {
  const HostArray<int> array = counting({4, 3});
  const HostArray<int> row = value(HostArray<int>::from(value(array.select(0, 2))));
  EXPECT_EQ(row[0], 6);
  expect_invalid(HostArray<int>::from(array.transpose()), "it must be contiguous");
  expect_invalid(HostArray<float>::from(array), "the array is i32; it must be f32");
  expect_invalid(HostArray<int>::from(AnyArray()), "the array is an empty handle");
  EXPECT_EQ(value(array.as<int>()).view(), array.view());
}

TEST_F(HostArrayTest, needs_memory_that_the_app_sees) {
  const auto unseen = std::make_shared<TestChunks>();
  unseen->visible = false;
  const auto other = value(detail::Vault::create({.limit_bytes = 4096}, 2, unseen));
  expect_invalid(HostArray<int>::over(value(other->allocate(8)), {2}), "memory of device 2 that the app cannot see");
  EXPECT_TRUE(HostArray<int>::over(value(other->allocate(8)), {0}));
}

TEST_F(HostArrayTest, without_elements_is_valid) {
  HostArray<int> none = value(HostArray<int>::over(value(vault->allocate(0)), {0, 3}));
  EXPECT_TRUE(none);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_EQ(value(none.reshape({3, 0})).shape(), (Shape{3, 0}));
}

TEST_F(HostArrayTest, moved_from_is_empty) {
  HostArray<int> from = counting({2});
  HostArray<int> to = std::move(from);
  // NOLINTBEGIN(bugprone-use-after-move): it is what is tested
  EXPECT_FALSE(from);
  EXPECT_EQ(from.size(), 0);
  EXPECT_EQ(from.data(), nullptr);
  from = std::move(to);
  EXPECT_TRUE(to.empty());
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(from[1], 1);
  HostArray<int>& same = from;
  from = std::move(same);
  EXPECT_EQ(from[1], 1);
}

TEST_F(HostArrayTest, holds_bools_as_bytes) {
  HostArray<bool> flags = value(HostArray<bool>::over(value(vault->allocate(3)), {3}));
  flags[0] = flags[2] = true;
  flags[1] = false;
  EXPECT_EQ(flags.block()->data()[2], std::byte{1});
  EXPECT_FALSE(flags[1]);
}

}  // namespace
}  // namespace troupe
