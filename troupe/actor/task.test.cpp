#include "troupe/actor/task.hpp"

#include <gtest/gtest.h>

#include <stop_token>
#include <thread>

#include "troupe/actor/testkit.hpp"
#include "troupe/actor/when.hpp"
#include "troupe/core/sanitized.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

/// Lives in coroutine frames, so that a leaked frame is seen.
struct Counted {
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  ~Counted() { --alive; }
  static inline std::atomic<int> alive = 0;
};

Task<int> immediately(int number) {
  Counted frame;
  co_return number;
}
Task<int> after(Duration delay, int number) {
  Counted frame;
  co_await sleep_for(delay);
  co_return number;
}
Task<Result<int>> result_after(Duration delay, int number) {
  Counted frame;
  co_await sleep_for(delay);
  co_return number;
}
Task<int> throws() {
  Counted frame;
  co_await sleep_for(1ms);
  throw std::runtime_error("thrown in a task");
}
Task<> nothing() { co_return; }

// g++ turns the transfer between coroutines into a jump only when it optimises and no sanitizer is on.
#if TROUPE_SANITIZED || !defined(__OPTIMIZE__)
constexpr int kMany = 1'000;
#else
constexpr int kMany = 300'000;
#endif

class TaskTest : public testing::Test {
 protected:
  ~TaskTest() override { EXPECT_EQ(Counted::alive, 0) << "a coroutine frame leaked"; }
  System system{SystemOptions{.log = log_nothing(), .deterministic_seed = 4}};
};

}  // namespace

TEST_F(TaskTest, is_lazy) {
  bool ran = false;
  const auto make = [](bool& flag) -> Task<int> {
    flag = true;
    co_return 1;
  };
  {
    Task<int> never = make(ran);
    EXPECT_FALSE(ran);
  }
  EXPECT_FALSE(ran) << "a task that nobody awaits does nothing";
  EXPECT_EQ(system.run(make(ran)), 1);
  EXPECT_TRUE(ran);
}

TEST_F(TaskTest, long_chains_do_not_grow_the_stack) {
  const auto many = []() -> Task<int> {
    int sum = 0;
    for (int i = 0; i < kMany; ++i) sum += co_await immediately(1);
    co_return sum;
  };
  EXPECT_EQ(system.run(many()), kMany);
}

TEST_F(TaskTest, deep_recursion_lives_on_the_heap) {
  struct Deep {
    static Task<int> down(int depth) {
      if (depth == 0) co_return 0;
      co_return 1 + co_await down(depth - 1);
    }
  };
  EXPECT_EQ(system.run(Deep::down(kMany)), kMany);
}

TEST_F(TaskTest, exceptions_travel_to_whoever_awaits) {
  const auto catches = []() -> Task<std::string> {
    std::string what = "nothing";
    try {
      (void)co_await throws();
    } catch (const std::exception& exception) {
      what = exception.what();
    }
    co_return what;
  };
  EXPECT_EQ(system.run(catches()), "thrown in a task");
  EXPECT_EQ(system.run(throws()).error().kind(), ErrorKind::handler_threw);
  EXPECT_EQ(system.run(throws()).error().message(), "the task that was run threw std::runtime_error: thrown in a task");
}

#ifndef __clang__  // which warns of it, and may compile it to anything
TEST_F(TaskTest, that_runs_off_its_end_gives_an_error_and_does_not_abort) {
  const auto forgets = [](bool ends_well) -> Task<Result<int>> {
    Counted frame;
    if (ends_well) co_return 1;
    co_await sleep_for(1ms);
  };
  EXPECT_EQ(value(system.run(forgets(true))), 1);
  const Result<int> end = system.run(forgets(false));
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().to_string(), "internal: a Task<Result<...>> ran off its end; end it with co_return");
}
#endif

TEST_F(TaskTest, co_try_gives_the_value_or_ends_the_task) {
  const auto inner = [](int number) -> Task<Result<int>> {
    Counted frame;
    if (number < 0) co_return fail(ErrorKind::invalid_argument, "negative");
    co_return number;
  };
  const auto outer = [inner](int a, int b) -> Task<Result<int>> {
    Counted frame;
    const int x = CO_TRY(co_await inner(a));
    Counted another;
    co_return x + CO_TRY(co_await inner(b));
  };
  EXPECT_EQ(system.run(outer(1, 2)), 3);
  EXPECT_EQ(system.run(outer(-1, 2)).error().message(), "negative");
  EXPECT_EQ(system.run(outer(1, -2)).error().message(), "negative");
}

TEST_F(TaskTest, co_try_unwraps_results_without_a_value_and_move_only_ones) {
  const auto task = [](bool good) -> Task<Result<int>> {
    CO_TRY(good ? Result<void>() : Result<void>(Unexpected(Error(ErrorKind::timeout))));
    const std::unique_ptr<int> box = CO_TRY(Result<std::unique_ptr<int>>(std::make_unique<int>(7)));
    co_return *box;
  };
  EXPECT_EQ(system.run(task(true)), 7);
  EXPECT_EQ(system.run(task(false)).error().kind(), ErrorKind::timeout);
}

TEST_F(TaskTest, sleeps_in_virtual_time) {
  EXPECT_EQ(system.run(after(24h, 1)), 1);
  EXPECT_GE(system.now().time_since_epoch(), 24h);
  EXPECT_EQ(system.run(after(0ms, 2)), 2);
  EXPECT_EQ(system.run(after(-5ms, 3)), 3);
}

