#include "troupe/wire/shared_futex.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <new>
#include <string>
#include <thread>

#include "troupe/wire/shared_memory.hpp"

namespace troupe::wire {
namespace {

using namespace std::chrono_literals;
using Word = std::atomic<std::uint32_t>;

/// One word, mapped twice at different addresses: writable, and read-only as another process would have it.
struct SharedWord {
  SharedMemory owner = value(SharedMemory::create("word", sizeof(Word)));
  SharedMemory reader = value(SharedMemory::map(value(owner.descriptor().duplicate()), sizeof(Word), false));
  Word& writable = *new (owner.data()) Word(0);
  const Word& read_only = *reinterpret_cast<const Word*>(reader.data());
};

void wait_until_asleep(int thread) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  for (std::string id, command, state; state != "S"; sched_yield()) std::ifstream(path) >> id >> command >> state;
}

}  // namespace

TEST(SharedFutex, wakes_a_sleeper_with_another_and_read_only_mapping) {
  SharedWord word;
  std::atomic<int> sleeper_id{0};
  std::thread sleeper([&] {
    sleeper_id = gettid();
    while (word.read_only.load(std::memory_order_acquire) == 0) shared_futex_wait(word.read_only, 0);
  });
  while (sleeper_id == 0) sched_yield();
  wait_until_asleep(sleeper_id);
  word.writable.store(1, std::memory_order_release);
  shared_futex_wake_all(word.writable);
  sleeper.join();
}

TEST(SharedFutex, wakes_a_sleeper_in_another_process) {
  SharedWord word;
  Word& answer = *new (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Word(0);
  const pid_t child = fork();
  if (child == 0) {
    for (std::uint32_t round = 1; round <= 1000; ++round) {
      while (word.read_only.load(std::memory_order_acquire) < round) shared_futex_wait(word.read_only, round - 1);
      answer.store(round, std::memory_order_release);
      shared_futex_wake_all(answer);
    }
    _exit(0);
  }
  for (std::uint32_t round = 1; round <= 1000; ++round) {
    word.writable.store(round, std::memory_order_release);
    shared_futex_wake_all(word.writable);
    while (answer.load(std::memory_order_acquire) < round) shared_futex_wait(answer, round - 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  munmap(&answer, 4096);
}

TEST(SharedFutex, does_not_sleep_when_the_word_has_changed) {
  const SharedWord word;
  shared_futex_wait(word.read_only, 1);
}

TEST(SharedFutex, gives_up_at_its_time) {
  const SharedWord word;
  const auto until = std::chrono::steady_clock::now() + 10ms;
  while (std::chrono::steady_clock::now() < until) shared_futex_wait(word.read_only, 0, until);
  shared_futex_wait(word.read_only, 0, TimePoint(-1ns));
  SUCCEED();
}

}  // namespace troupe::wire
