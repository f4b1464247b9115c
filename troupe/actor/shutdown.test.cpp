#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "troupe/actor/system.hpp"
#include "troupe/actor/testkit.hpp"
#include "troupe/actor/when.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct Work {
  using Reply = int;
};
struct Hang {
  using Reply = int;
};

struct Worker {
  explicit Worker(std::shared_ptr<std::atomic<int>> done_count) : done(std::move(done_count)) {}
  Task<int> on(Work) {
    co_await sleep_for(1ms);
    co_return ++*done;
  }
  Task<int> on(Hang) {
    co_await sleep_for(24h);
    co_return 0;
  }
  std::shared_ptr<std::atomic<int>> done;
};

struct Blocker {
  explicit Blocker(std::shared_ptr<std::atomic<bool>> go_on) : released(std::move(go_on)) {}
  int on(Work) {
    inside = true;
    while (!*released) std::this_thread::yield();
    return 1;
  }
  std::shared_ptr<std::atomic<bool>> released;
  static inline std::atomic<bool> inside = false;
};

}  // namespace

TEST(Shutdown, drains_what_is_queued) {
  System system({.log = log_nothing()});
  const auto done = std::make_shared<std::atomic<int>>(0);
  const auto worker = value(system.spawn<Worker>({}, done));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(worker.tell<Work>());
  const ShutdownReport report = value(system.shutdown(10s));
  EXPECT_TRUE(report.drained);
  EXPECT_TRUE(report.cut_off.empty());
  EXPECT_TRUE(report.stuck.empty());
  EXPECT_EQ(*done, 100);
  EXPECT_EQ(system.stats().actors, 0u);
}

TEST(Shutdown, cuts_off_at_the_deadline_and_reports_it) {
  System system({.log = log_nothing()});
  const auto worker =
      value(system.spawn<Worker>({.name = "w", .max_handlers = 1}, std::make_shared<std::atomic<int>>(0)));
  std::vector<std::thread> askers;
  std::atomic<int> stopped = 0;
  for (int i = 0; i < 3; ++i)
    askers.emplace_back([&] { stopped += worker.ask<Hang>().get().error().kind() == ErrorKind::stopped; });
  while (worker.load() < 3) std::this_thread::yield();
  const ShutdownReport report = value(system.shutdown(20ms));
  for (auto& asker : askers) asker.join();
  EXPECT_EQ(stopped, 3);
  EXPECT_FALSE(report.drained);
  ASSERT_EQ(report.cut_off.size(), 1u);
  EXPECT_EQ(report.cut_off[0].path, "/user/w");
  EXPECT_EQ(report.cut_off[0].messages, 2u);
  EXPECT_EQ(report.cut_off[0].handlers, 1u);
  EXPECT_TRUE(report.stuck.empty());
  const ShutdownReport again = value(system.shutdown(1s));
  EXPECT_FALSE(again.drained) << "a second shutdown reports what the first one did";
  EXPECT_EQ(again.cut_off.size(), 1u);
}

TEST(Shutdown, returns_although_a_handler_does_not_and_names_it) {
  const auto released = std::make_shared<std::atomic<bool>>(false);
  std::thread asker;
  {
    System system({.threads = 2, .log = log_nothing()});
    const auto blocker = value(system.spawn<Blocker>({.name = "blocker"}, released));
    ASSERT_TRUE(blocker.tell<Work>());
    ASSERT_TRUE(blocker.tell<Work>());
    while (!Blocker::inside) std::this_thread::yield();
    asker = std::thread([blocker] {
      const Result<int> ended = blocker.ask<Work>().get();
      EXPECT_EQ(ended.error().kind(), ErrorKind::stopped);
    });
    while (blocker.load() < 3) std::this_thread::yield();
    const ShutdownReport report = value(system.shutdown(5ms));
    EXPECT_FALSE(report.drained);
    ASSERT_EQ(report.stuck.size(), 1u);
    EXPECT_EQ(report.stuck[0], "/user/blocker");
    ASSERT_EQ(report.cut_off.size(), 1u) << "it is listed once";
    EXPECT_EQ(report.cut_off[0].path, "/user/blocker");
    *released = true;  // or the destructor would wait for it
  }
  asker.join();
}

TEST(Shutdown, takes_no_more_actors_and_threads) {
  System system({.log = log_nothing()});
  ASSERT_TRUE(system.shutdown(1s));
  EXPECT_EQ(system.spawn<Worker>({}, std::make_shared<std::atomic<int>>(0)).error().kind(), ErrorKind::stopped);
  EXPECT_EQ(system.pinned_thread("late").error().kind(), ErrorKind::stopped);
}

TEST(Shutdown, inside_a_handler_is_refused) {
  struct Suicidal {
    explicit Suicidal(System* whole) : system(whole) {}
    bool on(Work) { return system->shutdown(1s).has_value(); }
    System* system;
  };
  System system({.log = log_nothing()});
  const auto actor = value(system.spawn<Suicidal>({}, &system));
  EXPECT_EQ(actor.ask<Work>().get(), 0);
}

TEST(Shutdown, runs_in_virtual_time_too) {
  System system({.log = log_nothing(), .deterministic_seed = 3});
  const auto done = std::make_shared<std::atomic<int>>(0);
  const auto worker = value(system.spawn<Worker>({.max_handlers = 1}, done));
  for (int i = 0; i < 10; ++i) value(worker.tell<Work>());
  const ShutdownReport report = value(system.shutdown(5ms));
  EXPECT_FALSE(report.drained);
  EXPECT_GE(*done, 3);
  EXPECT_LE(*done, 6);
}

TEST(Blocked, a_handler_that_holds_its_thread_for_a_second_is_reported) {
  std::mutex mutex;
  std::vector<std::string> said;
  System system({.threads = 2, .log = [&](const LogRecord& record) {
                   const std::lock_guard lock(mutex);
                   said.push_back(std::string(record.source) + ": " + std::string(record.message));
                 }});
  const auto released = std::make_shared<std::atomic<bool>>(false);
  const auto blocker = value(system.spawn<Blocker>({.name = "slow"}, released));
  value(blocker.tell<Work>());
  const auto reported = [&] {
    const std::lock_guard lock(mutex);
    return !said.empty();
  };
  while (!reported()) std::this_thread::yield();
  *released = true;
  EXPECT_TRUE(said[0].starts_with("/user/slow: a handler has held its thread for 1")) << said[0];
}

TEST(Blocked, what_waits_behind_a_long_handler_is_moved_to_another_thread) {
  struct Tells {
    Tells(Ref<Worker> other, std::shared_ptr<std::atomic<int>> count) : to(std::move(other)), done(std::move(count)) {}
    int on(Work) {
      value(to.tell<Work>());  // into this thread's slot
      while (*done == 0) std::this_thread::yield();
      return 1;
    }
    Ref<Worker> to;
    std::shared_ptr<std::atomic<int>> done;
  };
  System system({.threads = 2, .log = log_nothing()});
  const auto done = std::make_shared<std::atomic<int>>(0);
  const auto worker = value(system.spawn<Worker>({}, done));
  const auto tells = value(system.spawn<Tells>({}, worker, done));
  EXPECT_EQ(tells.ask<Work>().get(), 1) << "or this would hang";
}

}  // namespace troupe
