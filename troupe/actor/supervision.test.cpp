#include "troupe/actor/supervision.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "troupe/actor/testkit.hpp"
#include "troupe/actor/when.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct Add {
  int by;
};
struct Get {
  using Reply = int;
};
struct Crash {
  ErrorKind kind = ErrorKind::internal;
};
struct CrashLater {};

/// What happened, in order; shared by the incarnations of an actor.
class Diary {
 public:
  void note(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};
using DiaryPtr = std::shared_ptr<Diary>;

class Worker {
 public:
  Worker(std::string name, DiaryPtr diary) : name_(std::move(name)), diary_(std::move(diary)) {
    diary_->note(name_ + " constructed");
  }
  ~Worker() { diary_->note(name_ + " destroyed"); }
  void started() { diary_->note(name_ + " started"); }
  void stopping() { diary_->note(name_ + " stopping"); }
  void restarting(const Error& error) { diary_->note(name_ + " restarting: " + std::string(error.message())); }
  void restarted(const Error& error) { diary_->note(name_ + " restarted: " + std::string(error.message())); }

  void on(Add add) { sum_ += add.by; }
  int on(Get) { return sum_; }
  void on(Crash crash) { throw Exception(Error(crash.kind, "crash")); }
  Task<> on(CrashLater) {
    co_await sleep_for(1ms);
    throw std::runtime_error("late crash");
  }

 private:
  std::string name_;
  DiaryPtr diary_;
  int sum_ = 0;
};

class Supervised : public testing::Test {
 protected:
  Ref<Worker> spawn(Supervision supervision, std::string name = "w") {
    return value(system.spawn<Worker>({.name = name, .supervision = supervision}, name, diary));
  }

  System system{SystemOptions{.log = log_nothing(), .deterministic_seed = 5}};
  DiaryPtr diary = std::make_shared<Diary>();
};

Supervision with_limit(int max_restarts, Duration window = 10s) {
  return {.max_restarts = max_restarts, .window = window};
}

}  // namespace

TEST_F(Supervised, restart_replaces_the_instance_at_the_same_address_and_keeps_the_queue) {
  const auto worker = spawn({});
  value(worker.tell<Add>(1));
  value(worker.tell<Crash>());
  value(worker.tell<Add>(10));  // queued behind the crash
  EXPECT_EQ(worker.ask<Get>().get(), 10);
  EXPECT_EQ(diary->lines(), (std::vector<std::string>{"w constructed", "w started", "w restarting: crash",
                                                      "w destroyed", "w constructed", "w restarted: crash"}));
  EXPECT_EQ(system.stats().restarts, 1u);
}

TEST_F(Supervised, resume_keeps_the_instance) {
  const auto worker = spawn(always(Directive::resume));
  value(worker.tell<Add>(1));
  value(worker.tell<Crash>());
  value(worker.tell<Add>(10));
  EXPECT_EQ(worker.ask<Get>().get(), 11);
}

TEST_F(Supervised, stop_tells_the_watcher_the_error) {
  const auto worker = spawn(always(Directive::stop));
  Probe<> probe(system);
  ASSERT_TRUE(probe.watch(worker));
  value(worker.tell<Crash>(ErrorKind::device_lost));
  const Terminated end = value(probe.expect<Terminated>());
  EXPECT_EQ(end.path, "/user/w");
  EXPECT_EQ(end.id, worker.id());
  EXPECT_EQ(end.reason, StopReason::failed);
  EXPECT_EQ(end.error->kind(), ErrorKind::device_lost);
  EXPECT_EQ(diary->lines().back(), "w destroyed");
}

TEST_F(Supervised, the_directive_is_a_function_of_the_error) {
  const auto worker = spawn({.decide = [](const Error& error) {
    return error.kind() == ErrorKind::out_of_memory ? Directive::resume : Directive::restart;
  }});
  value(worker.tell<Add>(3));
  value(worker.tell<Crash>(ErrorKind::out_of_memory));
  EXPECT_EQ(worker.ask<Get>().get(), 3);
  value(worker.tell<Crash>(ErrorKind::internal));
  EXPECT_EQ(worker.ask<Get>().get(), 0);
}

TEST_F(Supervised, a_decision_that_throws_stops_the_actor) {
  const auto worker = spawn({.decide = [](const Error&) -> Directive { throw 1; }});
  value(worker.tell<Crash>());
  EXPECT_EQ(worker.ask<Get>().get().error().kind(), ErrorKind::stopped);
}

