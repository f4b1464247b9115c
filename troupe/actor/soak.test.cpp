// A million asks on real threads, from a seed, across actors that crash, restart, stop, are slow and overflow. The
// count of asks equals the count of outcomes, by kind, and no coroutine frame is left.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>

#include "troupe/actor/system.hpp"
#include "troupe/actor/when.hpp"
#include "troupe/core/sanitized.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct Counted {
  Counted() { alive.fetch_add(1, std::memory_order_relaxed); }
  Counted(const Counted&) = delete;
  ~Counted() { alive.fetch_sub(1, std::memory_order_relaxed); }
  static inline std::atomic<std::int64_t> alive = 0;
};

struct Quick {
  using Reply = int;
};
struct Slow {
  using Reply = int;
};
struct Relay {
  using Reply = int;
};
struct Crash {
  using Reply = int;
};
struct CrashLater {
  using Reply = int;
};
struct Refuse {
  using Reply = int;
};
struct Quit {
  using Reply = int;
};

/// Always there to be asked by workers.
struct Echo {
  int on(Quick) { return 1; }
};

class Worker {
 public:
  Worker(Context<Worker> self, Ref<Echo> echo) : self_(self), echo_(std::move(echo)) {}
  int on(Quick) { return 1; }
  Task<int> on(Slow) {
    Counted frame;
    co_await sleep_for(1ms);
    co_return 1;
  }
  Task<Result<int>> on(Relay) {
    Counted frame;
    co_return co_await echo_.ask<Quick>();
  }
  int on(Crash) { throw std::runtime_error("crash"); }
  Task<int> on(CrashLater) {
    Counted frame;
    co_await sleep_for(1ms);
    throw std::runtime_error("late crash");
  }
  Result<int> on(Refuse) { return fail(ErrorKind::unsupported); }
  int on(Quit) {
    self_.stop();
    return 1;
  }

 private:
  Counted instance_;
  Context<Worker> self_;
  Ref<Echo> echo_;
};

/// The workers everybody asks; one that has stopped is replaced.
class Troop {
 public:
  explicit Troop(System& system) : system_(system) {
    for (std::size_t i = 0; i < refs_.size(); ++i) refs_[i] = spawn(i);
  }
  Ref<Worker> pick(std::uint64_t number) {
    const std::size_t index = number % refs_.size();
    const std::lock_guard lock(mutex_);
    if (refs_[index].stopped()) refs_[index] = spawn(index);
    return refs_[index];
  }

 private:
  Ref<Worker> spawn(std::size_t index) {
    SpawnOptions options{.supervision = {.max_restarts = 50, .window = 100ms}};
    if (index % 4 == 1) options.mailbox_capacity = 8;
    if (index % 4 == 2) options = {.mailbox_capacity = 8, .overflow = Overflow::drop_oldest, .max_handlers = 4};
    if (index % 4 == 3) options = {.mailbox_capacity = 8, .overflow = Overflow::suspend_asker, .max_handlers = 4};
    return value(system_.spawn<Worker>(options, echo_));
  }

  System& system_;
  Ref<Echo> echo_ = value(system_.spawn<Echo>({}));
  std::mutex mutex_;
  std::array<Ref<Worker>, 12> refs_;
};

struct Tally {
  std::atomic<std::uint64_t> asked = 0;
  std::array<std::atomic<std::uint64_t>, kErrorKinds + 1> outcomes{};

  Result<int> count(Result<int> result) {
    ++outcomes[result ? kErrorKinds : static_cast<std::size_t>(result.error().kind())];
    return result;
  }
};

/// One ask, drawn from `draw`, and its one outcome.
Task<Result<int>> one_ask(Ref<Worker> worker, std::uint64_t draw, Tally& tally, std::stop_token token) {
  Counted frame;
  ++tally.asked;
  Result<int> result = fail(ErrorKind::internal);
  switch (draw % 64) {
    case 0: result = co_await worker.ask<Crash>(); break;
    case 1: result = co_await worker.ask<CrashLater>(); break;
    case 2: result = co_await worker.ask<Quit>(); break;
    case 3:
    case 4: result = co_await worker.ask<Slow>(); break;
    case 5: result = co_await worker.ask<Slow>().wait_at_most(1ms); break;
    case 6: result = co_await worker.ask<Slow>().cancel_on(token); break;
    case 7:
    case 8: result = co_await worker.ask<Refuse>(); break;
    case 9: result = co_await worker.ask<Quick>().wait_at_most(0ms); break;
    case 10:
    case 11:
    case 12: result = co_await worker.ask<Relay>().wait_at_most(1s); break;
    default: result = co_await worker.ask<Quick>(); break;
  }
  co_return tally.count(std::move(result));
}

Task<Result<void>> batch(Troop& troop, std::uint64_t seed, int count, Tally& tally, std::stop_token token) {
  std::mt19937_64 random(seed);
  std::vector<Task<Result<int>>> asks;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t draw = random();
    asks.push_back(one_ask(troop.pick(draw >> 8), draw, tally, token));
  }
  co_await when_all(std::move(asks));
  co_return Result<void>();
}

constexpr std::uint64_t kAsks = kSanitized ? 200'000 : 1'000'000;

}  // namespace

TEST(Soak, a_million_asks_end_exactly_once_each) {
  constexpr std::uint64_t kSeed = 1;
  constexpr int kThreads = 4;
  constexpr int kBatch = 250;
  Tally tally;
  {
    System system({.threads = 2, .log = log_nothing()});
    Troop troop(system);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        std::mt19937_64 random(kSeed * kThreads + static_cast<std::uint64_t>(t));
        for (std::uint64_t done = 0; done < kAsks / kThreads; done += kBatch) {
          std::stop_source source;
          const std::uint64_t draw = random();
          if (draw % 8 == 0) source.request_stop();
          std::jthread canceller;  // cancels while the batch is under way
          if (draw % 8 == 1) canceller = std::jthread([&source] { source.request_stop(); });
          EXPECT_TRUE(system.run(batch(troop, draw, kBatch, tally, source.get_token())));
        }
      });
    for (auto& thread : threads) thread.join();
  }
  std::uint64_t ended = 0;
  std::string kinds;
  for (int kind = 0; kind <= kErrorKinds; ++kind) {
    const std::uint64_t count = tally.outcomes[static_cast<std::size_t>(kind)];
    ended += count;
    if (count)
      kinds += " " + (kind == kErrorKinds ? "ok" : std::string(name(static_cast<ErrorKind>(kind)))) + "=" +
               std::to_string(count);
  }
  std::printf("soak: seed=%llu asks=%llu outcomes=%llu frames_left=%lld;%s\n", static_cast<unsigned long long>(kSeed),
              static_cast<unsigned long long>(tally.asked.load()), static_cast<unsigned long long>(ended),
              static_cast<long long>(Counted::alive.load()), kinds.c_str());
  EXPECT_EQ(tally.asked, kAsks);
  EXPECT_EQ(ended, kAsks);
  EXPECT_EQ(Counted::alive, 0);
  for (const ErrorKind kind : {ErrorKind::handler_threw, ErrorKind::restarted, ErrorKind::stopped, ErrorKind::timeout,
                               ErrorKind::mailbox_full, ErrorKind::cancelled, ErrorKind::unsupported})
    EXPECT_GT(tally.outcomes[static_cast<std::size_t>(kind)], 0u) << name(kind) << " never came up";
}

}  // namespace troupe
