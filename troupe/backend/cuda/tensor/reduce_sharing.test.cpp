#include "troupe/backend/cuda/tensor/reduce_sharing.hpp"

#include <gtest/gtest.h>

#include "troupe/backend/cuda/kernels/axes_builder.hpp"

namespace troupe::cuda {
namespace {

constexpr std::int64_t kCounts[] = {1, 2, 3, 16, 17, 1000, 4096, 1 << 20, (std::int64_t{1} << 33) + 1};

TEST(ReduceSharing, leaves_no_term_out) {
  for (const bool by_columns : {false, true})
    for (const std::int64_t outputs : kCounts)
      for (const std::int64_t steps : kCounts) {
        SCOPED_TRACE(testing::Message() << by_columns << ", " << outputs << " of " << steps);
        const Sharing sharing = share(by_columns, outputs, steps, 100'000);
        EXPECT_TRUE(std::has_single_bit(sharing.lanes));
        EXPECT_LE(sharing.lanes, 256U);
        EXPECT_GE(sharing.chunks * sharing.chunk_steps, steps);
        EXPECT_LT((sharing.chunks - 1) * sharing.chunk_steps, steps) << "no chunk is empty";
        EXPECT_LE(sharing.chunks, 65'535);
      }
}

TEST(ReduceSharing, has_one_chunk_where_outputs_are_enough) {
  constexpr std::int64_t kBusy = 100'000;
  EXPECT_EQ(share(false, kBusy, 1 << 10, kBusy).chunks, 1);
  EXPECT_EQ(share(true, kBusy, 1 << 10, kBusy).chunks, 1);
  EXPECT_EQ(share(true, kBusy, 1 << 10, kBusy).lanes, 1U);
  EXPECT_EQ(share(false, 1, 1 << 20, kBusy).lanes, 256U);
  EXPECT_EQ(share(false, 1, 1 << 20, kBusy).chunks, kBusy / 256) << "all at once, and no more";
  EXPECT_EQ(share(false, 1, 4096, kBusy).chunks, 1) << "too few terms for a second kernel";
  EXPECT_EQ(share(false, 7, 0, kBusy).chunks, 1) << "nothing at all is one chunk";
}

TEST(ReduceSharing, goes_by_columns_where_outputs_are_neighbours) {
  const auto axes = [](std::int64_t extent, std::int64_t stride) {
    AxesBuilder<1> builder;
    builder.add(extent, {stride});
    return builder.merged();
  };
  EXPECT_TRUE(is_by_columns(axes(100, 1), axes(50, 100)));
  EXPECT_FALSE(is_by_columns(axes(100, 50), axes(50, 1)));
  EXPECT_FALSE(is_by_columns(axes(1, 1), axes(50, 2))) << "there is one output";
  EXPECT_TRUE(is_by_columns(axes(100, -1), axes(50, 100)));
  EXPECT_FALSE(is_by_columns(axes(100, 0), axes(50, 1))) << "the outputs are the same, not neighbours";
}

TEST(ReduceSharing, has_few_threads_for_few_chunks) {
  EXPECT_EQ(lanes_of_chunks(1, 2), 1U);
  EXPECT_EQ(lanes_of_chunks(1, 512), 256U);
  EXPECT_EQ(lanes_of_chunks(1 << 20, 4), 1U);
}

}  // namespace
}  // namespace troupe::cuda