TEST_F(TaskTest, when_all_runs_side_by_side_and_keeps_the_order) {
  const auto both = []() -> Task<int> {
    auto [a, b, none, c] = co_await when_all(after(30ms, 1), after(10ms, 20), nothing(), immediately(300));
    static_assert(std::is_same_v<decltype(none), std::monostate>);
    co_return a + b + c;
  };
  const TimePoint before = system.now();
  EXPECT_EQ(system.run(both()), 321);
  EXPECT_LT(system.now() - before, 35ms);
}

TEST_F(TaskTest, when_all_of_a_vector_and_of_an_empty_one) {
  const auto many = [](int count) -> Task<int> {
    std::vector<Task<int>> tasks;
    for (int i = 0; i < count; ++i) tasks.push_back(after(Duration(1ms) * (count - i), i));
    const std::vector<int> values = co_await when_all(std::move(tasks));
    int good = 0;
    for (int i = 0; i < count; ++i) good += values[static_cast<std::size_t>(i)] == i;
    co_return good;
  };
  EXPECT_EQ(system.run(many(100)), 100);
  EXPECT_EQ(system.run(many(0)), 0);
}

TEST_F(TaskTest, when_all_throws_after_all_have_ended) {
  const auto task = []() -> Task<int> {
    auto [a, b] = co_await when_all(throws(), after(50ms, 1));
    co_return a + b;
  };
  EXPECT_EQ(system.run(task()).error().message(), "the task that was run threw std::runtime_error: thrown in a task");
}

TEST_F(TaskTest, when_any_takes_the_first_and_destroys_the_others) {
  const auto race = []() -> Task<int> {
    const AnyOf<int> first = co_await when_any(after(30ms, 1), after(10ms, 2), after(20ms, 3));
    EXPECT_EQ(Counted::alive, 0) << "the losers are gone already";
    co_return static_cast<int>(first.index) * 100 + first.value;
  };
  EXPECT_EQ(system.run(race()), 102);
  const auto at_once = []() -> Task<int> { co_return (co_await when_any(immediately(5), after(1ms, 6))).value; };
  EXPECT_EQ(system.run(at_once()), 5);
}

TEST_F(TaskTest, when_any_of_nothing_is_an_error_and_no_hang) {
  const auto none = []() -> Task<int> { co_return (co_await when_any(std::vector<Task<int>>())).value; };
  EXPECT_EQ(system.run(none()).error().kind(), ErrorKind::invalid_argument);
}

TEST_F(TaskTest, a_result_without_a_value_is_returned_by_empty_braces) {
  const auto done = []() -> Task<Result<void>> { co_return {}; };
  EXPECT_TRUE(system.run(done()));
}

TEST_F(TaskTest, actors_can_be_spawned_inside_co_try) {
  struct Go {
    using Reply = std::string;
  };
  struct Child {};
  struct Spawner {
    explicit Spawner(Context<Spawner> context) : self(context) {}
    Task<Result<std::string>> on(Go) {
      const Ref<Child> child = CO_TRY(self.spawn<Child>({.name = "a-name-that-is-too-long-for-the-small-buffer"}));
      co_return child.path();
    }
    Context<Spawner> self;
  };
  const auto spawner = value(system.spawn<Spawner>({.name = "s"}));
  EXPECT_EQ(spawner.ask<Go>().get(), "/user/s/a-name-that-is-too-long-for-the-small-buffer");
}

TEST_F(TaskTest, with_timeout_and_with_stop_cut_a_task_off) {
  EXPECT_EQ(system.run(with_timeout(result_after(10ms, 1), 20ms)), 1);
  EXPECT_EQ(system.run(with_timeout(result_after(1h, 1), 20ms)).error().kind(), ErrorKind::timeout);
  std::stop_source source;
  EXPECT_EQ(system.run(with_stop(result_after(10ms, 1), source.get_token())), 1);
  source.request_stop();
  EXPECT_EQ(system.run(with_stop(result_after(1h, 1), source.get_token())).error().kind(), ErrorKind::cancelled);
}

TEST_F(TaskTest, a_stop_from_another_thread_cuts_a_task_off) {
  System threads({.log = log_nothing()});
  for (int round = 0; round < 200; ++round) {
    std::stop_source source;
    std::thread stopper([&] {
      for (int i = 0; i < round; ++i) std::this_thread::yield();
      source.request_stop();
    });
    const Result<int> ended = threads.run(with_stop(result_after(1h, 1), source.get_token()));
    EXPECT_EQ(ended.error().kind(), ErrorKind::cancelled);
    stopper.join();
  }
}

TEST_F(TaskTest, run_inside_a_handler_is_refused) {
  struct Go {
    using Reply = int;
  };
  struct Nested {
    explicit Nested(System* whole) : inner(whole) {}
    int on(Go) { return static_cast<int>(inner->run(immediately(1)).error().kind()); }
    System* inner;
  };
  const auto nested = value(system.spawn<Nested>({}, &system));
  const std::size_t actors = system.stats().actors;
  EXPECT_EQ(nested.ask<Go>().get(), static_cast<int>(ErrorKind::invalid_argument));
  EXPECT_EQ(system.stats().actors, actors) << "and leaves nothing behind";
}

}  // namespace troupe