TEST_F(Supervised, the_restart_limit_per_window_stops_it) {
  const auto worker = spawn(with_limit(2, 1s));
  value(worker.tell<Crash>());
  value(worker.tell<Crash>());
  EXPECT_EQ(worker.ask<Get>().get(), 0);
  system.advance(2s);  // a new window
  value(worker.tell<Crash>());
  value(worker.tell<Crash>());
  EXPECT_EQ(worker.ask<Get>().get(), 0);
  Probe<> probe(system);
  ASSERT_TRUE(probe.watch(worker));
  value(worker.tell<Crash>());
  const Terminated end = value(probe.expect<Terminated>());
  EXPECT_EQ(end.reason, StopReason::failed);
  EXPECT_EQ(end.error->message(), "more than 2 restarts per window; the last failure: crash");
}

TEST_F(Supervised, a_restart_limit_of_zero_stops_at_the_first_failure) {
  const auto worker = spawn(with_limit(0));
  value(worker.tell<Crash>());
  EXPECT_EQ(worker.ask<Get>().get().error().kind(), ErrorKind::stopped);
}

TEST_F(Supervised, a_failure_after_a_wait_counts_like_any_other) {
  const auto worker = spawn({});
  value(worker.tell<Add>(1));
  value(worker.tell<CrashLater>());
  system.advance(10ms);
  EXPECT_EQ(worker.ask<Get>().get(), 0);
  EXPECT_EQ(system.stats().restarts, 1u);
}

TEST_F(Supervised, backoff_delays_the_restart_exponentially_and_keeps_the_queue) {
  const auto worker = spawn({.max_restarts = 10, .backoff = {.initial = 100ms, .max = 300ms, .jitter = 0}});
  for (const Duration wait : {100ms, 200ms, 300ms, 300ms}) {
    value(worker.tell<Crash>());
    value(worker.tell<Add>(1));
    system.advance(wait - 1ms);
    const auto restarts = system.stats().restarts;
    system.advance(2ms);
    EXPECT_EQ(system.stats().restarts, restarts + 1) << wait.count();
    EXPECT_EQ(worker.ask<Get>().get(), 1);
  }
}

TEST_F(Supervised, an_actor_stopped_during_its_backoff_stops) {
  const auto worker = spawn({.backoff = {.initial = 1h}});
  value(worker.tell<Crash>());
  system.run_until_idle();
  Probe<> probe(system);
  ASSERT_TRUE(probe.watch(worker));
  worker.stop();
  EXPECT_TRUE(probe.expect<Terminated>(1ms));
}

TEST(Backoff, doubles_up_to_its_limit_and_spreads_by_its_jitter) {
  const Backoff backoff{.initial = 10ms, .max = 100ms, .jitter = 0.5};
  EXPECT_EQ(backoff.delay(0, 0.5), 10ms);
  EXPECT_EQ(backoff.delay(2, 0.5), 40ms);
  EXPECT_EQ(backoff.delay(9, 0.5), 100ms);
  EXPECT_EQ(backoff.delay(1'000'000, 0.5), 100ms);
  EXPECT_EQ(backoff.delay(0, 0.0), 5ms);
  EXPECT_EQ(backoff.delay(0, 1.0), 15ms);
  EXPECT_EQ(Backoff{}.delay(5, 0.9), 0ms);
}

namespace {

struct SpawnChild {
  std::string name;
  Supervision supervision;
  using Reply = Ref<Worker>;
};
struct Fail {};

/// A parent that spawns workers on request.
class Parent {
 public:
  Parent(Context<Parent> self, DiaryPtr diary) : self_(self), diary_(std::move(diary)) {
    diary_->note("parent constructed");
  }
  ~Parent() { diary_->note("parent destroyed"); }
  void stopping() { diary_->note("parent stopping"); }
  Result<Ref<Worker>> on(SpawnChild child) {
    return self_.spawn<Worker>({.name = child.name, .supervision = child.supervision}, child.name, diary_);
  }
  void on(Fail) { throw std::runtime_error("parent fails"); }
  int on(Get) { return ++asked_; }

 private:
  Context<Parent> self_;
  DiaryPtr diary_;
  int asked_ = 0;
};

class Family : public testing::Test {
 protected:
  Ref<Worker> child(const std::string& name, Supervision supervision) {
    const auto made = value(parent.ask<SpawnChild>(name, supervision).get());
    system.run_until_idle();
    return made;
  }

