#include "troupe/backend/sparse_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace troupe::backend::sparse {
namespace {

TEST(SparseSteps, sort_a_line_with_its_values) {
  std::mt19937_64 random(3);
  for (std::int64_t count = 0; count < 70; ++count) {
    std::vector<std::int32_t> indices(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int32_t>(3 * i);
    std::ranges::shuffle(indices, random);
    std::vector<double> values(indices.begin(), indices.end());
    sort_line(indices.data(), values.data(), count);
    EXPECT_TRUE(std::ranges::is_sorted(indices));
    EXPECT_TRUE(std::ranges::equal(indices, values));
  }
}

TEST(SparseSteps, never_write_more_nonzeros_than_there_is_room_for) {
  const std::vector<float> row{1, 0, 2, 0, 3};
  for (const std::int64_t room : {0, 2, 3, 4}) {
    std::vector<std::int32_t> indices(4, -1);
    std::vector<float> values(4, -1);
    const Finding found = fill_nonzeros(row.data(), 1, 5, 8, 0, room, indices.data(), values.data());
    EXPECT_EQ(found.fault, room == 3 ? Fault::none : Fault::other_nonzeros);
    EXPECT_EQ(found.line, 8);
    for (auto i = static_cast<std::size_t>(room); i < 4; ++i) EXPECT_EQ(indices[i], -1);
  }
}

TEST(SparseSteps, find_the_first_number_that_is_not_below) {
  const std::vector<std::int64_t> ascending{1, 3, 3, 8};
  for (std::int64_t number = 0; number < 10; ++number)
    EXPECT_EQ(first_not_below(ascending.data(), 0, 4, number),
              std::ranges::lower_bound(ascending, number) - ascending.begin());
}

TEST(SparseSteps, find_the_place_of_each_element_of_blocks) {
  // Rows of blocks with two blocks, none, and one.
  const std::vector<std::int32_t> offsets{0, 2, 2, 3};
  const std::vector<std::int32_t> indices{0, 3, 1};
  const Lines<std::int32_t> bsr{offsets.data(), indices.data(), 3, 4, 3};
  constexpr std::int64_t kBlock = 2;
  std::int64_t element = 0;
  for (std::int64_t line = 0; line < 3; ++line)
    for (std::int32_t i = offsets[static_cast<std::size_t>(line)]; i < offsets[static_cast<std::size_t>(line) + 1]; ++i)
      for (std::int64_t r = 0; r < kBlock; ++r)
        for (std::int64_t c = 0; c < kBlock; ++c, ++element) {
          const RowAndColumn at = position_in_blocks(bsr, kBlock, element);
          EXPECT_EQ(at.row, line * kBlock + r);
          EXPECT_EQ(at.column, indices[static_cast<std::size_t>(i)] * kBlock + c);
        }
  EXPECT_EQ(element, 12);
}

TEST(SparseSteps, write_verdicts_of_large_and_negative_numbers) {
  std::int32_t words[8] = {};
  write_verdict({Fault::index_outside, (std::int64_t{5} << 32) + 7, -2, std::int64_t{1} << 40}, 1, words);
  EXPECT_EQ(words[0], static_cast<std::int32_t>(Fault::index_outside));
  EXPECT_EQ(words[1], 1);
  EXPECT_EQ(words[2], 7);
  EXPECT_EQ(words[3], 5);
  EXPECT_EQ(words[4], -2);
  EXPECT_EQ(words[5], -1);
  EXPECT_EQ(words[6], 0);
  EXPECT_EQ(words[7], 256);
}

}  // namespace
}  // namespace troupe::backend::sparse
