#include "tools/troupe/run_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tools/troupe/script.test.hpp"

namespace troupe::tool {
namespace {

using namespace std::chrono_literals;

TEST(RunProgram, gives_what_it_printed_and_how_it_ended) {
  const Script script("echo one; echo \"$1\"; exit 3");
  const ProgramRun run = value(run_program(script.path(), "two", 60s));
  EXPECT_EQ(run.printed, "one\ntwo\n");
  ASSERT_TRUE(run.end);
  EXPECT_EQ(run.end->to_string(), "exited with code 3");
}

TEST(RunProgram, keeps_what_was_printed_before_the_time_was_up) {
  const Script script("echo one; exec sleep 1000");
  // The shell may be slow to start: the limit grows until it was there in time.
  for (Duration limit = 100ms;; limit *= 2) {
    const ProgramRun run = value(run_program(script.path(), "", limit));
    ASSERT_FALSE(run.end);
    if (run.printed == "one\n") break;
    ASSERT_LT(limit, 30s) << run.printed;
  }
}

TEST(RunProgram, does_not_wait_for_one_that_has_closed_its_output_and_lives) {
  const Script script("exec >&-; exec sleep 1000");
  EXPECT_FALSE(value(run_program(script.path(), "", 200ms)).end);
}

TEST(RunProgram, refuses_one_that_prints_without_end) {
  const Result<ProgramRun> run = run_program("/usr/bin/yes", "y", 60s);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind(), ErrorKind::invalid_argument);
}

TEST(RunProgram, that_is_not_there_is_an_error) {
  EXPECT_EQ(run_program("/nonexistent", "", 1s).error().kind(), ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace troupe::tool
