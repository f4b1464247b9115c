#include "troupe/core/clock.hpp"

#include <gtest/gtest.h>

namespace troupe {

using namespace std::chrono_literals;

TEST(Clock, steady_never_goes_backwards) {
  const detail::SteadyClock clock;
  TimePoint last = clock.now();
  for (int i = 0; i < 1000; ++i) {
    const TimePoint now = clock.now();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(Clock, virtual_stands_still_until_it_is_moved) {
  detail::VirtualClock clock;
  EXPECT_EQ(clock.now().time_since_epoch(), 0ns);
  EXPECT_EQ(clock.now().time_since_epoch(), 0ns);
  clock.advance(5ms);
  EXPECT_EQ(clock.now().time_since_epoch(), 5ms);
}

TEST(Clock, durations_print_in_the_largest_unit_that_shows_them_whole) {
  EXPECT_EQ(to_string(2s), "2 s");
  EXPECT_EQ(to_string(2500ms), "2500 ms");
  EXPECT_EQ(to_string(15us), "15 us");
  EXPECT_EQ(to_string(1ns), "1 ns");
}

TEST(Clock, virtual_ignores_times_that_have_passed) {
  detail::VirtualClock clock;
  clock.advance_to(TimePoint(10ms));
  clock.advance_to(TimePoint(3ms));
  EXPECT_EQ(clock.now().time_since_epoch(), 10ms);
}

}  // namespace troupe
