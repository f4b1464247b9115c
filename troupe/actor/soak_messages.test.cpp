// Messages of all three kinds (tell, tell_or_wait, ask) on real threads, from a seed, to actors that crash, restart,
// stop, are replaced, and have room for few. Each message is accounted for: handled once, or refused to its sender, or
// dropped with its actor and counted as a dead letter. TROUPE_SOAK_MESSAGES sets how many; the long run is 10 million.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include "troupe/actor/system.hpp"
#include "troupe/actor/when.hpp"
#include "troupe/core/sanitized.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using Count = std::atomic<std::uint64_t>;

struct Account {
  Count sent = 0;  // `tell`, and what became of it according to its sender
  Count taken = 0;
  Count refused = 0;
  Count waited = 0;  // the same for `tell_or_wait`
  Count wait_over = 0;
  Count given_up = 0;
  Count asked = 0;  // and for `ask`
  Count answered = 0;
  Count failed = 0;
  Count handled_tells = 0;  // by handlers
  Count handled_waits = 0;
  Count handled_asks = 0;
  Count alive = 0;  // messages that exist
};

/// Counted from its making to its end; moving makes no second one.
class Token {
 public:
  explicit Token(Account* account) : account_(account) { ++account_->alive; }
  Token(Token&& other) noexcept : account_(std::exchange(other.account_, nullptr)) {}
  Token& operator=(Token&&) = delete;
  ~Token() {
    if (account_) --account_->alive;
  }
  Account& account() const { return *account_; }

 private:
  Account* account_;
};

struct Told {
  Token token;
  std::uint64_t draw = 0;
};
struct Waited {
  Token token;
  std::uint64_t draw = 0;
};
struct Asked {
  Token token;
  std::uint64_t draw = 0;
  using Reply = int;
};

class Receiver {
 public:
  explicit Receiver(Context<Receiver> self) : self_(self) {}
  void on(Told message) {
    ++message.token.account().handled_tells;
    act(message.draw);
  }
  void on(Waited message) {
    ++message.token.account().handled_waits;
    act(message.draw);
  }
  Task<int> on(Asked message) {
    ++message.token.account().handled_asks;
    if (message.draw % 64 == 5) co_await sleep_for(1ms);
    act(message.draw);
    co_return 1;
  }

 private:
  void act(std::uint64_t draw) {
    if (draw % 1009 == 0) self_.stop();
    if (draw % 503 == 0) throw std::runtime_error("crash");
  }
  Context<Receiver> self_;
};

/// One of each kind of mailbox, twice; one that has stopped is replaced.
class Receivers {
 public:
  explicit Receivers(System& system) : system_(system) {
    for (std::size_t i = 0; i < refs_.size(); ++i) refs_[i] = spawn(i);
  }
  Ref<Receiver> pick(std::uint64_t number) {
    const std::size_t index = number % refs_.size();
    const std::lock_guard lock(mutex_);
    if (refs_[index].stopped()) refs_[index] = spawn(index);
    return refs_[index];
  }

 private:
  Ref<Receiver> spawn(std::size_t index) {
    SpawnOptions options{.supervision = {.max_restarts = 20, .window = 50ms}};
    if (index % 3 != 0) options.mailbox_capacity = 4;
    if (index % 3 == 2) options.overflow = Overflow::suspend_asker;
    return value(system_.spawn<Receiver>(options));
  }

  System& system_;
  std::mutex mutex_;
  std::array<Ref<Receiver>, 6> refs_;
};

Task<Result<void>> batch(Receivers& receivers, std::uint64_t seed, int count, Account& account) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t draw = random();
    const Ref<Receiver> to = receivers.pick(draw >> 8);
    switch (draw % 16) {
      case 0:
      case 1:
      case 2: {
        ++account.asked;
        const Result<int> answer = co_await to.ask<Asked>(Token(&account), draw);
        ++(answer ? account.answered : account.failed);
        break;
      }
      case 3: {
        ++account.waited;
        const Result<void> told = co_await to.tell_or_wait<Waited>(Token(&account), draw).wait_at_most(1ms);
        ++(told ? account.wait_over : account.given_up);
        break;
      }
      case 4:
      case 5:
      case 6: {
        ++account.waited;
        const Result<void> told = co_await to.tell_or_wait<Waited>(Token(&account), draw);
        ++(told ? account.wait_over : account.given_up);
        break;
      }
      default: {
        ++account.sent;
        const Result<void> told = to.tell<Told>(Token(&account), draw);
        ++(told ? account.taken : account.refused);
      }
    }
  }
  co_return Result<void>();
}

std::uint64_t messages_wanted() {
  const char* given = std::getenv("TROUPE_SOAK_MESSAGES");
  return given ? std::strtoull(given, nullptr, 10) : (kSanitized ? 60'000 : 2'000'000);
}

}  // namespace

TEST(Soak, every_message_is_accounted_for) {
  constexpr int kThreads = 4;
  constexpr int kBatch = 500;
  const std::uint64_t wanted = messages_wanted();
  Account account;
  std::uint64_t dead_letters = 0;
  {
    System system({.threads = 2, .log = log_nothing()});
    Receivers receivers(system);
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
          for (std::uint64_t done = 0; done < wanted / kThreads; done += kBatch)
            EXPECT_TRUE(system.run(batch(receivers, done * kThreads + static_cast<std::uint64_t>(t), kBatch, account)));
        });
    }
    EXPECT_TRUE(system.shutdown(1min));
    dead_letters = system.stats().dead_letters;
  }
  const std::uint64_t all = account.sent + account.waited + account.asked;
  const std::uint64_t dropped = (account.taken - account.handled_tells) + (account.wait_over - account.handled_waits);
  std::printf(
      "soak: messages=%llu told=%llu refused=%llu waited=%llu given_up=%llu asked=%llu failed=%llu dropped=%llu "
      "dead_letters=%llu\n",
      static_cast<unsigned long long>(all), static_cast<unsigned long long>(account.sent),
      static_cast<unsigned long long>(account.refused), static_cast<unsigned long long>(account.waited),
      static_cast<unsigned long long>(account.given_up), static_cast<unsigned long long>(account.asked),
      static_cast<unsigned long long>(account.failed), static_cast<unsigned long long>(dropped),
      static_cast<unsigned long long>(dead_letters));
  EXPECT_EQ(account.sent, account.taken + account.refused);
  EXPECT_EQ(account.waited, account.wait_over + account.given_up);
  EXPECT_EQ(account.asked, account.answered + account.failed);
  EXPECT_LE(account.handled_tells, account.taken) << "one was handled twice, or although it was refused";
  EXPECT_LE(account.handled_waits, account.wait_over) << "one was handled twice, or although it was given up";
  EXPECT_GE(account.handled_asks, account.answered);
  EXPECT_LE(account.handled_asks, account.asked);
  EXPECT_GE(dead_letters, account.refused + dropped) << "something was dropped in silence";
  EXPECT_LE(dead_letters, account.refused + dropped + account.given_up);
  EXPECT_EQ(account.alive, 0u) << "a message was never let go";
  EXPECT_GT(account.refused, 0u);
  EXPECT_GT(dropped, 0u);
}

}  // namespace troupe
