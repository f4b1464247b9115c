#include "troupe/actor/timer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace troupe {
namespace {

using namespace std::chrono_literals;

class Recorder final : public Timer {
 public:
  Recorder(std::vector<int>& fired, int number) : fired_(fired), number_(number) { ++alive; }
  ~Recorder() override { --alive; }
  void fire() noexcept override { fired_.push_back(number_); }
  static inline std::atomic<int> alive = 0;

 private:
  std::vector<int>& fired_;
  int number_;
};

detail::IntrusivePtr<Timer> recorder(std::vector<int>& fired, int number) {
  return detail::IntrusivePtr<Timer>::adopt(new Recorder(fired, number));
}

TimePoint at(Duration time) { return TimePoint(time); }

}  // namespace

TEST(TimerWheel, fires_in_order_and_never_early) {
  std::vector<int> fired;
  TimerWheel wheel(at(0ms), [] {});
  wheel.start(recorder(fired, 3), at(3ms));
  wheel.start(recorder(fired, 1), at(1ms));
  wheel.start(recorder(fired, 2), at(1'550'100ns));
  wheel.advance(at(999us));
  EXPECT_TRUE(fired.empty());
  wheel.advance(at(1ms));
  EXPECT_EQ(fired, std::vector({1}));
  wheel.advance(at(1'550'999ns));
  EXPECT_EQ(fired, std::vector({1}));
  wheel.advance(at(10ms));
  EXPECT_EQ(fired, std::vector({1, 2, 3}));
}

TEST(TimerWheel, tells_without_its_lock_whether_a_timer_is_due) {
  std::vector<int> fired;
  TimerWheel wheel(at(0ms), [] {});
  EXPECT_FALSE(wheel.is_due(at(1h)));
  wheel.start(recorder(fired, 1), at(1ms));
  const detail::IntrusivePtr<Timer> sooner = recorder(fired, 2);
  wheel.start(sooner, at(20us));
  EXPECT_FALSE(wheel.is_due(at(19us)));
  EXPECT_TRUE(wheel.is_due(at(20us)));
  wheel.cancel(*sooner);
  wheel.advance_if_free(at(21us));  // it may be early, but not for ever
  EXPECT_FALSE(wheel.is_due(at(22us)));
  EXPECT_TRUE(wheel.is_due(at(1ms)));
  wheel.advance_if_free(at(1ms));
  EXPECT_EQ(fired, std::vector({1}));
  EXPECT_FALSE(wheel.is_due(at(1h)));
}

TEST(TimerWheel, several_threads_that_fire_fire_each_timer_once) {
  std::vector<int> fired;  // one thread at a time writes it
  TimerWheel wheel(at(0ms), [] {});
  constexpr int kTimers = 20'000;
  for (int i = 0; i < kTimers; ++i) wheel.start(recorder(fired, i), at(i * 1us + 1us));
  std::atomic<int> now{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int here; (here = now.fetch_add(50)) <= kTimers;)
        if (wheel.is_due(at(here * 1us))) wheel.advance_if_free(at(here * 1us));
    });
  threads.clear();
  wheel.advance(at(1s));
  std::vector<int> all(kTimers);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(fired, all);
}

TEST(TimerWheel, timers_of_one_tick_fire_as_they_were_started) {
  std::vector<int> fired;
  TimerWheel wheel(at(0ms), [] {});
  for (int i = 0; i < 5; ++i) wheel.start(recorder(fired, i), at(100ms));
  wheel.advance(at(100ms));
  EXPECT_EQ(fired, std::vector({0, 1, 2, 3, 4}));
}

TEST(TimerWheel, a_cancelled_timer_never_fires) {
  std::vector<int> fired;
  TimerWheel wheel(at(0ms), [] {});
  auto timer = recorder(fired, 1);
  wheel.start(timer, at(5ms));
  EXPECT_TRUE(wheel.cancel(*timer));
  EXPECT_FALSE(wheel.cancel(*timer));
  wheel.advance(at(1s));
  EXPECT_TRUE(fired.empty());
  EXPECT_FALSE(wheel.next_due());
}

TEST(TimerWheel, can_start_a_timer_again_after_it_fired) {
  std::vector<int> fired;
  TimerWheel wheel(at(0ms), [] {});
  auto timer = recorder(fired, 7);
  for (int i = 1; i <= 3; ++i) {
    wheel.start(timer, at(i * 70ms));
    wheel.advance(at(i * 70ms));
  }
  EXPECT_EQ(fired.size(), 3u);
}

