// The rows that say how long callers wait when something fails, on the host or on a GPU. Every round is one fault of a
// new device's worker, and the longest wait is shown beside the median.
#pragma once

#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "bench/options.hpp"

namespace troupe::bench {

/// Of the medians, in milliseconds, where there are any.
struct FaultWaitLimits {
  Limit gemm_after_kill = Limit::printed();
  Limit chain_gap = Limit::printed();
  Limit awaited_fault = Limit::printed();
  Limit queued_behind_fault = Limit::printed();
};

/// Of the device "host" or "cuda", with so many faults for each row.
std::vector<Row> fault_wait_rows(const Options& options, const std::string& device, int faults,
                                 const FaultWaitLimits& limits);

}  // namespace troupe::bench
