#include "troupe/actor/system.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "troupe/actor/pool.hpp"
#include "troupe/actor/testkit.hpp"
#include "troupe/actor/when.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct Get {
  using Reply = int;
};
struct Tick {};

struct Idle {
  int on(Get) { return 1; }
};

System virtual_time(std::uint64_t seed = 1) { return System({.log = log_nothing(), .deterministic_seed = seed}); }

}  // namespace

TEST(Names, are_unique_under_one_parent_and_free_again_after_the_end) {
  System system = virtual_time();
  const auto first = value(system.spawn<Idle>({.name = "a"}));
  EXPECT_EQ(first.path(), "/user/a");
  const auto second = system.spawn<Idle>({.name = "a"});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(second.error().message(), "there is an actor at /user/a already");
  Probe<> probe(system);
  first.stop();
  ASSERT_TRUE(probe.expect_terminated(first));
  EXPECT_TRUE(system.spawn<Idle>({.name = "a"}));
}

TEST(Names, can_be_left_out_with_all_options) {
  struct Tree {
    explicit Tree(Context<Tree> self) : child(value(self.spawn<Idle>())) {}
    Task<Result<int>> on(Get) { co_return co_await child.ask<Get>(); }
    Ref<Idle> child;
  };
  System system = virtual_time();
  EXPECT_EQ(value(system.spawn<Idle>()).ask<Get>().get(), 1);
  EXPECT_EQ(value(system.spawn<Tree>()).ask<Get>().get(), 1);
}

TEST(Names, that_cannot_be_one_are_refused) {
  System system = virtual_time();
  for (const std::string& name : {std::string("a/b"), std::string("a b"), std::string("$1"), std::string("ä"),
                                  std::string(kMaxNameLength + 1, 'x')})
    EXPECT_EQ(system.spawn<Idle>({.name = name}).error().kind(), ErrorKind::invalid_argument) << name;
}

TEST(Names, find_checks_the_type) {
  System system = virtual_time();
  const auto idle = value(system.spawn<Idle>({.name = "idle"}));
  EXPECT_EQ(value(system.find<Idle>("/user/idle")), idle);
  EXPECT_EQ(system.find<Probe<>::Actor>("/user/idle").error().kind(), ErrorKind::invalid_argument);
  for (const char* path : {"/user/none", "/none", "", "user/idle", "/user/idle/", "//"})
    EXPECT_FALSE(system.find<Idle>(path)) << path;
}

