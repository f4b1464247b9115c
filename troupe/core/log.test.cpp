#include "troupe/core/log.hpp"

#include <gtest/gtest.h>

namespace troupe {

TEST(Log, writes_one_line_with_level_source_and_sentence) {
  testing::internal::CaptureStderr();
  log_to_stderr()({LogLevel::warning, TimePoint{}, "/user/batcher", "a handler has blocked for 1 s"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "troupe warning /user/batcher: a handler has blocked for 1 s\n");
}

TEST(Log, leaves_out_what_is_below_its_level) {
  testing::internal::CaptureStderr();
  const LogSink sink = log_to_stderr(LogLevel::error);
  sink({LogLevel::warning, TimePoint{}, "pool", "quiet"});
  sink({LogLevel::error, TimePoint{}, "pool", "loud"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "troupe error pool: loud\n");
}

TEST(Log, nothing_is_nothing) {
  testing::internal::CaptureStderr();
  log_nothing()({LogLevel::error, TimePoint{}, "pool", "loud"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace troupe
