#include "troupe/actor/ask.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stop_token>
#include <thread>

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
struct Never {  // answered by nobody
  using Reply = int;
};
struct Later {
  Duration after;
  using Reply = int;
};
struct Refused {
  using Reply = int;
};
struct Throws {
  using Reply = int;
};
struct ThrowsInt {
  using Reply = int;
};
struct Box {
  std::unique_ptr<int> content;
  using Reply = std::unique_ptr<int>;
};
struct Ack {
  using Reply = void;
};

/// How many are alive, to see that nothing leaks.
struct Counted {
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  ~Counted() { --alive; }
  static inline std::atomic<int> alive = 0;
};

class Answerer {
 public:
  void on(Add add) { sum_ += add.by; }
  int on(Get) { return sum_; }
  Task<Result<int>> on(Never) {
    Counted frame;
    co_await sleep_for(1h);
    co_return 0;
  }
  Task<int> on(Later later) {
    Counted frame;
    co_await sleep_for(later.after);
    co_return ++sum_;
  }
  Result<int> on(Refused) { return fail(ErrorKind::unsupported, "not here"); }
  int on(Throws) { throw std::runtime_error("boom"); }
  int on(ThrowsInt) { throw 42; }
  std::unique_ptr<int> on(Box box) {
    ++*box.content;
    return std::move(box.content);
  }
  Task<> on(Ack) { co_return; }

 private:
  int sum_ = 0;
};

struct Relay {  // asks the answerer on behalf of the asker
  using Reply = int;
};
struct RelayNever {
  using Reply = int;
};

class Relayer {
 public:
  explicit Relayer(Ref<Answerer> to) : to_(std::move(to)) {}
  Task<Result<int>> on(Relay) { co_return 1 + CO_TRY(co_await to_.ask<Get>()); }
  Task<Result<int>> on(RelayNever) {
    Counted frame;
    co_return co_await to_.ask<Never>();
  }

 private:
  Ref<Answerer> to_;
};

System quiet() { return System({.log = log_nothing()}); }
System virtual_time() { return System({.log = log_nothing(), .deterministic_seed = 1}); }

ErrorKind kind_of(const Result<int>& result) { return result ? ErrorKind{255} : result.error().kind(); }

}  // namespace

TEST(Ask, gives_the_reply_whatever_the_handler_returns) {
  System system = quiet();
  const auto actor = value(system.spawn<Answerer>({}));
  EXPECT_TRUE(actor.tell<Add>(2));
  EXPECT_TRUE(actor.tell(Add{3}));
  EXPECT_EQ(actor.ask<Get>().get(), 5);                                    // a value
  EXPECT_EQ(kind_of(actor.ask<Refused>().get()), ErrorKind::unsupported);  // a Result
  EXPECT_EQ(actor.ask<Later>(1ms).get(), 6);                               // a Task
  EXPECT_TRUE(actor.ask<Ack>().get());                                     // a Task of nothing
}

TEST(Ask, carries_move_only_messages_and_replies) {
  System system = quiet();
  const auto actor = value(system.spawn<Answerer>({}));
  Result<std::unique_ptr<int>> reply = actor.ask<Box>(std::make_unique<int>(41)).get();
  EXPECT_EQ(*reply.value(), 42);
}

TEST(Ask, works_from_a_coroutine_of_another_actor_and_from_a_task) {
  System system = quiet();
  const auto actor = value(system.spawn<Answerer>({}));
  const auto relayer = value(system.spawn<Relayer>({}, actor));
  value(actor.tell<Add>(5));
  EXPECT_EQ(relayer.ask<Relay>().get(), 6);
  const auto both = [](Ref<Answerer> a, Ref<Relayer> b) -> Task<Result<int>> {
    const int x = CO_TRY(co_await a.ask<Get>());
    const int y = CO_TRY(co_await b.ask<Relay>());
    co_return x + y;
  };
  EXPECT_EQ(system.run(both(actor, relayer)), 11);
}

