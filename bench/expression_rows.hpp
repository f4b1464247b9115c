// What five steps in one pass cost on a GPU beside one step over the same arrays. Both move the same bytes, so that
// they should take the same time.
#pragma once

#include <vector>

#include "bench/bench.hpp"
#include "bench/options.hpp"

namespace troupe::bench {

/// Needs a GPU. None where this program was built without the CUDA toolkit.
std::vector<Row> expression_rows(const Options& options);

}  // namespace troupe::bench
