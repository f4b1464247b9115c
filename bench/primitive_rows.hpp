// Primitives on a GPU, each op waited for: beside CUB's, where its library was built (bench/cub), and beside a copy
// that moves as many bytes.
#pragma once

#include <vector>

#include "bench/bench.hpp"
#include "bench/options.hpp"

namespace troupe::bench {

/// None without the CUDA toolkit.
std::vector<Row> primitive_rows(const Options& options);

}  // namespace troupe::bench
