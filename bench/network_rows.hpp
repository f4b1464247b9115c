// Rows of a GPU: layers of networks beside PyTorch's, which calls cuDNN, too. None where there is no CUDA;
// without PyTorch ours alone.
#pragma once

#include <vector>

#include "bench/bench.hpp"
#include "bench/options.hpp"

namespace troupe::bench {

std::vector<Row> network_rows(const Options& options);

}  // namespace troupe::bench
