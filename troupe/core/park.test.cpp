#include "troupe/core/park.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

namespace troupe {

using namespace std::chrono_literals;

// It yields, and the kernel gives the core to the other thread for milliseconds: once, not every time.
TEST(Spin, keeps_a_core_that_it_did_not_get_back_soon) {
  const auto stay_here = [core = sched_getcpu()] {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<unsigned>(core), &only);
    return sched_setaffinity(0, sizeof only, &only) == 0;
  };
  std::atomic<bool> done{false};
  std::atomic<bool> computes{false};
  std::jthread computing([&] {
    EXPECT_TRUE(stay_here());
    for (computes = true; !done.load(std::memory_order_relaxed);) relax_core();
  });
  std::jthread spinning([&] {
    EXPECT_TRUE(stay_here());
    while (!computes) std::this_thread::yield();
    constexpr int kSpins = 500;
    int lost = 0;
    for (int i = 0; i < kSpins; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      spin_until([] { return false; });
      if (std::chrono::steady_clock::now() - begin > 500us) ++lost;
    }
    EXPECT_LT(lost, kSpins / 2);
    done = true;
  });
}

TEST(Parker, keeps_a_token_given_before_anybody_sleeps) {
  Parker parker;
  parker.unpark();
  parker.park();  // would hang if the token were lost
  EXPECT_FALSE(parker.park_until(std::chrono::steady_clock::now() + 1ms));
}

TEST(Parker, wakes_the_sleeper_and_shows_it_what_was_written) {
  Parker there, back;
  int value = 0;
  std::thread sleeper([&] {
    for (int i = 1; i <= 1000; ++i) {
      there.park();
      EXPECT_EQ(value, i);
      back.unpark();
    }
  });
  for (int i = 1; i <= 1000; ++i) {
    value = i;
    there.unpark();
    back.park();
  }
  sleeper.join();
}

TEST(Parker, gives_up_at_its_time_and_not_before) {
  Parker parker;
  const auto until = std::chrono::steady_clock::now() + 20ms;
  EXPECT_FALSE(parker.park_until(until));
  EXPECT_GE(std::chrono::steady_clock::now(), until);
}

TEST(Spin, ends_when_the_condition_holds_or_the_time_is_over) {
  int asked = 0;
  EXPECT_TRUE(spin_until([&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(spin_until([] { return false; }));
}

// A spin with a limit above kSpinTime looks without pauses first, and then with them.
TEST(Spin, looks_on_after_the_time_without_rests) {
  const auto passed_since = [](TimePoint start) { return std::chrono::steady_clock::now() - start; };
  const TimePoint start = std::chrono::steady_clock::now();
  EXPECT_TRUE(spin_until([&] { return passed_since(start) > 4 * kSpinTime; }, 1000 * kSpinTime));

  const TimePoint again = std::chrono::steady_clock::now();
  EXPECT_FALSE(spin_until([] { return false; }, 5 * kSpinTime));
  EXPECT_GE(passed_since(again), 5 * kSpinTime);

  Spin long_one(2 * kSpinTime);
  EXPECT_FALSE(long_one.rests());
  while (long_one.goes_on()) {
  }
  EXPECT_TRUE(long_one.rests()) << "it is past the time without rests";
  EXPECT_TRUE(Spin(kSpinTime).rests());
}

}  // namespace troupe
