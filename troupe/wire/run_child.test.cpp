#include "troupe/wire/run_child.hpp"

#include <gtest/gtest.h>

namespace troupe::wire {
namespace {

using namespace std::chrono_literals;

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(RunChild, gives_what_it_printed_and_how_it_ended) {
  const ChildAnswer answer = value(run_child("/bin/sh", {"-c", "cat; echo done; exit 3"}, bytes("given "), 30s));
  EXPECT_EQ(answer.printed, "given done\n");
  EXPECT_FALSE(answer.end.signalled);
  EXPECT_EQ(answer.end.code, 3);
}

TEST(RunChild, passes_more_than_a_pipe_holds_both_ways) {
  const std::string much(5'000'000, 'x');
  EXPECT_EQ(value(run_child("/bin/cat", {}, bytes(much), 60s)).printed, much);
}

TEST(RunChild, does_not_mind_one_that_reads_nothing) {
  const std::string much(5'000'000, 'x');
  EXPECT_EQ(value(run_child("/bin/sh", {"-c", "echo no"}, bytes(much), 60s)).printed, "no\n");
}

TEST(RunChild, ends_one_that_takes_too_long) {
  const Result<ChildAnswer> answer = run_child("/bin/sh", {"-c", "sleep 100"}, {}, 50ms);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::timeout);
}

TEST(RunChild, says_that_there_is_no_such_program) {
  EXPECT_EQ(run_child("/no/such/program", {}, {}, 1s).error().kind(), ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace troupe::wire
