// For tests of what happens at a limit of the process: the limit is lowered for a scope, and raised again whatever
// becomes of the test.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

namespace troupe {

/// Lowers a limit of this process (its soft part, which may be raised again) until the end of the scope.
class LowLimit {
 public:
  LowLimit(int resource, rlim_t limit) : resource_(resource) {
    EXPECT_EQ(getrlimit(Resource(resource_), &before_), 0);
    rlimit low = before_;
    low.rlim_cur = std::min(limit, before_.rlim_max);
    EXPECT_EQ(setrlimit(Resource(resource_), &low), 0);
  }
  ~LowLimit() { setrlimit(Resource(resource_), &before_); }
  LowLimit(const LowLimit&) = delete;
  LowLimit& operator=(const LowLimit&) = delete;

 private:
  using Resource = __rlimit_resource_t;
  const int resource_;
  rlimit before_{};
};

}  // namespace troupe
