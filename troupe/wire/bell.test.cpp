#include "troupe/wire/bell.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "troupe/core/park.hpp"
#include "troupe/wire/shared_memory.hpp"
#include "troupe/wire/timeline.hpp"

namespace troupe::wire {
namespace {

using namespace std::chrono_literals;

/// One side's place to sleep, and what the other side publishes to it.
struct Side {
  alignas(128) Bell bell;
  alignas(128) std::atomic<std::uint64_t> word{0};

  void publish(Ticket ticket) noexcept {
    Timeline(word, MarkKey(7), 0).raise_to(ticket);
    bell.ring();
  }
  void wait_for(Ticket ticket) noexcept {
    const Timeline published(word, MarkKey(7), 0);
    while (!published.done(ticket)) {
      bell.listen();
      if (published.done(ticket)) break;
      bell.sleep(TimePoint::max());
    }
    bell.ignore();
  }
};

struct Table {
  Side left, right;
};

/// Idles for a few rounds before a look, so that sometimes one side is early, sometimes the other.
void dawdle(Ticket round) noexcept {
  for (Ticket i = 0; i < round * 2654435761U >> 24; ++i) relax_core();
}

void play(Side& ours, Side& theirs, Ticket rounds, bool serves) noexcept {
  for (Ticket round = 1; round <= rounds; ++round) {
    if (serves) theirs.publish(round);
    dawdle(round);
    ours.wait_for(round);
    if (!serves) theirs.publish(round);
  }
}

void wait_until_asleep(int thread) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  for (std::string id, command, state; state != "S"; sched_yield()) std::ifstream(path) >> id >> command >> state;
}

TEST(Bell, wakes_who_sleeps) {
  Bell bell;
  std::atomic<int> sleeper_id{0};
  std::thread sleeper([&] {
    bell.listen();
    sleeper_id = gettid();
    while (bell.listening()) bell.sleep(TimePoint::max());
  });
  while (sleeper_id == 0) sched_yield();
  wait_until_asleep(sleeper_id);
  EXPECT_TRUE(bell.listening());
  bell.ring();
  sleeper.join();
  EXPECT_FALSE(bell.listening());
}

TEST(Bell, is_rung_once_for_each_time_it_listens) {
  Bell bell;
  bell.ring();
  EXPECT_FALSE(bell.listening());
  bell.listen();
  EXPECT_TRUE(bell.listening());
  bell.ring();
  EXPECT_FALSE(bell.listening());
  bell.ring();
  EXPECT_FALSE(bell.listening());
}

TEST(Bell, does_not_sleep_when_it_was_rung_or_ignored_in_between) {
  Bell bell;
  bell.listen();
  bell.ring();
  bell.sleep(TimePoint::max());
  bell.listen();
  bell.ignore();
  bell.sleep(TimePoint::max());
  SUCCEED();
}

TEST(Bell, sleeps_while_another_thread_looks_and_is_woken_after_that) {
  Bell bell;
  bell.look();
  EXPECT_FALSE(bell.listening());
  bell.ring();  // is not heard
  std::atomic<int> sleeper_id{0};
  std::atomic<bool> is_awake{false};
  std::thread sleeper([&] {
    sleeper_id = gettid();
    bell.sleep_while_looked_for(std::chrono::steady_clock::now() + 60s);
    is_awake = true;
  });
  while (sleeper_id == 0) sched_yield();
  wait_until_asleep(sleeper_id);
  bell.listen();  // wakes nobody
  wait_until_asleep(sleeper_id);
  EXPECT_FALSE(is_awake);
  bell.ring();
  sleeper.join();
  bell.sleep_while_looked_for(TimePoint::max());  // nobody looks
}

TEST(Bell, wakes_by_itself_when_its_time_has_come) {
  Bell bell;
  bell.listen();
  const TimePoint until = std::chrono::steady_clock::now() + 5ms;
  while (std::chrono::steady_clock::now() < until) bell.sleep(until);
  EXPECT_TRUE(bell.listening());
}

TEST(Bell, loses_no_wake_up_between_threads) {
  constexpr Ticket kRounds = 50'000;
  Table table;
  std::thread other([&] { play(table.right, table.left, kRounds, false); });
  play(table.left, table.right, kRounds, true);
  other.join();
  EXPECT_EQ(table.left.word.load() >> 32, kRounds);
}

TEST(Bell, loses_no_wake_up_between_processes) {
  constexpr Ticket kRounds = 50'000;
  SharedMemory memory = value(SharedMemory::create("bells", sizeof(Table)));
  Table& table = *std::construct_at(reinterpret_cast<Table*>(memory.data()));
  const pid_t child = fork();
  if (child == 0) {
    auto mapped = SharedMemory::map(value(memory.descriptor().duplicate()), sizeof(Table), true);
    Table& theirs = *reinterpret_cast<Table*>(mapped->data());
    play(theirs.right, theirs.left, kRounds, false);
    _exit(0);
  }
  play(table.left, table.right, kRounds, true);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Many ring, one sleeps: each thread publishes to a counter of its own, and the sleeper must see the last of all.
TEST(Bell, loses_no_wake_up_when_several_ring) {
  constexpr Ticket kRounds = 20'000;
  constexpr std::size_t kRingers = 3;
  Bell bell;
  struct alignas(128) Slot {
    std::atomic<std::uint64_t> word{0};
    Timeline timeline{word, MarkKey(7), 0};
  };
  std::array<Slot, kRingers> slots;
  std::vector<std::thread> ringers;
  for (Slot& slot : slots)
    ringers.emplace_back([&] {
      for (Ticket round = 1; round <= kRounds; ++round) {
        slot.timeline.raise_to(round);
        bell.ring();
        dawdle(round);
      }
    });
  std::array<Ticket, kRingers> seen{};
  const auto look = [&] {
    const std::array<Ticket, kRingers> before = seen;
    for (std::size_t i = 0; i < kRingers; ++i) seen[i] = slots[i].timeline.now();
    return seen != before;
  };
  const auto saw_the_last = [&] { return std::ranges::all_of(seen, [](Ticket ticket) { return ticket == kRounds; }); };
  while (!saw_the_last()) {
    bell.listen();
    if (!look()) bell.sleep(TimePoint::max());
  }
  for (std::thread& ringer : ringers) ringer.join();
}

}  // namespace
}  // namespace troupe::wire
