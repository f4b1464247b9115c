// The rows of a device with a GPU, beside raw CUDA in this process: what the hop costs there, memory, matrices, and how
// soon the next worker serves after a bad or a hung kernel. There are none in a build without the CUDA toolkit.
#pragma once

#include <vector>

#include "bench/bench.hpp"
#include "bench/options.hpp"

namespace troupe::bench {

/// Opens nothing; that happens when the first of them is measured.
std::vector<Row> gpu_rows(const Options& options);

/// `unsupported`, with a sentence, when they cannot be measured here.
Result<void> check_gpu();

}  // namespace troupe::bench
