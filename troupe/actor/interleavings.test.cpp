// The real code under a seeded scheduler: thousands of orders of mailbox, restart, stop and shutdown, and in each of
// them every ask ends exactly once and nothing is left behind. A failing seed replays.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <random>

#include "troupe/actor/deterministic.hpp"
#include "troupe/actor/system_core.hpp"
#include "troupe/actor/testkit.hpp"
#include "troupe/actor/when.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct Counted {
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  ~Counted() { --alive; }
  static inline int alive = 0;
};

/// What became of every ask: its number of ends, by ask.
struct Ledger {
  std::array<int, 64> ends{};
  std::array<int, kErrorKinds + 1> kinds{};
  int asks = 0;

  void end(int ask, const Result<int>& result) {
    ++ends[static_cast<std::size_t>(ask)];
    ++kinds[result ? kErrorKinds : static_cast<std::size_t>(result.error().kind())];
  }
};
using LedgerPtr = std::shared_ptr<Ledger>;

struct Quick {
  using Reply = int;
};
struct Waits {
  using Reply = int;
};
struct Crash {
  using Reply = int;
};
struct CrashLater {
  using Reply = int;
};

class Child {
 public:
  int on(Quick) { return 1; }

 private:
  Counted instance_;
};

/// Does everything that can go wrong around a mailbox.
class Worker {
 public:
  explicit Worker(Context<Worker> self) : self_(self), child_(value(self.spawn<Child>({.name = "child"}))) {
    (void)self_.every(2ms, Quick{});
  }
  int on(Quick) { return 1; }
  Task<Result<int>> on(Waits) {
    Counted frame;
    const int answer = CO_TRY(co_await child_.ask<Quick>());
    co_await sleep_for(1ms);
    co_return answer;
  }
  int on(Crash) { throw std::runtime_error("crash"); }
  Task<int> on(CrashLater) {
    Counted frame;
    co_await sleep_for(1ms);
    throw std::runtime_error("late crash");
  }

 private:
  Counted instance_;
  Context<Worker> self_;
  Ref<Child> child_;
};

struct Go {
  int ask;
  int what;
};

class Asker {
 public:
  Asker(Ref<Worker> worker, LedgerPtr ledger) : worker_(std::move(worker)), ledger_(std::move(ledger)) {}

  Task<> on(Go go) {
    Counted frame;
    Result<int> result = fail(ErrorKind::internal);
    switch (go.what) {
      case 0: result = co_await worker_.ask<Quick>(); break;
      case 1: result = co_await worker_.ask<Waits>(); break;
      case 2: result = co_await worker_.ask<Crash>(); break;
      case 3: result = co_await worker_.ask<CrashLater>().wait_at_most(5ms); break;
      default: result = co_await worker_.ask<Waits>().wait_at_most(1ms); break;
    }
    ledger_->end(go.ask, result);
  }

 private:
  Ref<Worker> worker_;
  LedgerPtr ledger_;
};

Supervision drawn_supervision(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0: return always(Directive::resume);
    case 1: return {.max_restarts = 1};
    case 2: return {.backoff = {.initial = 1ms, .max = 4ms, .jitter = 0.5}};
    default: return {.max_restarts = 100};
  }
}

void scenario(System& system, std::uint64_t seed, std::array<std::uint64_t, kErrorKinds + 1>& totals) {
  std::mt19937_64 random(seed);
  const auto ledger = std::make_shared<Ledger>();
  const Overflow overflow = std::array{Overflow::refuse, Overflow::drop_oldest, Overflow::suspend_asker}[random() % 3];
  const auto worker = value(system.spawn<Worker>({.name = "worker",
                                                  .supervision = drawn_supervision(random),
                                                  .mailbox_capacity = 2,
                                                  .overflow = overflow,
                                                  .max_handlers = 1 + static_cast<std::uint32_t>(random() % 3)}));
  std::vector<Ref<Asker>> askers;
  for (int i = 0; i < 3; ++i) askers.push_back(value(system.spawn<Asker>({}, worker, ledger)));
  Probe<> probe(system);
  const bool watched = random() % 2 == 0 && probe.watch(worker).has_value();

  ledger->asks = 12;
  for (int ask = 0; ask < ledger->asks; ++ask)
    ASSERT_TRUE(askers[random() % 3].tell<Go>(ask, static_cast<int>(random() % 5)));
  const std::uint64_t steps = random() % 60;
  for (std::uint64_t i = 0; i < steps && system.core().deterministic()->step(); ++i) {
    if (random() % 16 == 0) system.advance(1ms);
    if (random() % 64 == 0) worker.stop();
  }
  const bool finish_first = random() % 2 == 0;
  if (finish_first) system.advance(100ms);
  // Askers that shutdown cuts off do not write their end into the ledger, so those asks may have none; nobody may have
  // two.
  const Result<ShutdownReport> report = system.shutdown(random() % 2 ? 0ms : 5ms);
  ASSERT_TRUE(report) << seed;
  EXPECT_TRUE(report->stuck.empty()) << seed;

  for (int ask = 0; ask < ledger->asks; ++ask) {
    const int ends = ledger->ends[static_cast<std::size_t>(ask)];
    EXPECT_LE(ends, 1) << "seed " << seed << " ask " << ask;
    if (finish_first) {
      EXPECT_EQ(ends, 1) << "seed " << seed << " ask " << ask;
    }
  }
  for (std::size_t kind = 0; kind < totals.size(); ++kind)
    totals[kind] += static_cast<std::uint64_t>(ledger->kinds[kind]);
  EXPECT_EQ(Counted::alive, 0) << "seed " << seed << " left a frame or an instance behind";
  EXPECT_EQ(system.stats().actors, 0u) << seed;
  if (watched) {
    EXPECT_FALSE(worker.ask<Quick>().get()) << seed;
  }
}

}  // namespace

TEST(Interleavings, ten_thousand_orders_of_mailbox_restart_and_shutdown_end_every_ask_once) {
  constexpr std::uint64_t kRuns = 12'000;
  std::array<std::uint64_t, kErrorKinds + 1> totals{};
  const Exploration explored =
      explore(1, kRuns, [&](System& system, std::uint64_t seed) { scenario(system, seed, totals); });
  EXPECT_GE(explored.distinct, 10'000u);
  std::string line = "interleavings: " + std::to_string(explored.runs) + " runs, " + std::to_string(explored.distinct) +
                     " distinct orders; ok=" + std::to_string(totals.back());
  for (int kind = 0; kind < kErrorKinds; ++kind)
    if (totals[static_cast<std::size_t>(kind)])
      line += " " + std::string(name(static_cast<ErrorKind>(kind))) + "=" +
              std::to_string(totals[static_cast<std::size_t>(kind)]);
  std::printf("%s\n", line.c_str());
  for (const ErrorKind kind : {ErrorKind::handler_threw, ErrorKind::restarted, ErrorKind::stopped, ErrorKind::timeout,
                               ErrorKind::mailbox_full})
    EXPECT_GT(totals[static_cast<std::size_t>(kind)], 0u) << name(kind) << " never came up";
}

TEST(Interleavings, the_same_seed_replays_the_same_order) {
  std::array<std::uint64_t, kErrorKinds + 1> totals{};
  const auto order_of = [&](std::uint64_t seed) {
    System system({.log = log_nothing(), .deterministic_seed = seed});
    scenario(system, seed, totals);
    return system.fingerprint();
  };
  for (std::uint64_t seed = 1; seed < 20; ++seed) EXPECT_EQ(order_of(seed), order_of(seed));
  EXPECT_NE(order_of(1), order_of(2));
}

}  // namespace troupe
