#include "troupe/wire/timeline.hpp"

#include <gtest/gtest.h>

namespace troupe::wire {
namespace {

TEST(Timeline, is_done_from_its_ticket_on) {
  Timeline timeline;
  EXPECT_FALSE(timeline.done(1));
  timeline.raise_to(2);
  EXPECT_TRUE(timeline.done(1));
  EXPECT_TRUE(timeline.done(2));
  EXPECT_FALSE(timeline.done(3));
}

TEST(Timeline, compares_right_across_the_wrap) {
  EXPECT_TRUE(reached(5, 0xfffffff0U));
  EXPECT_FALSE(reached(0xfffffff0U, 5));
  EXPECT_TRUE(reached(0, 0xffffffffU));
}

TEST(TimelineDeathTest, dies_when_it_would_shrink) {
  Timeline timeline;
  timeline.raise_to(7);
  EXPECT_DEATH(timeline.raise_to(6), "a timeline only grows");
}

}  // namespace
}  // namespace troupe::wire
