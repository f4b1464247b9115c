#include "troupe/device/log_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {
namespace {

/// A sink that can be made to hang. Shared with the queue's thread, which may be left behind in it.
class Sink {
 public:
  LogSink function(const std::shared_ptr<Sink>& self) {
    return [self](const LogRecord& record) { self->take(record); };
  }
  void block() {
    const std::lock_guard lock(mutex_);
    is_blocked_ = true;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_blocked_ = false;
    changed_.notify_all();
  }
  /// Until somebody is in the sink and cannot get out.
  void wait_until_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_held_; });
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  void take(const LogRecord& record) {
    std::unique_lock lock(mutex_);
    is_held_ = is_blocked_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !is_blocked_; });
    is_held_ = false;
    lines_.push_back(std::string(record.source) + ": " + std::string(record.message));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_blocked_ = false;
  bool is_held_ = false;
  std::vector<std::string> lines_;
};

class LogQueueTest : public ::testing::Test {
 protected:
  void say(const std::shared_ptr<LogQueue::Speaker>& speaker, const std::string& message) {
    queue->say(*speaker, LogLevel::info, "s", message);
  }

  const std::shared_ptr<Sink> sink = std::make_shared<Sink>();
  const std::unique_ptr<LogQueue> queue = value(LogQueue::start(sink->function(sink)));
};

TEST_F(LogQueueTest, hands_on_every_line_in_order_before_it_is_closed) {
  const auto speaker = queue->add_speaker("a");
  std::vector<std::string> expected;
  for (int i = 0; i < 1000; ++i) {
    say(speaker, std::to_string(i));
    expected.push_back("s: " + std::to_string(i));
  }
  queue->close();
  EXPECT_EQ(sink->lines(), expected);
}

TEST_F(LogQueueTest, keeps_the_order_of_several_speakers) {
  const auto a = queue->add_speaker("a");
  const auto b = queue->add_speaker("b");
  sink->block();
  for (const char* line : {"1", "3", "5"}) {
    say(a, line);
    say(b, std::to_string(std::stoi(line) + 1));
  }
  sink->open();
  queue->close();
  EXPECT_EQ(sink->lines(), (std::vector<std::string>{"s: 1", "s: 2", "s: 3", "s: 4", "s: 5", "s: 6"}));
}

TEST_F(LogQueueTest, keeps_the_last_lines_and_says_how_many_were_dropped) {
  const auto speaker = queue->add_speaker("worker-7");
  sink->block();
  say(speaker, "first");
  sink->wait_until_held();  // with the first line, which is out of the queue
  for (std::size_t i = 0; i < kMaxQueuedLines + 10; ++i) say(speaker, std::to_string(i));
  sink->open();
  queue->close();
  const std::vector<std::string> lines = sink->lines();
  const std::string dropped = std::to_string(kMaxQueuedLines / 2 + 1);
  ASSERT_EQ(lines.size(), kMaxQueuedLines / 2 + 9 + 2);
  EXPECT_EQ(lines[0], "s: first");
  EXPECT_EQ(lines[1], "worker-7: worker-7 printed faster than the log takes it: " + dropped + " lines were dropped");
  EXPECT_EQ(lines[2], "s: " + dropped) << "the first of those that are left";
  EXPECT_EQ(lines.back(), "s: " + std::to_string(kMaxQueuedLines + 9));
}

TEST_F(LogQueueTest, counts_bytes_too) {
  const auto speaker = queue->add_speaker("worker-7");
  sink->block();
  say(speaker, "first");
  sink->wait_until_held();
  for (int i = 0; i < 3; ++i) say(speaker, std::string(kMaxQueuedBytes / 2, 'x'));
  sink->open();
  queue->close();
  EXPECT_EQ(sink->lines().size(), 3U) << "the first, how many were dropped, and the one that there is room for";
}

TEST_F(LogQueueTest, drops_no_line_of_one_for_what_another_says) {
  const auto quiet = queue->add_speaker("quiet");
  const auto loud = queue->add_speaker("loud");
  sink->block();
  say(loud, "first");
  sink->wait_until_held();
  say(quiet, "only this");
  for (std::size_t i = 0; i < 3 * kMaxQueuedLines; ++i) say(loud, "again");
  sink->open();
  queue->close();
  const std::vector<std::string> lines = sink->lines();
  EXPECT_NE(std::ranges::find(lines, "s: only this"), lines.end());
}

TEST_F(LogQueueTest, keeps_what_a_few_who_are_gone_have_said) {
  sink->block();
  {
    const auto first = queue->add_speaker("first");
    say(first, "first");
    sink->wait_until_held();
  }
  constexpr std::size_t kSpeakers = kMaxGoneSpeakers + 5;
  for (std::size_t i = 0; i < kSpeakers; ++i) say(queue->add_speaker("worker"), std::to_string(i));
  (void)queue->add_speaker("the last");
  sink->open();
  queue->close();
  const std::vector<std::string> lines = sink->lines();
  const std::string dropped = "workers that have ended printed faster than the log takes it: 5 lines were dropped";
  EXPECT_NE(std::ranges::find(lines, "workers that have ended: " + dropped), lines.end());
  EXPECT_EQ(lines.back(), "s: " + std::to_string(kSpeakers - 1));
}

TEST_F(LogQueueTest, leaves_a_sink_behind_that_does_not_return_and_never_calls_it_again) {
  const auto speaker = queue->add_speaker("a");
  sink->block();
  say(speaker, "first");
  say(speaker, "second");
  sink->wait_until_held();
  queue->close();  // a test that hangs here has failed
  EXPECT_TRUE(sink->lines().empty());
  say(speaker, "third");
  sink->open();
  while (sink->lines().empty()) std::this_thread::yield();
  EXPECT_EQ(sink->lines(), (std::vector<std::string>{"s: first"}));
}

}  // namespace
}  // namespace troupe
