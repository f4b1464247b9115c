#include "troupe/worker/preparer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <vector>

#include "troupe/op/plugin.hpp"

namespace troupe::worker {
namespace {

std::vector<std::byte> call_of(const std::string& function) {
  return op::AnyOp(op::PluginCall{.path = "a.so", .function = function, .arrays = {}, .parameters = {}}).encoded();
}

TEST(Preparer, runs_ops_in_the_order_in_which_they_came) {
  std::vector<std::string> ran;
  std::latch all(3);
  Preparer preparer(
      [&](const op::AnyOp& op) {
        ran.push_back(op.get_if<op::PluginCall>()->function);
        all.count_down();
      },
      [] {});
  for (const char* name : {"first", "second", "third"}) ASSERT_TRUE(preparer.add(call_of(name)));
  all.wait();
  EXPECT_EQ(ran, (std::vector<std::string>{"first", "second", "third"}));
}

TEST(Preparer, has_no_thread_before_there_is_something_to_run) {
  std::atomic<int> threads{0};
  {
    const Preparer preparer([](const op::AnyOp&) {}, [&] { ++threads; });
  }
  EXPECT_EQ(threads, 0);
}

/// Lives as long as its thread.
struct KeptByThread {
  std::latch& gone;
  ~KeptByThread() { gone.count_down(); }
};

TEST(Preparer, lets_go_of_what_libraries_keep_for_a_thread_when_all_is_done) {
  constexpr int kTimes = 3;
  std::array<std::unique_ptr<std::latch>, kTimes> gone;
  std::atomic<int> turn{0};
  Preparer preparer([&](const op::AnyOp&) { thread_local const KeptByThread kKept{*gone[turn]}; }, [] {});
  for (; turn < kTimes; ++turn) {
    gone[turn] = std::make_unique<std::latch>(1);
    ASSERT_TRUE(preparer.add(call_of("a")));
    gone[turn]->wait();
  }
}

TEST(Preparer, refuses_bytes_that_are_no_op) {
  Preparer preparer([](const op::AnyOp&) { FAIL(); }, [] {});
  const std::vector<std::byte> nonsense(7, std::byte{1});
  EXPECT_FALSE(preparer.add(nonsense));
}

}  // namespace
}  // namespace troupe::worker