  System system{SystemOptions{.log = log_nothing(), .deterministic_seed = 9}};
  DiaryPtr diary = std::make_shared<Diary>();
  Ref<Parent> parent = value(system.spawn<Parent>({.name = "parent"}, diary));
};

}  // namespace

TEST_F(Family, children_have_paths_under_their_parent) {
  EXPECT_EQ(child("worker-1", {}).path(), "/user/parent/worker-1");
}

TEST_F(Family, children_stop_before_their_parent) {
  child("a", {});
  child("b", {});
  Probe<> probe(system);
  ASSERT_TRUE(probe.watch(parent));
  parent.stop();
  ASSERT_TRUE(probe.expect<Terminated>());
  const std::vector<std::string> lines = diary->lines();
  const auto at = [&](const std::string& line) { return std::ranges::find(lines, line) - lines.begin(); };
  EXPECT_LT(at("a destroyed"), at("parent stopping"));
  EXPECT_LT(at("b destroyed"), at("parent stopping"));
  EXPECT_EQ(lines.back(), "parent destroyed");
}

TEST_F(Family, one_for_one_leaves_the_siblings_alone) {
  const auto a = child("a", {}), b = child("b", {});
  value(b.tell<Add>(7));
  value(a.tell<Crash>());
  system.run_until_idle();
  EXPECT_EQ(b.ask<Get>().get(), 7);
}

TEST_F(Family, all_for_one_restarts_exactly_the_group) {
  const Supervision group{.scope = RestartScope::all_for_one};
  const auto a = child("a", group), b = child("b", group), loner = child("loner", {});
  for (const auto& one : {a, b, loner}) value(one.tell<Add>(7));
  system.run_until_idle();
  value(a.tell<Crash>());
  system.run_until_idle();
  EXPECT_EQ(a.ask<Get>().get(), 0);
  EXPECT_EQ(b.ask<Get>().get(), 0);
  EXPECT_EQ(loner.ask<Get>().get(), 7);
  EXPECT_EQ(system.stats().restarts, 2u);
}

TEST_F(Family, all_for_one_stops_exactly_the_group) {
  const Supervision group{.decide = [](const Error&) { return Directive::stop; }, .scope = RestartScope::all_for_one};
  const auto a = child("a", group), b = child("b", group), loner = child("loner", {});
  value(a.tell<Crash>());
  system.run_until_idle();
  EXPECT_TRUE(a.stopped());
  EXPECT_TRUE(b.stopped());
  EXPECT_FALSE(loner.stopped());
}

TEST_F(Family, escalate_makes_the_parent_fail_and_its_restart_replaces_the_children) {
  const auto a = child("a", always(Directive::escalate));
  EXPECT_EQ(parent.ask<Get>().get(), 1);
  value(a.tell<Crash>());
  system.run_until_idle();
  EXPECT_TRUE(a.stopped());
  EXPECT_EQ(parent.ask<Get>().get(), 1) << "a new instance";
  EXPECT_EQ(child("a", {}).path(), "/user/parent/a") << "the name is free again";
}

TEST_F(Family, escalate_to_a_parent_that_resumes_resumes_the_child) {
  const auto calm = value(system.spawn<Parent>({.name = "calm", .supervision = always(Directive::resume)}, diary));
  const auto a = value(calm.ask<SpawnChild>("a", always(Directive::escalate)).get());
  value(a.tell<Add>(4));
  value(a.tell<Crash>());
  EXPECT_EQ(a.ask<Get>().get(), 4);
}

TEST_F(Family, escalating_past_the_top_stops_the_actor) {
  const auto top = value(system.spawn<Worker>({.supervision = always(Directive::escalate)}, "top", diary));
  Probe<> probe(system);
  ASSERT_TRUE(probe.watch(top));
  value(top.tell<Crash>());
  EXPECT_EQ(value(probe.expect<Terminated>()).reason, StopReason::failed);
}

TEST_F(Family, a_failing_parent_stops_its_children_before_it_is_constructed_anew) {
  child("a", {});
  value(parent.tell<Fail>());
  EXPECT_EQ(parent.ask<Get>().get(), 1);
  EXPECT_EQ(diary->lines(), (std::vector<std::string>{"parent constructed", "a constructed", "a started", "a stopping",
                                                      "a destroyed", "parent destroyed", "parent constructed"}));
}

