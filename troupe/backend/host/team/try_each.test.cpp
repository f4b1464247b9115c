#include "troupe/backend/host/team/try_each.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace troupe::host {
namespace {

TEST(TryEach, takes_every_step_once) {
  for (const int size : {1, 2, 3}) {
    Team team(size);
    std::vector<std::atomic<int>> taken(1000);
    const Result<void> result = try_each(team, 1000, Grain::of_items(1), [&](std::int64_t i) {
      ++taken[static_cast<std::size_t>(i)];
      return Result<void>();
    });
    EXPECT_TRUE(result);
    for (const std::atomic<int>& times : taken) EXPECT_EQ(times, 1);
  }
}

TEST(TryEach, gives_the_error_of_the_first_step_that_failed) {
  for (const int size : {1, 2, 3}) {
    Team team(size);
    const Result<void> result = try_each(team, 1000, Grain::of_items(7), [](std::int64_t i) -> Result<void> {
      if (i % 100 == 77) return fail(ErrorKind::out_of_memory, std::to_string(i));
      return {};
    });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message(), "77");
  }
}

TEST(TryEach, does_nothing_for_no_steps) {
  EXPECT_TRUE(try_each(Team::of_one(), 0, Grain::of_items(1),
                       [](std::int64_t) -> Result<void> { return fail(ErrorKind::internal); }));
}

}  // namespace
}  // namespace troupe::host