TEST(System, refuses_options_that_cannot_be) {
  EXPECT_EQ(System::create({.threads = 0}).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(System::create({.threads = -1}).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(System::create({.threads = kMaxPoolThreads + 1}).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(System::create({.max_actors = 0}).error().kind(), ErrorKind::invalid_argument);
  EXPECT_THROW(System({.threads = 0}), Exception);
  System system = virtual_time();
  EXPECT_FALSE(system.spawn<Idle>({.mailbox_capacity = 0}));
  EXPECT_FALSE(system.spawn<Idle>({.mailbox_capacity = kMaxMailboxCapacity + 1}));
  EXPECT_FALSE(system.spawn<Idle>({.max_handlers = 0}));
  EXPECT_FALSE(system.spawn<Idle>({.supervision = {.max_restarts = -1}}));
  EXPECT_FALSE(system.spawn<Idle>({.supervision = {.window = 0s}}));
  System threads({.threads = 1});
  EXPECT_EQ(threads.pinned_thread("t", 100'000).error().kind(), ErrorKind::invalid_argument);
}

TEST(System, has_a_limit_on_actors) {
  System system({.max_actors = 2, .log = log_nothing(), .deterministic_seed = 1});
  const auto first = value(system.spawn<Idle>({}));
  ASSERT_TRUE(system.spawn<Idle>({}));
  EXPECT_EQ(system.spawn<Idle>({}).error().kind(), ErrorKind::out_of_memory);
  first.stop();
  system.run_until_idle();
  EXPECT_TRUE(system.spawn<Idle>({}));
}

TEST(System, an_actor_stopped_before_its_first_turn_is_never_constructed) {
  struct Constructed {
    explicit Constructed(std::shared_ptr<int> count) { ++*count; }
    int on(Get) { return 0; }
  };
  System system = virtual_time();
  const auto count = std::make_shared<int>(0);
  const auto actor = value(system.spawn<Constructed>({}, count));
  actor.stop();
  EXPECT_EQ(actor.ask<Get>().get().error().kind(), ErrorKind::stopped);
  EXPECT_EQ(*count, 0);
}

TEST(System, drain_handles_what_is_queued_and_stop_does_not) {
  struct Summing {
    explicit Summing(std::shared_ptr<int> sum) : total(std::move(sum)) {}
    void on(int by) { *total += by; }
    std::shared_ptr<int> total;
  };
  System system = virtual_time();
  const auto drained = std::make_shared<int>(0), cut = std::make_shared<int>(0);
  const auto a = value(system.spawn<Summing>({}, drained)), b = value(system.spawn<Summing>({}, cut));
  system.run_until_idle();
  for (int i = 0; i < 10; ++i) {
    value(a.tell(1));
    value(b.tell(1));
  }
  a.drain();
  b.stop();
  system.run_until_idle();
  EXPECT_TRUE(a.stopped());
  EXPECT_EQ(*drained, 10);
  EXPECT_EQ(*cut, 0);
  EXPECT_EQ(system.stats().dead_letters, 10u);
}

// ---- handlers side by side ----

namespace {

struct Enter {
  using Reply = int;
};

/// Counts how many handlers are inside at a time.
struct Room {
  Task<int> on(Enter) {
    most = std::max(most, ++inside);
    co_await sleep_for(1ms);
    --inside;
    co_return most;
  }
  int inside = 0;
  int most = 0;
};

Task<Result<int>> enter_together(Ref<Room> room, int count) {
  std::vector<Task<Result<int>>> asks;
  for (int i = 0; i < count; ++i) asks.push_back(room.ask<Enter>());
  int most = 0;
  for (const Result<int>& one : co_await when_all(std::move(asks))) most = std::max(most, CO_TRY(one));
  co_return most;
}

}  // namespace

TEST(Handlers, interleave_at_co_await_up_to_max_handlers) {
  System system = virtual_time();
  EXPECT_EQ(system.run(enter_together(value(system.spawn<Room>({})), 8)), 8);
  EXPECT_EQ(system.run(enter_together(value(system.spawn<Room>({.max_handlers = 3})), 8)), 3);
  EXPECT_EQ(system.run(enter_together(value(system.spawn<Room>({.max_handlers = 1})), 8)), 1);
}

TEST(Handlers, with_a_limit_of_one_nothing_interleaves_not_even_a_timer) {
  struct Serial {
    explicit Serial(Context<Serial> context) : self(context) {}
    void started() { (void)self.every(1ms, Tick{}); }
    void on(Tick) { clean = clean && !busy; }
    Task<bool> on(Enter) {
      busy = true;
      co_await sleep_for(10ms);
      busy = false;
      co_return clean;
    }
    Context<Serial> self;
    bool busy = false;
    bool clean = true;
  };
  System system = virtual_time();
  EXPECT_EQ(value(system.spawn<Serial>({.max_handlers = 1})).ask<Enter>().get(), 1);
}

// ---- back-pressure ----

TEST(BackPressure, each_policy_does_what_it_says) {
  const auto refused = [](Overflow overflow) {
    System system = virtual_time();
    const auto room = value(system.spawn<Room>({.mailbox_capacity = 2, .overflow = overflow, .max_handlers = 1}));
    const auto burst = [](Ref<Room> to) -> Task<int> {
      std::vector<Task<Result<int>>> asks;
      for (int i = 0; i < 10; ++i) asks.push_back(to.ask<Enter>());
      int full = 0;
      for (const Result<int>& one : co_await when_all(std::move(asks)))
        full += !one && one.error().kind() == ErrorKind::mailbox_full;
      co_return full;
    };
    return value(system.run(burst(room)));
  };
  EXPECT_EQ(refused(Overflow::refuse), 8);
  EXPECT_EQ(refused(Overflow::drop_oldest), 8);
  EXPECT_EQ(refused(Overflow::suspend_asker), 0);
}

}  // namespace troupe