namespace {

/// Throws in its constructor so many times.
class HardToStart {
 public:
  explicit HardToStart(std::shared_ptr<int> failures) {
    if (*failures > 0) {
      --*failures;
      throw std::runtime_error("not yet");
    }
  }
  int on(Get) { return 1; }
};

struct Hooks {
  explicit Hooks(std::string bad_hook) : bad(std::move(bad_hook)) {}
  void started() { maybe("started"); }
  void restarting(const Error&) { maybe("restarting"); }
  void stopping() { maybe("stopping"); }
  void on(Crash) { throw std::runtime_error("crash"); }
  int on(Get) { return 1; }
  void maybe(const std::string& hook) {
    if (hook == bad) throw std::runtime_error(hook + " throws");
  }
  std::string bad;
};

}  // namespace

TEST_F(Supervised, a_constructor_that_throws_is_tried_again_up_to_the_limit) {
  const auto tries = std::make_shared<int>(3);
  const auto actor = value(system.spawn<HardToStart>({}, tries));
  EXPECT_EQ(actor.ask<Get>().get(), 1) << "the ask waited for the fourth instance";
  const auto hopeless = value(system.spawn<HardToStart>({}, std::make_shared<int>(1000)));
  EXPECT_EQ(hopeless.ask<Get>().get().error().kind(), ErrorKind::stopped) << "an actor that never started";
}

TEST_F(Supervised, an_error_says_which_function_of_which_actor_threw_what) {
  const SpawnOptions options{.name = "careless", .supervision = always(Directive::stop)};
  const auto why = [&](const auto& actor) {
    Probe<> probe(system);
    EXPECT_TRUE(probe.watch(actor));
    return value(probe.template expect<Terminated>()).error.value();
  };
  const Error constructor = why(value(system.spawn<HardToStart>(options, std::make_shared<int>(1))));
  EXPECT_EQ(constructor.kind(), ErrorKind::handler_threw);
  EXPECT_EQ(constructor.message(), "the constructor of /user/careless threw std::runtime_error: not yet");
  const Error hook = why(value(system.spawn<Hooks>(options, "started")));
  EXPECT_EQ(hook.message(), "started() of /user/careless threw std::runtime_error: started throws");
  const auto worker = value(system.spawn<Worker>(options, "w", diary));
  value(worker.tell<CrashLater>());
  EXPECT_EQ(why(worker).message(),
            "on(troupe::(anonymous namespace)::CrashLater) of /user/careless threw std::runtime_error: late crash");
}

TEST_F(Supervised, an_exception_of_ours_stands_for_its_error_and_a_lack_of_memory_for_itself) {
  struct Needy {
    explicit Needy(bool is_ours) {
      if (is_ours) throw Exception(Error(ErrorKind::unsupported, "no such thing"));
      throw std::bad_alloc();
    }
    void on(Crash) {}
  };
  const auto kind_of_end = [&](bool is_ours) {
    Probe<> probe(system);
    EXPECT_TRUE(probe.watch(value(system.spawn<Needy>({.supervision = always(Directive::stop)}, is_ours))));
    return value(probe.expect<Terminated>()).error.value().kind();
  };
  EXPECT_EQ(kind_of_end(true), ErrorKind::unsupported);
  EXPECT_EQ(kind_of_end(false), ErrorKind::out_of_memory);
}

TEST_F(Supervised, a_constructor_that_throws_cannot_be_resumed_so_it_is_tried_again) {
  const auto actor =
      value(system.spawn<HardToStart>({.supervision = always(Directive::resume)}, std::make_shared<int>(2)));
  EXPECT_EQ(actor.ask<Get>().get(), 1);
}

TEST_F(Supervised, hooks_that_throw_have_a_defined_outcome) {
  const auto started = value(system.spawn<Hooks>({}, "started"));
  EXPECT_EQ(started.ask<Get>().get().error().kind(), ErrorKind::stopped) << "started() is a failure, up to the limit";
  const auto restarting = value(system.spawn<Hooks>({}, "restarting"));
  value(restarting.tell<Crash>());
  EXPECT_EQ(restarting.ask<Get>().get(), 1) << "restarting() is logged and passed over";
  const auto stopping = value(system.spawn<Hooks>({}, "stopping"));
  Probe<> probe(system);
  ASSERT_TRUE(probe.watch(stopping));
  stopping.stop();
  EXPECT_EQ(value(probe.expect<Terminated>()).reason, StopReason::requested) << "so is stopping()";
}

}  // namespace troupe
