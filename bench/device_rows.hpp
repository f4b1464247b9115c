// The rows of a device with a worker process: what the hop costs, what memory and computation cost through it, and how
// soon the next worker serves after a crash. On the host backend, which every machine has.
#pragma once

#include <vector>

#include "bench/bench.hpp"
#include "bench/options.hpp"

namespace troupe::bench {

std::vector<Row> device_rows(const Options& options);

}  // namespace troupe::bench
