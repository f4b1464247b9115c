// What becomes of a tell: taken, refused and said so, or waiting for room; and who sent it.
#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

#include "troupe/actor/envelope.hpp"
#include "troupe/actor/refused_tells.hpp"
#include "troupe/actor/testkit.hpp"
#include "troupe/actor/when.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct Number {
  int value = 0;
};
struct Numbers {
  using Reply = std::vector<int>;
};
struct Pause {
  using Reply = void;
};

/// Keeps what it is told; can be made to take nothing for an hour.
class Keeper {
 public:
  void on(Number message) { numbers_.push_back(message.value); }
  std::vector<int> on(Numbers) { return numbers_; }
  Task<> on(Pause) { co_await sleep_for(1h); }

 private:
  std::vector<int> numbers_;
};

struct Flood {
  int count = 0;
  using Reply = int;  // how many were refused
};
class Flooder {
 public:
  explicit Flooder(Ref<Keeper> keeper) : keeper_(std::move(keeper)) {}
  int on(Flood message) {
    int refused = 0;
    for (int i = 0; i < message.count; ++i) refused += !keeper_.tell<Number>(i).has_value();
    return refused;
  }

 private:
  Ref<Keeper> keeper_;
};

/// What a system says, line by line.
class Lines {
 public:
  LogSink sink() {
    return [this](const LogRecord& record) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(record.message);
    };
  }
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

Task<Result<void>> tell_all(Ref<Keeper> keeper, int count) {
  for (int i = 0; i < count; ++i) CO_TRY(co_await keeper.tell_or_wait<Number>(i));
  co_return Result<void>();
}

std::vector<int> up_to(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

/// A keeper with room for two that takes nothing: one message runs, one waits.
Ref<Keeper> full_keeper(System& system) {
  const auto keeper = value(system.spawn<Keeper>({.name = "keeper", .mailbox_capacity = 2, .max_handlers = 1}));
  (void)system.run(
      [](Ref<Keeper> it) -> Task<Result<void>> { co_return co_await it.ask<Pause>().wait_at_most(1ms); }(keeper));
  value(keeper.tell<Number>(1));
  value(keeper.tell<Number>(2));
  return keeper;
}

}  // namespace

TEST(Tell, takes_little_more_than_its_message) {
  EXPECT_LE(sizeof(detail::Envelope<Keeper, Number, detail::Sent::told>), 40u);
  EXPECT_GT(sizeof(detail::Envelope<Keeper, Numbers, detail::Sent::asked>), 100u)
      << "what a told message does not have";
}

TEST(Tell, a_plain_program_may_tell_a_million) {
  constexpr int kMessages = 1'000'000;
  System system({.threads = 2, .log = log_nothing()});
  const auto keeper = value(system.spawn<Keeper>({}));
  const auto flooder = value(system.spawn<Flooder>({}, keeper));
  EXPECT_EQ(flooder.ask<Flood>(kMessages).get(), 0);
  EXPECT_EQ(value(keeper.ask<Numbers>().get()).size(), static_cast<std::size_t>(kMessages));
}

TEST(Tell, what_a_full_mailbox_refuses_is_said_once_per_period_with_its_number) {
  Lines lines;
  System system({.log = lines.sink(), .deterministic_seed = 1});
  const auto keeper = full_keeper(system);
  lines.take();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(keeper.tell<Number>(3).error().kind(), ErrorKind::mailbox_full);
  const std::string before = "its mailbox is full, at 2 messages: ";
  const std::string after = " refused. Look at what tell returns, or use tell_or_wait";
  EXPECT_EQ(lines.take(), std::vector{before + "1 tell was" + after});
  system.advance(kRefusalPeriod);
  EXPECT_EQ(lines.take(), std::vector{before + "9 tells were" + after});
  system.advance(5 * kRefusalPeriod);
  EXPECT_EQ(lines.take(), std::vector<std::string>()) << "nothing more was refused";
  (void)keeper.tell<Number>(3);
  (void)keeper.tell<Number>(3);
  keeper.stop();
  system.run_until_idle();
  EXPECT_EQ(lines.take(), (std::vector{before + "1 tell was" + after, before + "1 tell was" + after}))
      << "the rest is said at the end";
}

TEST(TellOrWait, waits_for_room_in_a_task_and_keeps_the_order) {
  const auto found = explore(1, 50, [](System& system, std::uint64_t) {
    const auto keeper = value(system.spawn<Keeper>({.mailbox_capacity = 3, .overflow = Overflow::suspend_asker}));
    ASSERT_TRUE(system.run(tell_all(keeper, 100)));
    EXPECT_EQ(keeper.ask<Numbers>().get(), up_to(100));
    EXPECT_EQ(system.stats().dead_letters, 0u);
  });
  EXPECT_GT(found.distinct, 1u);
}

TEST(TellOrWait, waits_for_room_in_plain_threads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5'000;
  System system({.threads = 2, .log = log_nothing()});
  const auto keeper = value(system.spawn<Keeper>({.mailbox_capacity = 8, .overflow = Overflow::suspend_asker}));
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&keeper, t] {
        for (int i = 0; i < kEach; ++i) ASSERT_TRUE(keeper.tell_or_wait<Number>(t * kEach + i).get());
      });
  }
  const Result<std::vector<int>> told = keeper.ask<Numbers>().get();
  ASSERT_EQ(value(told).size(), static_cast<std::size_t>(kThreads * kEach));
  std::vector<int> next{0, kEach, 2 * kEach, 3 * kEach};
  for (const int number : *told) EXPECT_EQ(number, next[static_cast<std::size_t>(number / kEach)]++);
}

