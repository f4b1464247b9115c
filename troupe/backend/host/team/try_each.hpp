// A loop whose steps may fail, by a team. Which error is given does not depend on the team: that of the first step
// that failed.
#pragma once

#include <limits>
#include <mutex>

#include "troupe/backend/host/team/team.hpp"
#include "troupe/core/result.hpp"

namespace troupe::host {

/// Calls `step(i)` for each i from 0 to before `count`, in any order and from several threads. Gives the error of the
/// least i that failed; the others may have been done or not.
template <class Step>
Result<void> try_each(Team& team, std::int64_t count, Grain grain, const Step& step) {
  std::mutex mutex;
  std::int64_t failed = std::numeric_limits<std::int64_t>::max();
  Result<void> result;
  team.run(count, grain, [&](std::int64_t begin, std::int64_t end) noexcept {
    for (; begin < end; ++begin) {
      Result<void> done = step(begin);
      if (done) continue;
      const std::lock_guard lock(mutex);
      if (begin < failed) {
        failed = begin;
        result = std::move(done);
      }
      return;
    }
  });
  return result;
}

}  // namespace troupe::host
