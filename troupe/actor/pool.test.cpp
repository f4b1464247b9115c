#include "troupe/actor/pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <set>
#include <thread>
#include <vector>

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

/// Handlers of 20 us each that never run out.
struct Work {};
class Busy {
 public:
  Busy(Context<Busy> self, std::atomic<std::int64_t>* handled, const std::atomic<bool>* enough)
      : self_(self), handled_(handled), enough_(enough) {}
  void on(Work) {
    const auto until = std::chrono::steady_clock::now() + 20us;
    while (std::chrono::steady_clock::now() < until) {
    }
    ++*handled_;
    if (!*enough_) (void)self_.ref().tell<Work>();
  }

 private:
  Context<Busy> self_;
  std::atomic<std::int64_t>* handled_;
  const std::atomic<bool>* enough_;
};

/// A pool of two threads whose queues are never empty, nor are the mailboxes of the actors in them.
class Saturated {
 public:
  Saturated() {
    for (int i = 0; i < 16; ++i) {
      const auto busy = value(system.spawn<Busy>({}, &handled, &enough_));
      for (int m = 0; m < 100; ++m) value(busy.tell<Work>());
    }
  }
  ~Saturated() { enough_ = true; }

  std::atomic<std::int64_t> handled = 0;
  System system{{.threads = 2, .log = log_nothing()}};

 private:
  std::atomic<bool> enough_ = false;
};

struct HandledSoFar {
  using Reply = std::int64_t;
};
struct Reader {
  explicit Reader(std::atomic<std::int64_t>* number) : handled(number) {}
  std::int64_t on(HandledSoFar) { return *handled; }
  std::atomic<std::int64_t>* handled;
};

struct Beat {};
class Beater {
 public:
  Beater(Context<Beater> self, std::atomic<std::int64_t>* handled, std::shared_ptr<std::vector<std::int64_t>> between)
      : self_(self), handled_(handled), between_(std::move(between)) {}
  void started() { value(self_.every(5ms, Beat{})); }
  void on(Beat) { between_->push_back(*handled_ - std::exchange(last_, handled_->load())); }

 private:
  Context<Beater> self_;
  std::atomic<std::int64_t>* handled_;
  std::int64_t last_ = 0;
  std::shared_ptr<std::vector<std::int64_t>> between_;
};

/// Begins, and waits until all have begun.
struct Begin {
  std::shared_ptr<std::atomic<int>> begun;
  int all = 0;
};
struct Starter {
  void on(Begin message) {
    ++*message.begun;
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    while (*message.begun < message.all && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    EXPECT_EQ(*message.begun, message.all) << "a thread slept although a handler waited";
  }
};
struct BeginAll {
  using Reply = void;
};
class Chief {
 public:
  explicit Chief(std::vector<Ref<Starter>> starters) : starters_(std::move(starters)) {}
  void on(BeginAll) {
    auto begun = std::make_shared<std::atomic<int>>(0);
    for (const Ref<Starter>& one : starters_) value(one.tell<Begin>(begun, static_cast<int>(starters_.size())));
  }

