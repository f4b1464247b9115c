#include "troupe/backend/host/lanes/host_lane.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace troupe::host {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

template <class Done>
void wait_until(const Done& done) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "waited in vain";
    sched_yield();
  }
}

/// One lane whose work does nothing but say that it was run.
struct TestLane {
  std::atomic<std::uint64_t> word{0};
  wire::Timeline timeline{word, wire::MarkKey(7), 4};
  Progress progress;
  std::atomic<bool> open{true};
  std::atomic<int> threads{0};
  std::vector<wire::Ticket> run;  // by the lane's thread; read it after the timeline says so
  std::atomic<std::size_t> runs{0};
  HostLane::Hooks hooks{.execute =
                            [this](const backend::Work& work, const op::AnyOp&) {
                              run.push_back(work.ticket);
                              runs.fetch_add(1);
                              timeline.raise_to(work.ticket);
                              progress.made();
                            },
                        .ready = [this](const backend::Work&) { return open.load(); },
                        .in_new_thread = [this] { threads.fetch_add(1); }};
  std::unique_ptr<HostLane> lane = std::make_unique<HostLane>(4, timeline, progress, hooks);

  void push(wire::Ticket ticket) {
    backend::Work work;
    work.lane = 4;
    work.ticket = ticket;
    lane->push(work, {});
  }
  void let_through() {
    open.store(true);
    progress.made();
  }
  bool in_order(wire::Ticket last) const {
    for (wire::Ticket i = 0; i < last; ++i)
      if (run.at(i) != i + 1) return false;
    return run.size() == last;
  }
};

TEST(HostLane, runs_its_work_in_order) {
  TestLane test;
  for (wire::Ticket ticket = 1; ticket <= 5000; ++ticket) test.push(ticket);
  wait_until([&] { return test.timeline.done(5000); });
  EXPECT_TRUE(test.in_order(5000));
  EXPECT_TRUE(test.lane->completed({.lane = 4, .ticket = 5000}));
  EXPECT_FALSE(test.lane->completed({.lane = 4, .ticket = 5001}));
  EXPECT_TRUE(test.lane->idle_before(5001));
  EXPECT_FALSE(test.lane->idle_before(5002));
}

TEST(HostLane, has_no_thread_before_it_has_work_and_one_from_then_on) {
  TestLane test;
  EXPECT_EQ(test.lane->number(), 4U);
  EXPECT_EQ(test.threads, 0);
  for (wire::Ticket ticket = 1; ticket <= 3; ++ticket) {
    test.push(ticket);
    wait_until([&] { return test.timeline.done(ticket); });
    EXPECT_EQ(test.threads, 1);
  }
}

TEST(HostLane, wakes_for_work_that_comes_while_it_sleeps) {
  TestLane test;
  for (wire::Ticket ticket = 1; ticket <= 200; ++ticket) {
    test.push(ticket);
    wait_until([&] { return test.timeline.done(ticket); });
    if (ticket % 10 == 0) {  // longer than it spins
      const auto later = std::chrono::steady_clock::now() + 5 * kSpinTime;
      while (std::chrono::steady_clock::now() < later) sched_yield();
    }
  }
}

TEST(HostLane, begins_no_work_before_what_it_waits_for_is_done) {
  TestLane test;
  test.open = false;
  test.push(1);
  test.push(2);
  wait_until([&] { return test.threads == 1; });
  EXPECT_EQ(test.timeline.now(), 0U);
  EXPECT_FALSE(test.lane->idle_before(2));
  test.let_through();
  wait_until([&] { return test.timeline.done(2); });
  EXPECT_TRUE(test.in_order(2));
}

TEST(HostLane, finishes_what_was_handed_in_before_it_goes) {
  TestLane test;
  test.open = false;
  for (wire::Ticket ticket = 1; ticket <= 100; ++ticket) test.push(ticket);
  test.let_through();
  test.lane.reset();
  EXPECT_TRUE(test.in_order(100));
}

TEST(HostLane, goes_without_ever_having_had_work) {
  TestLane test;
  test.lane.reset();
  EXPECT_EQ(test.threads, 0);
}

TEST(HostLane, makes_who_hands_in_wait_when_its_queue_is_full) {
  TestLane test;
  test.open = false;
  std::atomic<wire::Ticket> pushed{0};
  std::thread pusher([&] {
    for (wire::Ticket ticket = 1; ticket <= 1000; ++ticket) {
      test.push(ticket);
      pushed.store(ticket);
    }
  });
  wait_until([&] { return pushed >= 256; });
  EXPECT_EQ(test.runs, 0U);
  EXPECT_LE(pushed, 257U);
  test.let_through();
  wait_until([&] { return test.timeline.done(1000); });
  pusher.join();
  EXPECT_TRUE(test.in_order(1000));
}

TEST(Progress, loses_no_wake_up) {
  constexpr std::uint32_t kRounds = 50'000;
  Progress progress;
  std::atomic<std::uint32_t> ping{0};
  std::atomic<std::uint32_t> pong{0};
  std::thread other([&] {
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      progress.wait_until([&] { return ping.load() >= round; });
      pong.store(round);
      progress.made();
    }
  });
  for (std::uint32_t round = 1; round <= kRounds; ++round) {
    ping.store(round);
    progress.made();
    progress.wait_until([&] { return pong.load() >= round; });
  }
  other.join();
  EXPECT_EQ(pong, kRounds);
}

}  // namespace
}  // namespace troupe::host
