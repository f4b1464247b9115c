// The rows of the actor core: asks, spawns, restarts and idleness, with the limits it was built to keep. Where the
// build has no Boost.Asio, the rows that need it say so instead of passing.
#pragma once

#include <vector>

#include "bench/bench.hpp"
#include "bench/options.hpp"

namespace troupe::bench {

std::vector<Row> actor_rows(const Options& options);

}  // namespace troupe::bench
