// Rows of a GPU: Fourier transforms beside cuFFT, random numbers beside cuRAND and beside a copy that moves as many
// bytes. None where there is no CUDA.
#pragma once

#include <vector>

#include "bench/bench.hpp"
#include "bench/options.hpp"

namespace troupe::bench {

std::vector<Row> signal_rows(const Options& options);

}  // namespace troupe::bench
