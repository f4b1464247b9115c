#include "troupe/device/death_watch.hpp"

#include <gtest/gtest.h>

#include <array>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe::detail {
namespace {

/// Lines that threads of this process hold.
struct Holder {
  explicit Holder(wire::LifeLine& line)
      : thread([this, &line](const std::stop_token& stop) {
          line.hold();
          holds = true;
          while (!stop.stop_requested()) std::this_thread::yield();
        }) {
    while (!holds) std::this_thread::yield();
  }
  std::atomic<bool> holds{false};
  std::jthread thread;
};

struct DeathWatchTest : DeviceTest {
  std::array<wire::LifeLine, 3> lines;
  std::atomic<std::int64_t> died{0};
  std::atomic<int> deaths{0};
  DeathWatch watch{[this](std::int64_t generation) {
    died = generation;
    ++deaths;
  }};
};

TEST_F(DeathWatchTest, tells_of_one_after_another_and_of_the_one_that_serves_only) {
  ASSERT_TRUE(watch.start());
  for (std::int64_t generation = 1; generation <= 20; ++generation) {
    Holder serves(lines[static_cast<std::size_t>(generation % 2)]);
    {
      const Holder nobody_looks(lines[2]);
    }
    watch.watch(lines[static_cast<std::size_t>(generation % 2)], generation);
    EXPECT_EQ(died, generation - 1);
    serves.thread.request_stop();
    eventually([&] { return died == generation; });
  }
  EXPECT_EQ(deaths, 20);
}

TEST_F(DeathWatchTest, says_nothing_of_one_that_was_replaced) {
  ASSERT_TRUE(watch.start());
  const Holder second(lines[1]);
  {
    const Holder first(lines[0]);
    watch.watch(lines[0], 1);
    watch.watch(lines[1], 2);
  }
  watch.stop();
  EXPECT_EQ(deaths, 0);
}

TEST_F(DeathWatchTest, stops_whether_it_has_somebody_to_watch_or_not) {
  watch.stop();  // it was not started
  DeathWatch other{[](std::int64_t) {}};
  ASSERT_TRUE(other.start());
  const Holder serves(lines[0]);
  other.watch(lines[0], 1);
}  // it does not wait for anybody to die

}  // namespace
}  // namespace troupe::detail
