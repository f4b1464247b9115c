#include "troupe/backend/cuda/memory/move_plan.hpp"

#include <gtest/gtest.h>

namespace troupe::cuda {
namespace {

struct Axis {
  std::int64_t extent;
  std::int64_t in;
  std::int64_t out;
};

Moved moved(std::int64_t size_bytes, const std::vector<Axis>& axes) {
  AxesBuilder<2> builder;
  for (const Axis& axis : axes) builder.add(axis.extent, {axis.in, axis.out});
  return {builder.arranged(1), size_bytes};
}

TEST(MovePlan, takes_neighbours_that_stay_neighbours_as_one_element) {
  const Moved wide = widened(moved(4, {{32, 64, 6400}, {100, 2048, 64}, {64, 1, 1}}), 0, 256);
  EXPECT_EQ(wide.size_bytes, 16);
  EXPECT_EQ(wide.axes.count, 32 * 100 * 16);
  EXPECT_EQ(wide.axes.strides[0][0], 16);
  EXPECT_EQ(wide.axes.strides[1][0], 1600);
  EXPECT_EQ(wide.axes.strides[0][2], 1);
}

TEST(MovePlan, widens_as_far_as_extents_strides_and_addresses_allow) {
  const std::vector<Axis> two{{100, 2, 300}, {50, 200, 2}, {2, 1, 1}};
  EXPECT_EQ(widened(moved(2, two), 0, 0).size_bytes, 4);
  EXPECT_EQ(widened(moved(2, two), 0, 0).axes.rank, 2) << "the pairs are elements now";
  EXPECT_EQ(widened(moved(2, two), 2, 0).size_bytes, 2);
  EXPECT_EQ(widened(moved(4, {{9, 24, 12}, {12, 1, 1}}), 0, 8).size_bytes, 8);
  EXPECT_EQ(widened(moved(4, {{9, 23, 12}, {12, 1, 1}}), 0, 0).size_bytes, 4);
  EXPECT_EQ(widened(moved(4, {{12, 2, 1}}), 0, 0).size_bytes, 4);
  EXPECT_EQ(widened(moved(1, {{13, 1, 1}}), 0, 0).size_bytes, 1);
  EXPECT_EQ(widened(moved(8, {}), 0, 0).size_bytes, 8);
}

TEST(MovePlan, has_tiles_where_the_dense_axes_differ) {
  PermutePlan plan{};
  ASSERT_TRUE(plan_tiles(moved(8, {{3, 4000, 4000}, {100, 1, 40}, {40, 100, 1}}), 0, 0, plan));
  EXPECT_FALSE(plan.in_words);
  EXPECT_EQ(plan.tiles.x_extent, 40);
  EXPECT_EQ(plan.tiles.y_extent, 100);
  EXPECT_EQ(plan.tiles.outer.count, 3);
  EXPECT_EQ(plan.tiles.x_tiles, 2U);
  EXPECT_EQ(plan.tiles.y_tiles, 4U);
  EXPECT_FALSE(plan_tiles(moved(4, {{100, 1, 4}, {4, 100, 1}}), 0, 0, plan)) << "too narrow";
  EXPECT_FALSE(plan_tiles(moved(4, {{100, 80, 40}, {40, 1, 1}}), 0, 0, plan)) << "nothing changes places";
}

TEST(MovePlan, has_tiles_of_words_where_small_elements_fill_them) {
  PermutePlan plan{};
  const std::vector<Axis> even{{200, 1, 80}, {80, 200, 1}};
  for (const std::int64_t size_bytes : {1, 2, 4}) {
    ASSERT_TRUE(plan_tiles(moved(size_bytes, even), 8, 16, plan));
    EXPECT_TRUE(plan.in_words) << size_bytes;
    ASSERT_TRUE(plan_tiles(moved(size_bytes, even), 8, 2, plan));
    EXPECT_FALSE(plan.in_words) << "the output begins within a word";
    ASSERT_TRUE(plan_tiles(moved(size_bytes, {{201, 1, 80}, {80, 201, 1}}), 0, 0, plan));
    EXPECT_FALSE(plan.in_words) << "rows of the input do";
    ASSERT_TRUE(plan_tiles(moved(size_bytes, {{200, 1, 24}, {24, 200, 1}}), 0, 0, plan));
    EXPECT_FALSE(plan.in_words) << "a tile would be more than half empty";
  }
}

}  // namespace
}  // namespace troupe::cuda
