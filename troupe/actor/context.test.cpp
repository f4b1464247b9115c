#include "troupe/actor/context.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

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
  value(watcher.tell<WatchIt>(a));
  value(watcher.tell<WatchIt>(b));
  value(watcher.tell<Crash>());
  value(watcher.tell<UnwatchIt>(b));
  system.run_until_idle();
  a.stop();
  b.stop();
  system.run_until_idle();
  EXPECT_EQ(*seen, 1);
}

TEST(Watch, no_news_is_handled_after_unwatch_even_if_it_was_on_its_way) {
  struct Late {  // stops the other one and unwatches it in one handler, so that the notice comes in between
    Late(Context<Late> context, Ref<Idle> other, std::shared_ptr<int> news)
        : self(context), it(std::move(other)), count(std::move(news)) {
      self.watch(it);
    }
    Task<> on(Tick) {
      it.stop();
      while (!it.stopped()) co_await sleep_for(1ms);
      self.unwatch(it);
    }
    void on(Terminated) { ++*count; }
    Context<Late> self;
    Ref<Idle> it;
    std::shared_ptr<int> count;
  };
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    System other = virtual_time(seed);
    const auto news = std::make_shared<int>(0);
    const auto late = value(other.spawn<Late>({.max_handlers = 1}, value(other.spawn<Idle>({})), news));
    value(late.tell<Tick>());
    other.advance(10ms);
    EXPECT_EQ(*news, 0) << seed;
  }
}

TEST(Watch, a_watcher_that_stops_is_forgotten) {
  System system = virtual_time();
  const auto seen = std::make_shared<int>(0);
  const auto idle = value(system.spawn<Idle>({}));
  for (int i = 0; i < 100; ++i) {
    const auto watcher = value(system.spawn<Watcher>({}, seen));
    value(watcher.tell<WatchIt>(idle));
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
  value(ticker.tell<StartOnce>(10ms));
  system.advance(9ms);
  EXPECT_EQ(ticker.ask<Get>().get(), 0);
  system.advance(100ms);
  EXPECT_EQ(ticker.ask<Get>().get(), 1);
  EXPECT_EQ(ticker.ask<CancelTimer>().get(), false) << "it has fired";
  value(ticker.tell<Start>(10ms));
  system.advance(55ms);
  EXPECT_EQ(ticker.ask<Get>().get(), 6);
  EXPECT_EQ(ticker.ask<CancelTimer>().get(), true);
  system.advance(1s);
  EXPECT_EQ(ticker.ask<Get>().get(), 6);
}

TEST(Timers, end_with_a_restart_and_with_the_actor) {
  System system = virtual_time();
  const auto ticker = value(system.spawn<Ticker>({}));
  value(ticker.tell<Start>(10ms));
  value(ticker.tell<Crash>());
  system.advance(100ms);
  EXPECT_EQ(ticker.ask<Get>().get(), 0);
  value(ticker.tell<Start>(10ms));
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
    value(to.tell<Open>());
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
  value(gate.tell<Work>(std::make_unique<int>(5)));
  system.run_until_idle();
  value(gate.tell<Crash>());
  EXPECT_EQ(system.run(two_through(gate)), 21);
  const auto closed = value(system.spawn<Gate>({}));
  value(closed.tell<Work>(std::make_unique<int>(5)));
  system.run_until_idle();
  closed.drain();
  system.run_until_idle();
  EXPECT_EQ(system.stats().dead_letters, 1u);
}

TEST(Stash, takes_only_the_message_being_handled) {
  System system = virtual_time();
  EXPECT_EQ(value(system.spawn<Gate>({})).ask<CancelTimer>().get(), false);
}

TEST(Stash, works_for_a_handler_that_takes_its_message_by_reference) {
  struct ByReference {
    explicit ByReference(Context<ByReference> context) : self(context) {}
    int on(Work&& work) {
      if (open) return *work.number;
      (void)self.stash(std::move(work));
      return 0;
    }
    void on(Open) {
      open = true;
      self.unstash_all();
    }
    Context<ByReference> self;
    bool open = false;
  };
  System system = virtual_time();
  const auto actor = value(system.spawn<ByReference>({}));
  const auto stashed = [](Ref<ByReference> to) -> Task<Result<int>> {
    const auto opens = [](Ref<ByReference> it) -> Task<Result<int>> {
      co_await sleep_for(1ms);
      value(it.tell<Open>());
      co_return 0;
    };
    auto [answer, opened] = co_await when_all(to.ask<Work>(std::make_unique<int>(8)), opens(to));
    co_return answer;
  };
  EXPECT_EQ(system.run(stashed(actor)), 8);
}

}  // namespace troupe
