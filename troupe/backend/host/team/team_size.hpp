// How many threads a team may have: as many as this process may run at once. Affinity says on how many cores, and the
// CPU quota of a control group (v2 or v1) says for how much of the time; the smaller of the two counts.
#pragma once

#include <string>

#include "troupe/core/result.hpp"

namespace troupe::host {

/// The cores that this thread may run on, or the quota of the tightest control group around this process, rounded up:
/// the smaller one, and at least 1. What cannot be read is no limit. `root` is where /proc and /sys are; only tests
/// set it.
int team_size_limit(const std::string& root = "");

/// `size` itself when it is 1 to `limit`, else `invalid_argument`.
Result<int> check_team_size(int size, int limit = team_size_limit());

}  // namespace troupe::host
