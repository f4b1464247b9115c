#include "troupe/wire/life_line.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace troupe::wire {
namespace {

/// A process with a thread that holds a line of ours, and one that does not.
class ALifeLine : public ::testing::Test {
 protected:
  ~ALifeLine() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    munmap(page_, kPageBytes);
  }

  void start_child() {
    child_ = fork();
    if (child_ != 0) return;
    std::thread holder([this] {
      line().hold();
      is_held().store(true);
      while (!lets_go()) std::this_thread::yield();
    });
    holder.join();
    for (;;) pause();
  }
  void wait_until_held() {
    while (!is_held()) std::this_thread::yield();
  }

  LifeLine& line() { return *reinterpret_cast<LifeLine*>(page_); }
  std::atomic<bool>& is_held() { return *reinterpret_cast<std::atomic<bool>*>(page_ + 64); }
  std::atomic<bool>& lets_go() { return *reinterpret_cast<std::atomic<bool>*>(page_ + 128); }
  pid_t child() const { return child_; }

 private:
  static constexpr std::size_t kPageBytes = 4096;
  char* const page_ =
      static_cast<char*>(mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pid_t child_ = -1;
};

TEST_F(ALifeLine, is_cut_when_its_process_is_killed) {
  start_child();
  wait_until_held();
  std::jthread killer([this] { kill(child(), SIGKILL); });
  EXPECT_TRUE(line().wait_until_cut());
}

TEST_F(ALifeLine, is_cut_when_its_thread_ends_though_the_process_goes_on) {
  start_child();
  wait_until_held();
  lets_go() = true;
  EXPECT_TRUE(line().wait_until_cut());
  EXPECT_EQ(kill(child(), 0), 0);
}

TEST_F(ALifeLine, that_was_cut_already_is_not_waited_for) {
  start_child();
  wait_until_held();
  kill(child(), SIGKILL);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(line().wait_until_cut());
}

TEST_F(ALifeLine, that_nobody_holds_is_not_waited_for) {
  EXPECT_FALSE(line().wait_until_cut());
  start_child();
  wait_until_held();
  std::jthread waiter([this] { EXPECT_FALSE(line().wait_until_cut()); });
  line().let_go();
}

}  // namespace
}  // namespace troupe::wire
