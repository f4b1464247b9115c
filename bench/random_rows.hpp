// Random numbers on the CPU: 64 Mi of f32 as one op that is waited for, beside the standard library's by one thread in
// this process, and beside a copy of as many by the same device. A fill writes half of what a copy moves.
#pragma once

#include <vector>

#include "bench/bench.hpp"
#include "bench/options.hpp"

namespace troupe::bench {

std::vector<Row> random_rows(const Options& options);

}  // namespace troupe::bench
