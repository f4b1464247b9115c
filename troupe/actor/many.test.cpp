// Many of one thing: timers and watches of one actor, actors of one system. What is done to one of them costs the same
// however many there are; that is measured in the CPU time of the thread, which a busy machine does not stretch.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "troupe/actor/testkit.hpp"
#include "troupe/core/sanitized.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// What `f` takes, divided by `count`.
template <class F>
double ns_each(int count, F f) {
  const double start = cpu_ns();
  f();
  return (cpu_ns() - start) / count;
}

struct Cost {
  double begin = 0;
  double end = 0;
};
struct Set {
  int count = 0;
  using Reply = Cost;
};
struct SetForLater {
  int count = 0;
  using Reply = void;
};
struct Fired {
  using Reply = int;
};
struct Ring {};

class Clocks {
 public:
  explicit Clocks(Context<Clocks> self) : self_(self) {}
  Cost on(Set message) {
    std::vector<TimerId> ids;
    Cost cost;
    cost.begin = ns_each(message.count, [&] {
      for (int i = 0; i < message.count; ++i) ids.push_back(value(self_.after(1h, Ring{})));
    });
    cost.end = ns_each(message.count, [&] {
      for (const TimerId id : ids) EXPECT_TRUE(self_.cancel(id));
    });
    for (const TimerId id : ids) EXPECT_FALSE(self_.cancel(id)) << "it was cancelled before";
    EXPECT_FALSE(self_.cancel(TimerId{}));
    return cost;
  }
  void on(SetForLater message) {
    for (int i = 0; i < message.count; ++i) {
      const TimerId id = value(self_.after(10ms + i % 7 * 1ms, Ring{}));
      if (i % 2) self_.cancel(id);
    }
  }
  void on(Ring) { ++fired_; }
  int on(Fired) { return fired_; }

 private:
  Context<Clocks> self_;
  int fired_ = 0;
};

struct Idle {
  int on(Fired) { return 1; }
};

struct WatchAll {
  std::vector<Ref<Idle>> all;
  using Reply = Cost;  // with `unwatch` for the second half of them
};
struct Ends {
  using Reply = int;
};
class Guard {
 public:
  explicit Guard(Context<Guard> self) : self_(self) {}
  Cost on(WatchAll message) {
    const auto count = static_cast<int>(message.all.size());
    Cost cost;
    cost.begin = ns_each(count, [&] {
      for (const auto& one : message.all) self_.watch(one);
    });
    cost.end = ns_each(count, [&] {
      for (std::size_t i = message.all.size() / 2; i < message.all.size(); ++i) self_.unwatch(message.all[i]);
    });
    for (const auto& one : message.all) one.stop();
    return cost;
  }
  void on(Terminated) { ++ends_; }
  int on(Ends) { return ends_; }

 private:
  Context<Guard> self_;
  int ends_ = 0;
};

// A hundred times as many would cost a hundred times as much each, if each were looked for among all.
constexpr int kFew = 500;
constexpr int kMany = 50'000;
constexpr double kSame = 25;

}  // namespace

TEST(Many, timers_of_one_actor_cost_the_same_however_many) {
  System system({.threads = 1, .log = log_nothing()});
  const auto clocks = value(system.spawn<Clocks>({}));
  Cost few{1e9, 1e9};
  for (int i = 0; i < 5; ++i) {
    const Cost cost = value(clocks.ask<Set>(kFew).get());
    few = {std::min(few.begin, cost.begin), std::min(few.end, cost.end)};
  }
  const Cost many = value(clocks.ask<Set>(kMany).get());
  EXPECT_LT(many.begin, few.begin * kSame);
  EXPECT_LT(many.end, few.end * kSame);
}

TEST(Many, timers_of_one_actor_fire_once_each) {
  System system({.log = log_nothing(), .deterministic_seed = 1});
  const auto clocks = value(system.spawn<Clocks>({}));
  ASSERT_TRUE(clocks.ask<SetForLater>(2 * kMany).get());
  system.advance(9ms);
  EXPECT_EQ(clocks.ask<Fired>().get(), 0);
  system.advance(10ms);
  EXPECT_EQ(clocks.ask<Fired>().get(), kMany) << "half of them were cancelled";
}

TEST(Many, watches_of_one_actor_cost_the_same_however_many) {
  const auto watch = [](int count) {
    System system({.log = log_nothing(), .deterministic_seed = 1});
    WatchAll message;
    for (int i = 0; i < count; ++i) message.all.push_back(value(system.spawn<Idle>({})));
    const auto guard = value(system.spawn<Guard>({}));
    const Cost cost = value(guard.ask<WatchAll>(std::move(message)).get());
    system.run_until_idle();
    EXPECT_EQ(guard.ask<Ends>().get(), count / 2);
    return cost;
  };
  Cost few{1e9, 1e9};
  for (int i = 0; i < 5; ++i) {
    const Cost cost = watch(kFew / 5);
    few = {std::min(few.begin, cost.begin), std::min(few.end, cost.end)};
  }
  const Cost many = watch(20'000);
  EXPECT_LT(many.begin, few.begin * kSame);
  EXPECT_LT(many.end, few.end * kSame);
}

TEST(Many, watchers_of_one_actor_unwatch_and_stop) {
  System system({.log = log_nothing(), .deterministic_seed = 1});
  const auto idle = value(system.spawn<Idle>({}));
  std::vector<Ref<Guard>> guards;
  for (int i = 0; i < 1000; ++i) {
    guards.push_back(value(system.spawn<Guard>({})));
    ASSERT_TRUE(guards.back().ask<WatchAll>(std::vector<Ref<Idle>>{}).get());
  }
  for (const auto& guard : guards) guard.stop();  // with watches in place
  idle.stop();
  system.run_until_idle();
  EXPECT_TRUE(idle.stopped());
}

TEST(Many, a_million_actors_are_made_and_shut_down) {
  constexpr int kActors = kSanitized ? 50'000 : 1'000'000;
  System system({.threads = 2, .log = log_nothing()});
  std::vector<Ref<Idle>> actors;
  actors.reserve(kActors);
  for (int i = 0; i < kActors; ++i) actors.push_back(value(system.spawn<Idle>({})));
  EXPECT_EQ(actors.front().ask<Fired>().get(), 1);
  EXPECT_EQ(actors.back().ask<Fired>().get(), 1);
  const ShutdownReport report = value(system.shutdown(10min));
  EXPECT_TRUE(report.drained);
  EXPECT_TRUE(report.cut_off.empty());
  EXPECT_EQ(system.stats().actors, 0u);
  EXPECT_TRUE(std::ranges::all_of(actors, [](const auto& one) { return one.stopped(); }));
}

}  // namespace troupe
