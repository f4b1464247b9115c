// Names, watching, timers, stash, events, dead letters, handlers side by side.
#include "troupe/actor/system.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "troupe/actor/testkit.hpp"
#include "troupe/actor/when.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct Get {
  using Reply = int;
};
struct Tick {};
struct Start {
  Duration period;
};
struct StartOnce {
  Duration delay;
};
struct CancelTimer {
  using Reply = bool;
};
struct Crash {};

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
    a.tell(1);
    b.tell(1);
  }
  a.drain();
  b.stop();
  system.run_until_idle();
  EXPECT_TRUE(a.stopped());
  EXPECT_EQ(*drained, 10);
  EXPECT_EQ(*cut, 0);
  EXPECT_EQ(system.stats().dead_letters, 10u);
}

// ---- watching ----

TEST(Watch, tells_the_reason_once) {
  System system = virtual_time();
  const auto idle = value(system.spawn<Idle>({}));
  Probe<> probe(system);
  ASSERT_TRUE(probe.watch(idle));
  ASSERT_TRUE(probe.watch(idle)) << "watching twice is watching once";
  idle.stop();
  EXPECT_EQ(value(probe.expect<Terminated>()).reason, StopReason::requested);
  EXPECT_TRUE(probe.expect_nothing(1s));
}

TEST(Watch, of_an_actor_that_has_stopped_tells_at_once) {
  System system = virtual_time();
  const auto idle = value(system.spawn<Idle>({}));
  idle.stop();
  system.run_until_idle();
  Probe<> probe(system);
  EXPECT_EQ(value(probe.expect_terminated(idle)).id, idle.id());
}

namespace {

struct WatchIt {
  Ref<Idle> ref;
};
struct UnwatchIt {
  Ref<Idle> ref;
};
struct Watcher {
  Watcher(Context<Watcher> context, std::shared_ptr<int> seen) : self(context), count(std::move(seen)) {}
  void on(WatchIt watch) { self.watch(watch.ref); }
  void on(UnwatchIt watch) { self.unwatch(watch.ref); }
  void on(Terminated) { ++*count; }
  void on(Crash) { throw std::runtime_error("crash"); }
  Context<Watcher> self;
  std::shared_ptr<int> count;
};

}  // namespace

TEST(Watch, survives_a_restart_of_the_watcher_and_ends_with_unwatch) {
  System system = virtual_time();
  const auto seen = std::make_shared<int>(0);
  const auto watcher = value(system.spawn<Watcher>({}, seen));
  const auto a = value(system.spawn<Idle>({})), b = value(system.spawn<Idle>({}));
  watcher.tell<WatchIt>(a);
  watcher.tell<WatchIt>(b);
  watcher.tell<Crash>();
  watcher.tell<UnwatchIt>(b);
  system.run_until_idle();
  a.stop();
  b.stop();
  system.run_until_idle();
  EXPECT_EQ(*seen, 1);
}

TEST(Watch, a_watcher_that_stops_is_forgotten) {
  System system = virtual_time();
  const auto seen = std::make_shared<int>(0);
  const auto idle = value(system.spawn<Idle>({}));
  for (int i = 0; i < 100; ++i) {
    const auto watcher = value(system.spawn<Watcher>({}, seen));
    watcher.tell<WatchIt>(idle);
    watcher.drain();
    system.run_until_idle();
  }
  idle.stop();
  system.run_until_idle();
  EXPECT_EQ(*seen, 0);
}

// ---- timers ----

namespace {

class Ticker {
 public:
  explicit Ticker(Context<Ticker> self) : self_(self) {}
  void on(Start start) { timer_ = value(self_.every(start.period, Tick{})); }
  void on(StartOnce start) { timer_ = value(self_.after(start.delay, Tick{})); }
  bool on(CancelTimer) { return self_.cancel(timer_); }
  void on(Tick) { ++ticks_; }
  int on(Get) { return ticks_; }
  void on(Crash) { throw std::runtime_error("crash"); }

 private:
  Context<Ticker> self_;
  TimerId timer_{};
  int ticks_ = 0;
};

}  // namespace

TEST(Timers, fire_once_or_periodically_until_cancelled) {
  System system = virtual_time();
  const auto ticker = value(system.spawn<Ticker>({}));
  ticker.tell<StartOnce>(10ms);
  system.advance(9ms);
  EXPECT_EQ(ticker.ask<Get>().get(), 0);
  system.advance(100ms);
  EXPECT_EQ(ticker.ask<Get>().get(), 1);
  EXPECT_EQ(ticker.ask<CancelTimer>().get(), false) << "it has fired";
  ticker.tell<Start>(10ms);
  system.advance(55ms);
  EXPECT_EQ(ticker.ask<Get>().get(), 6);
  EXPECT_EQ(ticker.ask<CancelTimer>().get(), true);
  system.advance(1s);
  EXPECT_EQ(ticker.ask<Get>().get(), 6);
}

TEST(Timers, end_with_a_restart_and_with_the_actor) {
  System system = virtual_time();
  const auto ticker = value(system.spawn<Ticker>({}));
  ticker.tell<Start>(10ms);
  ticker.tell<Crash>();
  system.advance(100ms);
  EXPECT_EQ(ticker.ask<Get>().get(), 0);
  ticker.tell<Start>(10ms);
  ticker.drain();
  system.advance(100ms);
  EXPECT_TRUE(ticker.stopped());
}

