#include "troupe/actor/pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "troupe/actor/testkit.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

/// Of a pool without timers, which nobody looks after.
struct NoClock final : PoolClock {
  void somebody_is_busy() noexcept override {}
} no_clock;

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

/// Holds its thread until it is let go.
struct Holding final : Runnable {
  void run() noexcept override {
    holds = true;
    while (!let_go) std::this_thread::yield();
    holds = false;
  }
  std::uint64_t id() const noexcept override { return 2; }
  std::atomic<bool> holds = false, let_go = false;
};

/// Notes in what order they run.
struct Noting final : Runnable {
  void run() noexcept override {
    order->push_back(name);
    ++*ran;
  }
  std::uint64_t id() const noexcept override { return 3; }
  char name = 0;
  std::string* order = nullptr;
  std::atomic<int>* ran = nullptr;
};

/// This thread is on one core only, as long as this lives.
class OnCore {
 public:
  explicit OnCore(int core) {
    pthread_getaffinity_np(pthread_self(), sizeof before_, &before_);
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<unsigned>(core), &only);
    EXPECT_EQ(pthread_setaffinity_np(pthread_self(), sizeof only, &only), 0);
  }
  ~OnCore() { pthread_setaffinity_np(pthread_self(), sizeof before_, &before_); }
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;

 private:
  cpu_set_t before_;
};

std::vector<int> usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<unsigned>(core), &allowed)) cores.push_back(core);
  return cores;
}

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

// Lower case: told. Upper case: a plain thread waits for it, and so it overtakes, but only in every other turn.
TEST(Pool, serves_whom_a_plain_thread_waits_for_first_in_every_other_turn) {
  auto pool = value(Pool::start({.threads = 1, .name = "pool", .core = {}}, no_clock));
  Holding holding;
  pool->schedule(holding, Scheduling::ready);
  while (!holding.holds) std::this_thread::yield();

  const std::string names = "abcdABC";
  std::string order;
  std::atomic<int> ran = 0;
  std::vector<Noting> all(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    all[i].name = names[i];
    all[i].order = &order;
    all[i].ran = &ran;
    std::optional<Pool::Awaiting> awaiting;
    if (names[i] < 'a') awaiting.emplace();
    pool->schedule(all[i], Scheduling::ready);
  }
  holding.let_go = true;
  while (ran < static_cast<int>(names.size())) std::this_thread::yield();
  EXPECT_EQ(order, "AaBbCcd");
}

TEST(Pool, knows_whether_it_waits_for_the_core_of_a_plain_thread) {
  const std::vector<int> cores = usable_cores();
  auto pool = value(Pool::start({.threads = 1, .name = "pool", .core = cores.back()}, no_clock));
  const OnCore here(cores.back());
  // Twice: after its first sleep the thread has slept on its own core for sure.
  for (int round = 0; round < 2; ++round) {
    while (pool->busy()) std::this_thread::yield();
    EXPECT_FALSE(pool->waits_for_this_core()) << "it sleeps";
    Holding holding;
    pool->schedule(holding, Scheduling::ready);
    EXPECT_TRUE(round == 0 || pool->waits_for_this_core()) << "it was woken on this core";
    while (!holding.holds) std::this_thread::yield();
    EXPECT_TRUE(pool->waits_for_this_core());
    EXPECT_FALSE(Pool::Awaiting::is_in_the_way()) << "this thread has asked nobody";
    if (cores.size() > 1) {
      const OnCore elsewhere(cores.front());
      EXPECT_FALSE(pool->waits_for_this_core());
    }
    holding.let_go = true;
    while (holding.holds) std::this_thread::yield();
  }
}

TEST(Pool, answers_a_plain_thread_on_its_own_core) {
  const int core = usable_cores().back();
  System system({.log = log_nothing()});
  const auto actor = value(system.spawn<Pinned>({.dispatcher = value(system.pinned_thread("core", core))}));
  const OnCore here(core);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(actor.ask<CoreOf>().get(), core);
}

