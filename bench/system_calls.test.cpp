#include "bench/system_calls.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>

namespace troupe::bench {
namespace {

TEST(SystemCalls, are_counted_in_the_second_run) {
  int runs = 0;
  const double calls = system_calls_when_warm([&] {
    for (int i = 0; i <= 2 * runs; ++i) ::syscall(SYS_getppid);
    ++runs;
  });
  if (std::isnan(calls)) GTEST_SKIP() << "the kernel does not report system calls here";
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(runs, 2);
}

TEST(SystemCalls, are_none_where_none_are_made) {
  int runs = 0;
  const double calls = system_calls_when_warm([&] { ++runs; });
  if (std::isnan(calls)) GTEST_SKIP() << "the kernel does not report system calls here";
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace troupe::bench