TEST(Timers, periods_that_are_not_positive_are_refused) {
  struct Asks {
    explicit Asks(Context<Asks> context) : self(context) {}
    bool on(CancelTimer) { return self.every(0ms, Tick{}).has_value() || self.every(-1ms, Tick{}).has_value(); }
    void on(Tick) {}
    Context<Asks> self;
  };
  System system = virtual_time();
  EXPECT_EQ(value(system.spawn<Asks>({})).ask<CancelTimer>().get(), false);
}

TEST(Timers, do_not_pile_up_behind_a_slow_handler) {
  struct Slow {
    Slow(Context<Slow> context, std::shared_ptr<std::atomic<int>> ticks) : self(context), count(std::move(ticks)) {}
    void started() { (void)self.every(1ms, Tick{}); }
    void on(Tick) {
      if (++*count > 1) return;
      const auto until = std::chrono::steady_clock::now() + 100ms;  // the handler itself is slow
      while (std::chrono::steady_clock::now() < until) {
      }
      self.stop();
    }
    Context<Slow> self;
    std::shared_ptr<std::atomic<int>> count;
  };
  System system({.log = log_nothing()});
  const auto count = std::make_shared<std::atomic<int>>(0);
  Probe<> probe(system);
  ASSERT_TRUE(probe.expect_terminated(value(system.spawn<Slow>({}, count))));
  EXPECT_LE(*count, 2) << "a hundred beats passed, at most one waited";
}

// ---- stash and state ----

namespace {

struct Open {};
struct Work {
  std::unique_ptr<int> number;
  using Reply = int;
};

class Gate {
 public:
  explicit Gate(Context<Gate> self) : self_(self) {}
  Result<int> on(Work work) {
    if (!open_) {
      if (Result<void> kept = self_.stash(std::move(work)); !kept) return fail(kept.error());
      return 0;  // ignored: the message waits
    }
    return *work.number;
  }
  void on(Open) {
    open_ = true;
    self_.unstash_all();
  }
  void on(Crash) { throw std::runtime_error("crash"); }
  bool on(CancelTimer) { return self_.stash(Open{}).has_value(); }

 private:
  Context<Gate> self_;
  bool open_ = false;
};

Task<Result<int>> two_through(Ref<Gate> gate) {
  auto opens_later = [](Ref<Gate> to) -> Task<Result<int>> {
    co_await sleep_for(5ms);
    to.tell<Open>();
    co_return 0;
  };
  auto [one, two, opened] = co_await when_all(gate.ask<Work>(std::make_unique<int>(1)),
                                              gate.ask<Work>(std::make_unique<int>(20)), opens_later(gate));
  co_return CO_TRY(std::move(one)) + CO_TRY(std::move(two));
}

}  // namespace

TEST(Stash, keeps_messages_whole_until_they_can_be_handled) {
  System system = virtual_time();
  const auto gate = value(system.spawn<Gate>({}));
  EXPECT_EQ(system.run(two_through(gate)), 21);
}

TEST(Stash, survives_a_restart_and_ends_with_the_actor) {
  System system = virtual_time();
  const auto gate = value(system.spawn<Gate>({}));
  gate.tell<Work>(std::make_unique<int>(5));
  system.run_until_idle();
  gate.tell<Crash>();
  EXPECT_EQ(system.run(two_through(gate)), 21);
  const auto closed = value(system.spawn<Gate>({}));
  closed.tell<Work>(std::make_unique<int>(5));
  system.run_until_idle();
  closed.drain();
  system.run_until_idle();
  EXPECT_EQ(system.stats().dead_letters, 1u);
}

TEST(Stash, takes_only_the_message_being_handled) {
  System system = virtual_time();
  EXPECT_EQ(value(system.spawn<Gate>({})).ask<CancelTimer>().get(), false);
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

// ---- events ----

namespace {

struct News {
  std::string text;
};

}  // namespace

TEST(Events, reach_everybody_who_subscribed_until_they_unsubscribe_or_stop) {
  System system = virtual_time();
  Probe<News> a(system), b(system);
  system.events().subscribe<News>(a.ref());
  system.events().subscribe<News>(a.ref());
  system.events().subscribe<News>(b.ref());
  system.events().publish(News{"one"});
  EXPECT_EQ(value(a.expect<News>()).text, "one");
  EXPECT_TRUE(a.expect_nothing(1s)) << "subscribing twice is subscribing once";
  EXPECT_EQ(value(b.expect<News>()).text, "one");
  system.events().unsubscribe<News>(a.ref());
  b.ref().stop();
  system.run_until_idle();
  system.events().publish(News{"two"});
  EXPECT_TRUE(a.expect_nothing(1s));
  EXPECT_TRUE(system.events().empty());
}

TEST(Events, a_tell_that_reaches_nobody_becomes_a_dead_letter) {
  System system = virtual_time();
  Probe<DeadLetter> letters(system);
  system.events().subscribe<DeadLetter>(letters.ref());
  const auto ticker = value(system.spawn<Ticker>({.name = "ticker"}));
  ticker.stop();
  system.run_until_idle();
  EXPECT_FALSE(ticker.tell<Tick>());
  const DeadLetter letter = value(letters.expect<DeadLetter>());
  EXPECT_EQ(letter.path, "/user/ticker");
  EXPECT_NE(letter.message_type.find("Tick"), std::string::npos);
  EXPECT_EQ(letter.reason.kind(), ErrorKind::stopped);
}

}  // namespace troupe