TEST(TellOrWait, a_message_given_up_is_never_handled) {
  System system({.log = log_nothing(), .deterministic_seed = 1});
  const auto keeper = full_keeper(system);
  EXPECT_EQ(keeper.tell_or_wait<Number>(3).wait_at_most(10ms).get().error().kind(), ErrorKind::timeout);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(keeper.tell_or_wait<Number>(4).cancel_on(stop.get_token()).get().error().kind(), ErrorKind::cancelled);
  EXPECT_TRUE(keeper.tell_or_wait<Number>(5).get()) << "when the pause is over there is room";
  system.run_until_idle();
  EXPECT_EQ(keeper.ask<Numbers>().get(), (std::vector{1, 2, 5}));
}

TEST(TellOrWait, ends_in_stopped_when_the_actor_stops) {
  System system({.log = log_nothing(), .deterministic_seed = 1});
  const auto keeper = full_keeper(system);
  std::vector<Task<Result<void>>> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(keeper.tell_or_wait<Number>(i));
  const auto all =
      system.run([](Ref<Keeper> it, std::vector<Task<Result<void>>> tasks) -> Task<std::vector<Result<void>>> {
        std::vector<Task<Result<void>>> both;
        for (auto& task : tasks) both.push_back(std::move(task));
        both.push_back([](Ref<Keeper> stopped) -> Task<Result<void>> {
          co_await sleep_for(1ms);
          stopped.stop();
          co_return Result<void>();
        }(it));
        co_return co_await when_all(std::move(both));
      }(keeper, std::move(waiting)));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ((*all)[i].error().kind(), ErrorKind::stopped);
  EXPECT_EQ(keeper.tell_or_wait<Number>(1).get().error().kind(), ErrorKind::stopped);
  EXPECT_EQ(Ref<Keeper>().tell_or_wait<Number>(1).get().error().kind(), ErrorKind::invalid_argument);
}

namespace {

struct Ping {
  int left = 0;
};
struct Pong {
  int left = 0;
};
struct Meet {
  RefTo<Pong> other;
};
struct MeetPing {
  RefTo<Ping> other;
};
struct Over {};

/// Two actors that know each other by what they say: each is written in one piece.
class Pinger {
 public:
  explicit Pinger(RefTo<Over> end) : end_(std::move(end)) {}
  void on(Meet message) { other_ = std::move(message.other); }
  void on(Ping message) { (void)other_.tell<Pong>(message.left); }

 private:
  RefTo<Pong> other_;
  RefTo<Over> end_;
};
class Ponger {
 public:
  explicit Ponger(RefTo<Over> end) : end_(std::move(end)) {}
  void on(MeetPing message) { other_ = std::move(message.other); }
  void on(Pong message) {
    if (message.left == 0)
      (void)end_.tell(Over{});
    else
      (void)other_.tell<Ping>(message.left - 1);
  }

 private:
  RefTo<Ping> other_;
  RefTo<Over> end_;
};

struct Question {
  int of = 0;
};
struct Answer {
  int to = 0;
};
/// Answers whoever has asked, whatever its type.
struct Oracle {
  void on(Question question, RefTo<Answer> sender) {
    if (sender)
      (void)sender.tell<Answer>(2 * question.of);
    else
      ++nobody;
  }
  int nobody = 0;
};
struct Start {
  Ref<Oracle> oracle;
};
class Believer {
 public:
  Believer(Context<Believer> self, RefTo<int> end) : self_(self), end_(std::move(end)) {}
  void on(Start message) { value(self_.tell<Question>(message.oracle, 21)); }
  void on(Answer answer) { (void)end_.tell<int>(answer.to); }

 private:
  Context<Believer> self_;
  RefTo<int> end_;
};

}  // namespace

TEST(RefTo, lets_two_actors_know_each_other) {
  System system({.log = log_nothing(), .deterministic_seed = 1});
  Probe<Over> end(system);
  const auto pinger = value(system.spawn<Pinger>({}, RefTo<Over>(end.ref())));
  const auto ponger = value(system.spawn<Ponger>({}, RefTo<Over>(end.ref())));
  value(pinger.tell<Meet>(ponger));
  value(ponger.tell<MeetPing>(pinger));
  value(pinger.tell<Ping>(10));
  EXPECT_TRUE(end.expect<Over>());
}

TEST(RefTo, asks_and_says_who_it_is) {
  System system({.log = log_nothing(), .deterministic_seed = 1});
  const auto keeper = value(system.spawn<Keeper>({.name = "keeper", .mailbox_capacity = 2}));
  const RefTo<Number, Numbers> ref = keeper;
  EXPECT_TRUE(ref.tell_or_wait<Number>(7).get());
  EXPECT_EQ(ref.ask<Numbers>().get(), std::vector{7});
  EXPECT_EQ(ref.path(), "/user/keeper");
  EXPECT_EQ(ref.id(), keeper.id());
  EXPECT_FALSE(ref.stopped());
  const RefTo<Number, Numbers> nobody;
  EXPECT_FALSE(nobody);
  EXPECT_TRUE(nobody.stopped());
  EXPECT_EQ(nobody.tell<Number>(1).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(nobody.tell_or_wait<Number>(1).get().error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(nobody.ask<Numbers>().get().error().message(), "the ref is empty: it names no actor");
}

TEST(Sender, is_known_to_a_handler_that_wants_it) {
  System system({.log = log_nothing(), .deterministic_seed = 1});
  Probe<int> end(system);
  const auto oracle = value(system.spawn<Oracle>({}));
  const auto believer = value(system.spawn<Believer>({}, RefTo<int>(end.ref())));
  value(believer.tell<Start>(oracle));
  EXPECT_EQ(value(end.expect<int>()), 42);
  value(oracle.tell<Question>(1));  // from nobody in particular: the handler sees an empty ref
  EXPECT_TRUE(end.expect_nothing(1s));
}

}  // namespace troupe