// Of a crowd's handlers, which a plain thread has told, next to none runs between an ask in the pool and its answer.
// Who waits outside has a turn after each `kTurnTime`, though, which a slow machine needs for a few turns: those are
// due.
TEST(Pool, an_ask_within_it_does_not_wait_for_posts_from_outside) {
  struct Between {
    std::int64_t handled = 0;
    std::int64_t due = 0;
  };
  struct Look {
    using Reply = Between;
  };
  struct Asker {
    explicit Asker(Ref<Reader> to) : reader(std::move(to)) {}
    Task<Result<Between>> on(Look) {
      const auto begin = std::chrono::steady_clock::now();
      const std::int64_t before = CO_TRY(co_await reader.ask<HandledSoFar>());
      for (int i = 0; i < 4; ++i) (void)CO_TRY(co_await reader.ask<HandledSoFar>());
      const std::int64_t handled = CO_TRY(co_await reader.ask<HandledSoFar>()) - before;
      co_return Between{handled, (std::chrono::steady_clock::now() - begin) / kTurnTime};
    }
    Ref<Reader> reader;
  };
  std::atomic<std::int64_t> handled = 0;
  const std::atomic<bool> once = true;
  System system({.threads = 1, .log = log_nothing()});
  std::vector<Ref<Busy>> crowd;
  for (int i = 0; i < 64; ++i) crowd.push_back(value(system.spawn<Busy>({}, &handled, &once)));
  const auto asker = value(system.spawn<Asker>({}, value(system.spawn<Reader>({}, &handled))));
  std::vector<std::int64_t> too_many;
  for (int i = 0; i < 51; ++i) {
    for (const Ref<Busy>& one : crowd) value(one.tell<Work>());
    auto asked = asker.ask<Look>();
    for (const Ref<Busy>& one : crowd) value(one.tell<Work>());
    const Between between = value(std::move(asked).get());
    too_many.push_back(between.handled - between.due);
    // Before the next round somebody else has a turn: two rounds in one are more turns in a row than a pair may have.
    const std::int64_t last = static_cast<std::int64_t>(2 * crowd.size() + 1) * (i + 1);
    value(crowd.front().tell<Work>());
    while (handled < last) std::this_thread::yield();
  }
  EXPECT_LE(median(too_many), 5) << "every second turn would be ten";
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
    auto pool = value(Pool::start({.threads = threads, .name = "pool", .core = {}}, no_clock));
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

/// A thousand timers, one due whenever the one before has been handled. What is due is posted by whoever fires it.
class DenseTimers final : public PoolClock {
 public:
  void somebody_is_busy() noexcept override {}
  bool timer_is_due() const noexcept override { return timer_is_due_soon() && handler.fired == handler.count; }
  bool timer_is_due_soon() const noexcept override { return pool != nullptr && handler.fired < kTimers; }
  void fire_timers() noexcept override {
    const std::lock_guard alone(mutex_);
    if (!timer_is_due()) return;
    fired_by.insert(std::this_thread::get_id());
    ++handler.fired;
    pool.load()->schedule(handler, Scheduling::ready);
  }

  struct Handler final : Runnable {
    void run() noexcept override { ++count; }
    std::uint64_t id() const noexcept override { return 1; }
    std::atomic<int> fired{0};
    std::atomic<int> count{0};
  };

  static constexpr int kTimers = 1000;
  Handler handler;
  std::set<std::thread::id> fired_by;
  std::atomic<Pool*> pool{nullptr};  // nothing is due before it is there

 private:
  std::mutex mutex_;
};

TEST(Pool, a_thread_that_looks_for_work_fires_timers_and_does_not_sleep_between_close_ones) {
  DenseTimers timers;
  auto pool = value(Pool::start({.threads = 2, .name = "pool", .core = {}}, timers));
  timers.pool = pool.get();
  Counter first;  // wakes a thread, which looks for more
  first.pool = pool.get();
  pool->schedule(first, Scheduling::ready);
  while (timers.handler.count < DenseTimers::kTimers) std::this_thread::yield();
  pool->join();
  EXPECT_EQ(timers.handler.fired, DenseTimers::kTimers);
  EXPECT_FALSE(timers.fired_by.contains(std::this_thread::get_id()));
}

TEST(Pool, wakes_from_sleep_every_time) {
  auto pool = value(Pool::start({.threads = 2, .name = "pool", .core = {}}, no_clock));
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
  const int last = usable_cores().back();
  System system({.log = log_nothing()});
  const auto actor = value(system.spawn<Pinned>({.dispatcher = value(system.pinned_thread("core", last))}));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(actor.ask<CoreOf>().get(), last);
}

}  // namespace troupe
