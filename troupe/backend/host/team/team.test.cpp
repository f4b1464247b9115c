#include "troupe/backend/host/team/team.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <set>

#include "troupe/core/sanitized.hpp"

namespace troupe::host {
namespace {

constexpr std::array kSizes{1, 2, 3, 16};

/// Every item once, with blocks of `grain` items.
void expect_each_item_once(Team& team, std::int64_t count, std::int64_t grain) {
  std::vector<int> visits(static_cast<std::size_t>(count));
  team.run(count, Grain::of_items(grain), [&](std::int64_t begin, std::int64_t end) noexcept {
    for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), count) << count << " by " << grain;
}

/// Blocks wait here until so many threads are in one at the same time.
class Meeting {
 public:
  explicit Meeting(int threads) : expected_(threads) {}
  void join() noexcept {
    arrived_.fetch_add(1);
    while (arrived_.load() < expected_) sched_yield();
  }

 private:
  const int expected_;
  std::atomic<int> arrived_{0};
};

/// Starts all threads of the team, and has every one of them at work.
void gather(Team& team) {
  Meeting meeting(team.size());
  team.run(team.size(), Grain::of_items(1), [&](std::int64_t, std::int64_t) noexcept { meeting.join(); });
}

/// The threads of this process that are named "team-...", with their states.
std::vector<std::pair<std::string, char>> team_threads() {
  std::vector<std::pair<std::string, char>> found;
  std::error_code ignored;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream file(task.path() / "stat");
    std::string line;
    std::getline(file, line);
    const std::size_t open = line.find('('), close = line.rfind(')');
    if (close == std::string::npos || close + 2 >= line.size()) continue;
    const std::string name = line.substr(open + 1, close - open - 1);
    if (name.starts_with("team-")) found.emplace_back(name, line[close + 2]);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool all_sleep() {
  const auto threads = team_threads();
  return std::all_of(threads.begin(), threads.end(), [](const auto& thread) { return thread.second == 'S'; });
}

std::vector<float> random_numbers(std::int64_t count) {
  std::mt19937 random(17);
  std::uniform_real_distribution<float> any(-1e4F, 1e4F);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = any(random);
  return numbers;
}

float sum(Team& team, const std::vector<float>& numbers, Grain grain) {
  const auto add_up = [&](std::int64_t begin, std::int64_t end) noexcept {
    return std::accumulate(numbers.begin() + begin, numbers.begin() + end, 0.0F);
  };
  return team.reduce(std::ssize(numbers), grain, 0.0F, add_up, std::plus<>());
}

}  // namespace

TEST(Blocks, cover_the_items_without_a_gap) {
  for (const std::int64_t grain : {1, 3, 1000, 1024})
    for (const std::int64_t count : {0, 1, 2, 3, 4, 999, 1000, 1001, 3 * 1024, 3 * 1024 + 1, 5'000'000}) {
      const Blocks blocks(count, Grain::of_items(grain));
      std::int64_t at = 0;
      for (std::int64_t block = 0; block < blocks.number; ++block) {
        ASSERT_EQ(blocks.begin(block), at);
        ASSERT_GT(blocks.end(block), at);
        at = blocks.end(block);
      }
      EXPECT_EQ(at, count);
      EXPECT_LE(blocks.number, Blocks::kLimit);
      if (blocks.number < 2) continue;
      EXPECT_GE(blocks.size, grain);
      EXPECT_EQ(grain < 16 * Blocks::kAlignment ? 0 : blocks.size % Blocks::kAlignment, 0);
    }
}

TEST(Blocks, are_right_for_the_largest_counts) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Blocks blocks(kMost, Grain::of_items(1));
  EXPECT_LE(blocks.number, Blocks::kLimit);
  EXPECT_EQ(blocks.end(blocks.number - 1), kMost);
  EXPECT_EQ(Blocks(kMost, Grain::of_items(kMost)).number, 1);
  EXPECT_EQ(Blocks(-1, Grain::of_items(1)).number, 0);
}

TEST(Grain, is_so_much_that_a_block_is_worth_a_thread) {
  EXPECT_EQ(Grain::of_bytes(1).items(), Grain::kBlockBytes);
  EXPECT_EQ(Grain::of_bytes(8).items(), Grain::kBlockBytes / 8);
  EXPECT_EQ(Grain::of_bytes(2 * Grain::kBlockBytes).items(), 1);
  EXPECT_EQ(Grain::of_bytes(0).items(), Grain::kBlockBytes);
  EXPECT_EQ(Grain::of_ns(2).items(), static_cast<std::int64_t>(Grain::kBlockNs / 2));
  EXPECT_EQ(Grain::of_ns(1e12).items(), 1);
  EXPECT_GT(Grain::of_ns(0).items(), 0);
}

TEST(Team, visits_each_item_once) {
  for (const int size : kSizes) {
    Team team(size);
    for (const std::int64_t grain : {1, 7, 64})
      for (const std::int64_t count : {0, 1, 7, 8, 63, 64, 65, 1000, 100'003})
        expect_each_item_once(team, count, grain);
  }
}

TEST(Team, does_one_block_in_the_caller_and_makes_no_thread_for_it) {
  Team team(4);
  const pthread_t caller = pthread_self();
  int calls = 0;
  team.run(1999, Grain::of_items(1000), [&](std::int64_t begin, std::int64_t end) noexcept {
    EXPECT_TRUE(pthread_equal(pthread_self(), caller));
    EXPECT_EQ(end - begin, 1999);
    ++calls;
  });
  team.run(0, Grain::of_items(1), [&](std::int64_t, std::int64_t) noexcept { ++calls; });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(team.threads(), 0);
}

TEST(Team, of_one_never_makes_a_thread) {
  Team team(1);
  expect_each_item_once(team, 1000, 1);
  EXPECT_EQ(team.threads(), 0);
}

TEST(Team, has_all_its_threads_at_work_at_once) {
  for (const int size : kSizes) {
    Team team(size);
    for (int i = 0; i < 20; ++i) gather(team);  // would hang if one of them did not come
    EXPECT_EQ(team.threads(), size - 1);
  }
}

TEST(Team, names_its_threads_and_prepares_each) {
  std::atomic<int> prepared{0};
  Team team(3, [&] { prepared.fetch_add(1); });
  gather(team);
  EXPECT_EQ(prepared.load(), 2);
  const auto threads = team_threads();
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(threads[0].first, "team-0");
  EXPECT_EQ(threads[1].first, "team-1");
}

TEST(Team, sleeps_when_there_is_nothing_to_do_and_wakes_again) {
  Team team(4);
  for (int i = 0; i < 20; ++i) {
    gather(team);
    while (!all_sleep()) sched_yield();
  }
}

TEST(Team, sums_have_the_same_bits_for_every_size) {
  for (const std::int64_t count : {1, 1999, 2000, 2001, 123'457, 3'000'001}) {
    const std::vector<float> numbers = random_numbers(count);
    std::set<std::uint32_t> bits;
    for (const int size : kSizes) {
      Team team(size);
      for (int i = 0; i < 5; ++i) bits.insert(std::bit_cast<std::uint32_t>(sum(team, numbers, Grain::of_items(1000))));
    }
    EXPECT_EQ(bits.size(), 1U) << count;
  }
}

TEST(Team, reduces_in_order_and_nothing_to_the_empty_value) {
  struct Span {
    std::int64_t begin, end;
  };
  Team team(3);
  const auto map = [](std::int64_t begin, std::int64_t end) noexcept { return Span{begin, end}; };
  const auto join = [](Span left, Span right) noexcept {
    EXPECT_EQ(left.end, right.begin);
    return Span{left.begin, right.end};
  };
  for (const std::int64_t count : {1, 2, 3, 5, 8, 1000, 4097}) {
    const Span all = team.reduce(count, Grain::of_items(1), Span{}, map, join);
    EXPECT_EQ(all.begin, 0);
    EXPECT_EQ(all.end, count);
  }
  EXPECT_EQ(team.reduce(0, Grain::of_items(1), Span{7, 7}, map, join).begin, 7);
}

TEST(Team, does_a_run_inside_a_block_in_the_thread_of_the_block) {
  Team team(4);
  gather(team);
  std::atomic<std::int64_t> inner_items{0};
  team.run(64, Grain::of_items(1), [&](std::int64_t, std::int64_t) noexcept {
    const pthread_t self = pthread_self();
    team.run(10, Grain::of_items(1), [&](std::int64_t begin, std::int64_t end) noexcept {
      EXPECT_TRUE(pthread_equal(pthread_self(), self));
      inner_items.fetch_add(end - begin);
    });
  });
  EXPECT_EQ(inner_items.load(), 640);
}

TEST(Team, serves_many_callers_with_no_more_threads_than_its_own_and_theirs) {
  constexpr int kCallers = 6;
  for (const int size : kSizes) {
    Team team(size);
    std::atomic<int> at_work{0}, most{0};
    const auto call = [&] {
      for (int i = 0; i < 300; ++i) {
        std::atomic<std::int64_t> items{0};
        team.run(50, Grain::of_items(1), [&](std::int64_t begin, std::int64_t end) noexcept {
          const int now = at_work.fetch_add(1) + 1;
          for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          items.fetch_add(end - begin);
          at_work.fetch_sub(1);
        });
        EXPECT_EQ(items.load(), 50);
      }
    };
    std::vector<std::thread> callers;
    for (int i = 0; i < kCallers; ++i) callers.emplace_back(call);
    for (std::thread& caller : callers) caller.join();
    EXPECT_LE(most.load(), size - 1 + kCallers);
  }
}

TEST(Team, steps_back_for_callers) {
  // Two callers are a team of two: its own thread may end what it has begun, and takes no more from either.
  Team team(2);
  gather(team);
  Meeting first(2), second(2);
  std::atomic<bool> has_met{false};
  std::atomic<int> helped{0};
  const auto call = [&] {
    const pthread_t self = pthread_self();
    int own = 0;
    team.run(100, Grain::of_items(1), [&](std::int64_t, std::int64_t) noexcept {
      if (!pthread_equal(pthread_self(), self)) {
        helped.fetch_add(1);
        while (!has_met.load()) sched_yield();
        return;
      }
      ++own;
      if (own == 1) first.join();
      has_met.store(true);
      if (own != 20) return;
      EXPECT_LE(helped.load(), 1);
      second.join();
    });
    EXPECT_GE(own, 20);
  };
  std::thread other(call);
  call();
  other.join();
}

TEST(Team, has_room_for_more_callers_than_places) {
  Team team(2);
  constexpr int kCallers = 40;
  Meeting all(kCallers);
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i)
    callers.emplace_back([&] {
      const pthread_t self = pthread_self();
      bool has_met = false;
      team.run(4, Grain::of_items(1), [&](std::int64_t, std::int64_t) noexcept {
        if (!pthread_equal(pthread_self(), self) || has_met) return;
        has_met = true;
        all.join();
      });
      if (!has_met) all.join();
    });
  for (std::thread& caller : callers) caller.join();
}

TEST(Team, shows_blocks_what_the_caller_wrote_and_the_caller_what_they_wrote) {
  Team team(3);
  std::vector<std::int64_t> values(512);
  for (std::int64_t round = 1; round <= 500; ++round) {
    std::int64_t start = round;  // plain memory of this frame: gone and made anew in every round
    team.run(512, Grain::of_items(16), [&](std::int64_t begin, std::int64_t end) noexcept {
      for (std::int64_t i = begin; i < end; ++i) values[static_cast<std::size_t>(i)] += start;
    });
    start = 0;
    ASSERT_EQ(std::count(values.begin(), values.end(), round * (round + 1) / 2), 512);
  }
}

TEST(Team, notes_the_op_of_the_caller_in_every_thread_that_helps) {
  Team team(4);
  Meeting meeting(4);
  backend::at_static_op(3, 42, "test.op");
  team.run(4, Grain::of_items(1), [&](std::int64_t, std::int64_t) noexcept {
    meeting.join();
    backend::OpNoted noted;
    EXPECT_TRUE(backend::op_noted(noted));
    EXPECT_EQ(noted.lane, 3U);
    EXPECT_EQ(noted.ticket, 42U);
    EXPECT_EQ(noted.name, "test.op");
  });
  backend::at_no_op();
  gather(team);
}

TEST(Team, allocates_nothing_in_a_run) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has its own memory";
  Team team(3);
  gather(team);
  const auto before = mallinfo2();
  for (int i = 0; i < 1000; ++i) team.run(100, Grain::of_items(1), [](std::int64_t, std::int64_t) noexcept {});
  const auto after = mallinfo2();
  EXPECT_EQ(after.uordblks, before.uordblks);
}

TEST(Team, works_alone_in_a_fork) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep threads of their own";
  auto team = std::make_unique<Team>(3);
  gather(*team);
  const pid_t child = fork();
  if (child == 0) {
    std::int64_t items = 0;
    team->run(1000, Grain::of_items(1), [&](std::int64_t begin, std::int64_t end) noexcept { items += end - begin; });
    team.reset();
    _exit(items == 1000 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  gather(*team);
}

}  // namespace troupe::host