TEST(Ask, ends_in_what_the_handler_threw) {
  System system = quiet();
  const auto actor = value(system.spawn<Answerer>({}));
  const Result<int> thrown = actor.ask<Throws>().get();
  EXPECT_EQ(kind_of(thrown), ErrorKind::handler_threw);
  const std::string path = actor.path();
  EXPECT_EQ(thrown.error().message(),
            "on(troupe::(anonymous namespace)::Throws) of " + path + " threw std::runtime_error: boom");
  const Result<int> thrown_int = actor.ask<ThrowsInt>().get();
  EXPECT_EQ(kind_of(thrown_int), ErrorKind::handler_threw) << "also when it is no std::exception";
  EXPECT_EQ(thrown_int.error().message(),
            "on(troupe::(anonymous namespace)::ThrowsInt) of " + path + " threw int, which is no std::exception");
  EXPECT_EQ(actor.ask<Get>().get(), 0) << "it was restarted at the same address";
}

TEST(Ask, times_out_and_a_late_reply_is_dropped) {
  System system = virtual_time();
  const auto actor = value(system.spawn<Answerer>({}));
  EXPECT_EQ(kind_of(actor.ask<Later>(10ms).wait_at_most(5ms).get()), ErrorKind::timeout);
  system.advance(1s);
  EXPECT_EQ(actor.ask<Get>().get(), 1) << "the handler went on and nobody was told twice";
  EXPECT_EQ(actor.ask<Later>(5ms).wait_at_most(10ms).get(), 2);
}

TEST(Ask, a_zero_or_negative_timeout_ends_at_once_and_sends_nothing) {
  System system = quiet();
  const auto actor = value(system.spawn<Answerer>({}));
  EXPECT_EQ(kind_of(actor.ask<Later>(0ms).wait_at_most(0ms).get()), ErrorKind::timeout);
  EXPECT_EQ(kind_of(actor.ask<Later>(0ms).wait_at_most(-1ms).get()), ErrorKind::timeout);
  EXPECT_EQ(actor.ask<Get>().get(), 0);
}

TEST(Ask, is_cancelled_by_a_stop_token_before_and_after_it_was_sent) {
  System system = quiet();
  const auto actor = value(system.spawn<Answerer>({}));
  std::stop_source before;
  before.request_stop();
  EXPECT_EQ(kind_of(actor.ask<Get>().cancel_on(before.get_token()).get()), ErrorKind::cancelled);
  std::stop_source after;
  std::thread stopper([&] {
    while (actor.load() == 0) std::this_thread::yield();
    after.request_stop();
  });
  EXPECT_EQ(kind_of(actor.ask<Never>().cancel_on(after.get_token()).get()), ErrorKind::cancelled);
  stopper.join();
  actor.stop();  // its handler would sleep on
}

TEST(Ask, given_up_before_its_handler_began_is_never_begun) {
  System system = virtual_time();
  const auto actor = value(system.spawn<Answerer>({.max_handlers = 1}));
  const auto blocked = [](Ref<Answerer> to) -> Task<Result<int>> {
    auto [first, second] =
        co_await when_all(to.ask<Later>(20ms).wait_at_most(1s), to.ask<Later>(1ms).wait_at_most(5ms));
    EXPECT_EQ(first, 1);
    co_return second;
  };
  EXPECT_EQ(kind_of(system.run(blocked(actor))), ErrorKind::timeout);
  EXPECT_EQ(actor.ask<Get>().get(), 1) << "the second was never handled";
}

TEST(Ask, to_an_empty_ref_or_a_stopped_actor_ends_in_an_error) {
  System system = quiet();
  EXPECT_EQ(kind_of(Ref<Answerer>().ask<Get>().get()), ErrorKind::invalid_argument);
  EXPECT_EQ(Ref<Answerer>().tell<Add>(1).error().kind(), ErrorKind::invalid_argument);
  const auto actor = value(system.spawn<Answerer>({}));
  Probe<> probe(system);
  ASSERT_TRUE(probe.watch(actor));
  actor.stop();
  ASSERT_TRUE(probe.expect<Terminated>());
  EXPECT_EQ(kind_of(actor.ask<Get>().get()), ErrorKind::stopped);
  EXPECT_EQ(actor.tell<Add>(1).error().kind(), ErrorKind::stopped);
}

