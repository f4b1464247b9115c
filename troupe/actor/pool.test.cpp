#include "troupe/actor/pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <memory>
#include <set>
#include <thread>

#include "troupe/actor/testkit.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

/// Runs a number of times and counts.
struct Counter final : Runnable {
  void run() noexcept override {
    EXPECT_FALSE(inside.exchange(true)) << "two turns at a time";
    inside = false;
    const int runs = ++count;  // last: whoever waits for it may schedule again from here on
    if (runs % 10 != 0) pool->schedule(*this, runs % 2 ? Scheduling::ready : Scheduling::yields);
  }
  std::uint64_t id() const noexcept override { return 1; }
  Pool* pool = nullptr;
  std::atomic<int> count = 0;
  std::atomic<bool> inside = false;
};

struct ThreadOf {
  using Reply = std::thread::id;
};
struct CoreOf {
  using Reply = int;
};
struct Pinned {
  std::thread::id on(ThreadOf) { return std::this_thread::get_id(); }
  int on(CoreOf) { return sched_getcpu(); }
};

}  // namespace

TEST(Pool, runs_everything_that_is_scheduled) {
  for (const int threads : {1, 2, 4}) {
    auto pool = value(Pool::start({.threads = threads, .name = "pool", .core = {}}, [] {}));
    std::vector<Counter> counters(200);
    for (Counter& counter : counters) {
      counter.pool = pool.get();
      pool->schedule(counter, Scheduling::ready);
    }
    for (Counter& counter : counters)
      while (counter.count < 10) std::this_thread::yield();
    pool->join();
    for (Counter& counter : counters) EXPECT_EQ(counter.count, 10);
  }
}

TEST(Pool, wakes_from_sleep_every_time) {
  auto pool = value(Pool::start({.threads = 2, .name = "pool", .core = {}}, [] {}));
  Counter counter;
  counter.pool = pool.get();
  for (int round = 1; round <= 200; ++round) {
    pool->schedule(counter, Scheduling::ready);
    while (counter.count < round * 10) std::this_thread::yield();
    if (round % 20 == 0)
      while (pool->busy()) std::this_thread::yield();  // all asleep
  }
}

TEST(Pool, actors_of_one_pinned_thread_share_it) {
  System system({.log = log_nothing()});
  Dispatcher* thread = value(system.pinned_thread("gpu"));
  Dispatcher* other = value(system.pinned_thread("other"));
  std::set<std::thread::id> seen;
  for (int i = 0; i < 10; ++i)
    seen.insert(value(value(system.spawn<Pinned>({.dispatcher = thread})).ask<ThreadOf>().get()));
  EXPECT_EQ(seen.size(), 1u);
  seen.insert(value(value(system.spawn<Pinned>({.dispatcher = other})).ask<ThreadOf>().get()));
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_FALSE(seen.contains(std::this_thread::get_id()));
}

TEST(Pool, a_pinned_thread_stays_on_its_core) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int last = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<unsigned>(core), &allowed)) last = core;
  System system({.log = log_nothing()});
  const auto actor = value(system.spawn<Pinned>({.dispatcher = value(system.pinned_thread("core", last))}));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(actor.ask<CoreOf>().get(), last);
}

}  // namespace troupe
