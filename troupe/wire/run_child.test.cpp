#include "troupe/wire/run_child.hpp"

#include <gtest/gtest.h>

namespace troupe::wire {
namespace {

using namespace std::chrono_literals;

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(RunChild, gives_what_it_printed_and_how_it_ended) {
  const ChildAnswer answer = value(run_child("/bin/sh", {"-c", "cat; echo done; exit 3"}, bytes("given "), 30s));
  EXPECT_EQ(answer.printed, "given done\n");
  ASSERT_TRUE(answer.end);
  EXPECT_EQ(answer.end->to_string(), "exited with code 3");
}

TEST(RunChild, passes_more_than_a_pipe_holds_both_ways) {
  const std::string much(5'000'000, 'x');
  EXPECT_EQ(value(run_child("/bin/cat", {}, bytes(much), 60s)).printed, much);
}

TEST(RunChild, does_not_mind_one_that_reads_nothing) {
  const std::string much(5'000'000, 'x');
  EXPECT_EQ(value(run_child("/bin/sh", {"-c", "echo no"}, bytes(much), 60s)).printed, "no\n");
}

TEST(RunChild, keeps_what_was_printed_before_the_time_was_up) {
  // The shell may be slow to start: the limit grows until it has started in time.
  for (Duration limit = 100ms;; limit *= 2) {
    const ChildAnswer answer = value(run_child("/bin/sh", {"-c", "echo one; exec sleep 1000"}, {}, limit));
    ASSERT_FALSE(answer.end);
    if (answer.printed == "one\n") break;
    ASSERT_LT(limit, 30s) << answer.printed;
  }
}

TEST(RunChild, waits_as_long_as_it_takes_without_a_limit) {
  for (const Duration limit : {Duration::max(), Duration::max() / 2}) {
    const ChildAnswer answer = value(run_child("/bin/sh", {"-c", "echo one"}, {}, limit));
    EXPECT_EQ(answer.printed, "one\n");
    EXPECT_TRUE(answer.end);
  }
}

TEST(RunChild, does_not_wait_for_one_that_has_closed_its_output_and_lives) {
  EXPECT_FALSE(value(run_child("/bin/sh", {"-c", "exec >&-; exec sleep 1000"}, {}, 200ms)).end);
}

TEST(RunChild, refuses_one_that_prints_without_end) {
  EXPECT_EQ(run_child("/usr/bin/yes", {"y"}, {}, 60s).error().kind(), ErrorKind::invalid_argument);
}

TEST(RunChild, says_that_there_is_no_such_program) {
  EXPECT_EQ(run_child("/no/such/program", {}, {}, 1s).error().kind(), ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace troupe::wire