TEST(TimerWheel, says_when_an_earlier_timer_comes) {
  int earlier = 0;
  std::vector<int> fired;
  TimerWheel wheel(at(0ms), [&] { ++earlier; });
  wheel.start(recorder(fired, 1), at(50ms));
  wheel.start(recorder(fired, 2), at(60ms));
  EXPECT_EQ(earlier, 1);
  wheel.start(recorder(fired, 3), at(5ms));
  EXPECT_EQ(earlier, 2);
  EXPECT_LE(wheel.next_due(), at(5ms));
}

TEST(TimerWheel, timers_of_a_far_slot_move_a_few_at_a_time_and_fire_on_time) {
  constexpr int kTimers = 20'000;
  std::vector<int> fired;
  TimerWheel wheel(at(0ms), [] {});
  for (int i = 0; i < kTimers; ++i) wheel.start(recorder(fired, i), at(100s + i * TimerWheel::kTick));
  int checked = 0;
  int steps = 0;
  while (const auto next = wheel.next_due()) {
    wheel.advance(*next);
    ++steps;
    for (; checked < static_cast<int>(fired.size()); ++checked) {
      ASSERT_EQ(fired[static_cast<std::size_t>(checked)], checked);
      ASSERT_EQ(*next, at(100s + checked * TimerWheel::kTick));
    }
  }
  EXPECT_EQ(checked, kTimers);
  EXPECT_GT(steps, kTimers + 1000);  // one for each tick that is due, and those in which timers only move
}

TEST(TimerWheel, agrees_with_a_sorted_list_over_all_ranges) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<int> fired;
    std::vector<std::pair<std::int64_t, int>> expected;
    std::int64_t now = static_cast<std::int64_t>(random() % 10'000'000);  // in ticks
    TimerWheel wheel(at(0ms), [] {});
    wheel.advance(at(now * TimerWheel::kTick));
    std::vector<detail::IntrusivePtr<Timer>> timers;
    for (int i = 0; i < 300; ++i) {
      const std::int64_t away = 1 + static_cast<std::int64_t>(random() % (std::uint64_t{1} << (random() % 40)));
      timers.push_back(recorder(fired, i));
      wheel.start(timers.back(), at((now + away) * TimerWheel::kTick));
      if (random() % 4 == 0)
        EXPECT_TRUE(wheel.cancel(*timers.back()));
      else
        expected.emplace_back(now + away, i);
    }
    std::ranges::sort(expected);  // by time, then by start
    std::size_t checked = 0;
    while (const auto next = wheel.next_due()) {
      wheel.advance(*next);
      for (; checked < fired.size(); ++checked) {
        EXPECT_EQ(at(expected[checked].first * TimerWheel::kTick), *next);
        EXPECT_EQ(expected[checked].second, fired[checked]);
      }
    }
    EXPECT_EQ(checked, expected.size());
  }
  EXPECT_EQ(Recorder::alive, 0);
}

TEST(TimerWheel, keeps_times_beyond_its_range) {
  std::vector<int> fired;
  TimerWheel wheel(at(0ms), [] {});
  const auto years = 24h * 365 * 20;
  wheel.start(recorder(fired, 1), at(years));
  while (const auto next = wheel.next_due()) {
    EXPECT_LE(*next, at(years));
    wheel.advance(*next);
    EXPECT_EQ(fired.empty(), *next < at(years));
  }
  EXPECT_EQ(fired.size(), 1u);
}

TEST(TimerWheel, either_fires_or_is_cancelled_under_a_race) {
  std::vector<int> fired;
  TimerWheel wheel(at(0ms), [] {});
  std::vector<detail::IntrusivePtr<Timer>> timers;
  for (int i = 0; i < 2000; ++i) timers.push_back(recorder(fired, i));
  for (int i = 0; i < 2000; ++i) wheel.start(timers[static_cast<std::size_t>(i)], at((i + 1) * 1ms));
  std::atomic<int> cancelled = 0;
  std::thread canceller([&] {
    for (auto& timer : timers)
      if (wheel.cancel(*timer)) ++cancelled;
  });
  for (int i = 0; i <= 2000; ++i) wheel.advance(at(i * 1ms));
  canceller.join();
  EXPECT_EQ(fired.size() + static_cast<std::size_t>(cancelled), 2000u);
}

}  // namespace troupe