TEST(Ask, pending_ones_end_in_stopped_when_the_actor_stops) {
  System system = quiet();
  const auto actor = value(system.spawn<Answerer>({.max_handlers = 1}));
  std::vector<std::thread> askers;
  std::atomic<int> stopped = 0;
  for (int i = 0; i < 4; ++i)  // one under way, three queued
    askers.emplace_back([&] { stopped += kind_of(actor.ask<Never>().get()) == ErrorKind::stopped; });
  while (actor.load() < 4) std::this_thread::yield();
  actor.stop();
  for (auto& asker : askers) asker.join();
  EXPECT_EQ(stopped, 4);
  EXPECT_EQ(Counted::alive, 0);
}

TEST(Ask, ends_in_restarted_when_its_coroutine_was_cut_off_by_a_restart) {
  System system = quiet();
  const auto actor = value(system.spawn<Answerer>({}));
  std::thread asker([&] { EXPECT_EQ(kind_of(actor.ask<Never>().get()), ErrorKind::restarted); });
  while (Counted::alive == 0) std::this_thread::yield();
  EXPECT_EQ(kind_of(actor.ask<Throws>().get()), ErrorKind::handler_threw);
  asker.join();
  EXPECT_EQ(Counted::alive, 0);
}

TEST(Ask, whose_asker_dies_first_is_answered_to_nobody_and_leaks_nothing) {
  {
    System system = virtual_time();
    const auto actor = value(system.spawn<Answerer>({}));
    const auto relayer = value(system.spawn<Relayer>({}, actor));
    EXPECT_TRUE(relayer.tell<RelayNever>());
    system.run_until_idle();
    EXPECT_EQ(Counted::alive, 2);
    relayer.stop();
    system.run_until_idle();
    EXPECT_EQ(Counted::alive, 1) << "the asker's frame is gone, the handler works on";
    system.advance(2h);
    EXPECT_EQ(Counted::alive, 0);
    EXPECT_EQ(actor.ask<Get>().get(), 0);
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(Ask, that_is_never_awaited_sends_nothing_and_leaks_nothing) {
  System system = quiet();
  const auto actor = value(system.spawn<Answerer>({}));
  {
    auto dropped = actor.ask<Later>(0ms);
  }
  EXPECT_EQ(actor.ask<Get>().get(), 0);
}

TEST(Ask, get_inside_a_handler_is_refused_instead_of_blocking) {
  struct Blocking {
    Ref<Answerer> to;
    explicit Blocking(Ref<Answerer> t) : to(std::move(t)) {}
    int on(Get) {
      const Result<int> inner = to.ask<Get>().get();
      return static_cast<int>(kind_of(inner));
    }
  };
  System system = quiet();
  const auto actor = value(system.spawn<Answerer>({}));
  const auto blocking = value(system.spawn<Blocking>({}, actor));
  EXPECT_EQ(blocking.ask<Get>().get(), static_cast<int>(ErrorKind::invalid_argument));
}

TEST(Ask, refs_outlive_their_system) {
  Ref<Answerer> actor;
  {
    System system = quiet();
    actor = value(system.spawn<Answerer>({}));
  }
  EXPECT_EQ(kind_of(actor.ask<Get>().get()), ErrorKind::stopped);
  EXPECT_EQ(actor.tell<Add>(1).error().kind(), ErrorKind::stopped);
  actor.stop();
  EXPECT_TRUE(actor.stopped());
}

TEST(Ask, with_virtual_time_says_when_nothing_can_answer_any_more) {
  System system = virtual_time();
  const auto actor = value(system.spawn<Answerer>({}));
  struct Silent {
    Task<Result<int>> on(Get) {
      co_await stop_requested(std::stop_source().get_token());
      co_return 0;
    }
  };
  const auto silent = value(system.spawn<Silent>({}));
  EXPECT_EQ(kind_of(silent.ask<Get>().get()), ErrorKind::internal);
}

}  // namespace troupe