 private:
  std::vector<Ref<Starter>> starters_;
};

std::int64_t median(std::vector<std::int64_t> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

}  // namespace

TEST(Share, ends_within_eight_steps_of_its_time_however_quick_the_first_ones_were) {
  detail::Share share(64, 100us);
  for (int i = 0; i < 33; ++i)
    if (share.used_up()) return;  // on a busy machine these may take the time alone
  const auto until = std::chrono::steady_clock::now() + 200us;
  while (std::chrono::steady_clock::now() < until) {
  }
  int steps = 1;
  while (!share.used_up()) ++steps;
  EXPECT_LE(steps, 8);
}

TEST(Pool, serves_posts_from_outside_within_a_few_turns_when_it_is_saturated) {
  Saturated pool;
  const auto reader = value(pool.system.spawn<Reader>({}, &pool.handled));
  std::vector<std::int64_t> between;  // messages handled between a post and its handler
  for (int i = 0; i < 51; ++i) {
    const std::int64_t before = pool.handled;
    between.push_back(value(reader.ask<HandledSoFar>().get()) - before);
  }
  // Two threads end a turn each, of at most 64 messages; one look in 61 turns would be thousands. The median, because
  // this thread may be held up between the two lines.
  EXPECT_LE(median(between), 512);
}

// Of a crowd's handlers, which a plain thread has told, next to none runs between an ask in the pool and its answer.
TEST(Pool, an_ask_within_it_does_not_wait_for_posts_from_outside) {
  struct Asker {
    explicit Asker(Ref<Reader> to) : reader(std::move(to)) {}
    Task<Result<std::int64_t>> on(HandledSoFar) {
      const std::int64_t before = CO_TRY(co_await reader.ask<HandledSoFar>());
      for (int i = 0; i < 4; ++i) (void)CO_TRY(co_await reader.ask<HandledSoFar>());
      co_return CO_TRY(co_await reader.ask<HandledSoFar>()) - before;
    }
    Ref<Reader> reader;
  };
  std::atomic<std::int64_t> handled = 0;
  const std::atomic<bool> once = true;
  System system({.threads = 1, .log = log_nothing()});
  std::vector<Ref<Busy>> crowd;
  for (int i = 0; i < 64; ++i) crowd.push_back(value(system.spawn<Busy>({}, &handled, &once)));
  const auto asker = value(system.spawn<Asker>({}, value(system.spawn<Reader>({}, &handled))));
  std::vector<std::int64_t> between;
  for (int i = 0; i < 51; ++i) {
    for (const Ref<Busy>& one : crowd) value(one.tell<Work>());
    auto asked = asker.ask<HandledSoFar>();
    for (const Ref<Busy>& one : crowd) value(one.tell<Work>());
    between.push_back(value(std::move(asked).get()));
  }
  EXPECT_LE(median(between), 5) << "every second turn would be ten";
}

TEST(Pool, serves_timers_when_it_is_saturated) {
  Saturated pool;
  auto between = std::make_shared<std::vector<std::int64_t>>();
  const auto beater = value(pool.system.spawn<Beater>({}, &pool.handled, between));
  Probe<> probe(pool.system);
  while (pool.handled < 40'000) std::this_thread::yield();
  beater.stop();
  ASSERT_TRUE(probe.expect_terminated(beater));
  // 5 ms are 500 messages of two threads.
  ASSERT_GE(between->size(), 10u);
  EXPECT_LE(median(*between), 2000);
}

TEST(Pool, starts_as_many_handlers_as_it_has_threads) {
  constexpr int kThreads = 16;
  System system({.threads = kThreads, .log = log_nothing()});
  std::vector<Ref<Starter>> starters;
  for (int i = 0; i < kThreads; ++i) starters.push_back(value(system.spawn<Starter>({})));
  for (int round = 0; round < 20; ++round) {
    auto begun = std::make_shared<std::atomic<int>>(0);
    for (const Ref<Starter>& one : starters) value(one.tell<Begin>(begun, kThreads));
    while (*begun < kThreads && !testing::Test::HasFailure()) std::this_thread::yield();
  }
}

TEST(Pool, starts_what_a_handler_has_told) {
  constexpr int kThreads = 8;
  System system({.threads = kThreads, .log = log_nothing()});
  std::vector<Ref<Starter>> starters;
  for (int i = 0; i < kThreads; ++i) starters.push_back(value(system.spawn<Starter>({})));
  const auto chief = value(system.spawn<Chief>({}, starters));
  for (int round = 0; round < 20; ++round) EXPECT_TRUE(chief.ask<BeginAll>().get());
}

TEST(Pool, a_slot_behind_a_long_turn_is_taken_over) {
  System system({.threads = 2, .log = log_nothing()});
  const auto starter = value(system.spawn<Starter>({}));
  struct Teller {
    explicit Teller(Ref<Starter> to) : to_(std::move(to)) {}
    void on(Begin message) {
      value(to_.tell<Begin>(message.begun, message.all));  // into this thread's slot
      Starter().on(std::move(message));
    }
    Ref<Starter> to_;
  };
  const auto teller = value(system.spawn<Teller>({}, starter));
  for (int round = 0; round < 20; ++round) {
    auto begun = std::make_shared<std::atomic<int>>(0);
    value(teller.tell<Begin>(begun, 2));
    while (*begun < 2 && !testing::Test::HasFailure()) std::this_thread::yield();
  }
}

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
