#include "troupe/backend/cuda/kernels/group_axes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "troupe/backend/cuda/kernels/axes_builder.hpp"

namespace troupe::cuda {
namespace {

TEST(Divisor, divides_as_the_processor_does) {
  const std::vector<unsigned> extents{1,  2,   3,      5,      7,         31,         32,
                                      33, 641, 65'535, 65'536, 6'700'417, 0x3fffffff, 0x7fffffff};
  const std::vector<unsigned> numbers{0, 1, 2, 6, 7, 8, 31, 32, 33, 999, 65'536, 123'456'789, 0x7ffffffe, 0x7fffffff};
  for (const unsigned extent : extents)
    for (const unsigned number : numbers)
      EXPECT_EQ(divided(number, divisor_of(extent)), number / extent) << number << " by " << extent;
}

/// Two arrays: the places that all threads of all blocks take of the first, and the place in the second of each.
template <int items, int block_groups>
std::map<long long, long long> taken(const GroupAxes<2>& axes) {
  std::map<long long, long long> places;
  for (long long block = 0; block < blocks_of(axes, block_groups); ++block)
    for (unsigned thread = 0; thread < block_groups; ++thread) {
      const GroupPlace<2> place = place_of_thread<items, block_groups>(axes, static_cast<unsigned>(block), thread);
      for (int i = 0; i < place.items; ++i) {
        const long long at = place.at[0] + i * axes.strides[0];
        EXPECT_TRUE(places.emplace(at, place.at[1] + i * axes.strides[1]).second) << at << " was taken twice";
      }
    }
  return places;
}

struct Axis {
  std::int64_t extent;
  std::int64_t first;
  std::int64_t second;
};
using Axes = std::vector<Axis>;

std::map<long long, long long> all_places(const Axes& axes) {
  std::map<long long, long long> places{{0, 0}};
  for (const Axis& axis : axes) {
    std::map<long long, long long> longer;
    for (const auto& [first, second] : places)
      for (std::int64_t i = 0; i < axis.extent; ++i) longer[first + i * axis.first] = second + i * axis.second;
    places = std::move(longer);
  }
  return places;
}

KernelAxes<2> arranged(const Axes& axes) {
  AxesBuilder<2> builder;
  for (const Axis& axis : axes) builder.add(axis.extent, {axis.first, axis.second});
  return builder.arranged(1);
}

const std::vector<Axes> kCases{
    {},                                           // one element
    {{0, 1, 1}},                                  // none
    {{1001, 1, 1}},                               // a ragged row
    {{7, 13, 26}, {13, 1, 1}},                    // ragged rows with gaps
    {{40, 1, 67}, {67, 40, 1}},                   // transposed
    {{5, 4000, 3000}, {40, 1, 75}, {67, 41, 1}},  // many of them, with gaps
    {{3, -700, 700}, {9, -70, 70}, {65, -1, 1}},  // backwards
    {{2, 729, 1458}, {3, 243, 486}, {3, 81, 162}, {3, 27, 54}, {3, 9, 18}, {3, 3, 6}, {3, 1, 2}},
};

TEST(GroupAxes, take_every_element_once) {
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    SCOPED_TRACE(i);
    const KernelAxes<2> axes = arranged(kCases[i]);
    EXPECT_EQ((taken<4, 256>(grouped(axes, 4))), all_places(kCases[i]));
    EXPECT_EQ((taken<8, 256>(grouped(axes, 8))), all_places(kCases[i]));
    EXPECT_EQ((taken<2, 512>(grouped(axes, 2))), all_places(kCases[i]));
    EXPECT_EQ((taken<1, 256>(grouped(axes, 1))), all_places(kCases[i]));
  }
}

TEST(GroupAxes, take_every_element_once_in_tiles) {
  for (const std::size_t i : {4, 5}) {
    SCOPED_TRACE(i);
    GroupAxes<2> axes = grouped(arranged(kCases[i]), 4);
    make_tiles(axes, 256);
    EXPECT_GT(axes.depth, 0);
    EXPECT_EQ((taken<4, 256>(axes)), all_places(kCases[i]));
    GroupAxes<2> wide = grouped(arranged(kCases[i]), 2);
    make_tiles(wide, 512);
    EXPECT_EQ((taken<2, 512>(wide)), all_places(kCases[i]));
  }
}

TEST(GroupAxes, have_tiles_only_where_an_array_is_denser_along_another_axis) {
  GroupAxes<2> dense = grouped(arranged({{100, 200, 100}, {100, 1, 1}}), 4);
  make_tiles(dense, 256);
  EXPECT_EQ(dense.depth, 0);
  GroupAxes<2> narrow = grouped(arranged({{100, 1, 4}, {4, 100, 1}}), 4);
  make_tiles(narrow, 256);
  EXPECT_EQ(narrow.depth, 0) << "its rows are too short";
}

TEST(GroupAxes, are_read_in_one_access_where_rows_stay_aligned) {
  const auto way = [](const Axes& axes, std::uint64_t address) {
    return way_of(grouped(arranged(axes), 4), 0, 4, address, 4);
  };
  EXPECT_EQ(way({{1001, 1, 1}}, 256), Way::whole);
  EXPECT_EQ(way({{1001, 1, 1}}, 264), Way::strided) << "it begins between two vectors";
  EXPECT_EQ(way({{10, 24, 12}, {12, 1, 1}}, 256), Way::whole);
  EXPECT_EQ(way({{10, 13, 12}, {12, 1, 1}}, 256), Way::strided) << "its second row does";
  EXPECT_EQ(way({{10, 12, 12}, {12, -1, 1}}, 256), Way::strided);
  EXPECT_EQ(way({{10, 1, 12}, {12, 0, 1}}, 256), Way::single);
}

TEST(GroupAxes, are_parted_into_fewer_groups) {
  for (std::size_t i = 0; i < kCases.size(); ++i)
    for (const long long most : {3, 40, 1000}) {
      SCOPED_TRACE(testing::Message() << i << ", at most " << most);
      std::map<long long, long long> places;
      const auto run = [&](const KernelAxes<2>& part, const ArrayOffsets<2>& begin) -> Result<void> {
        const GroupAxes<2> groups = grouped(part, 4);
        EXPECT_TRUE(groups.groups <= most || groups.rows.rank == 0);
        for (const auto& [first, second] : taken<4, 256>(groups))
          EXPECT_TRUE(places.emplace(begin.at[0] + first, begin.at[1] + second).second);
        return {};
      };
      EXPECT_TRUE(in_parts(arranged(kCases[i]), 4, run, most));
      EXPECT_EQ(places, all_places(kCases[i]));
    }
}

TEST(GroupAxes, find_their_way_beyond_32_bits) {
  const GroupAxes<2> rows = grouped(arranged({{1 << 20, 1 << 14, 3 << 14}, {1 << 14, 1, 1}}), 4);
  const long long number = (777'777LL << 12) + 5;
  const GroupPlace<2> place = place_of_group<4>(rows, number);
  EXPECT_EQ(place.at[0], 777'777LL * (1 << 14) + 20);
  EXPECT_EQ(place.at[1], 777'777LL * (3 << 14) + 20);
  EXPECT_EQ(place.first, number * 4);
  const GroupAxes<2> row = grouped(arranged({{1LL << 40, 1, 2}}), 4);
  EXPECT_EQ((place_of_thread<4, 256>(row, 1U << 29, 17).at[1]), ((1LL << 37) + 17) * 8);
}

}  // namespace
}  // namespace troupe::cuda
