// Fourier transforms on the CPU beside FFTW, where it is installed: batches of 65536 numbers or one line of more, as
// one op that is waited for. FFTW is opened at run time and works in this process, by one thread.
#pragma once

#include <vector>

#include "bench/bench.hpp"
#include "bench/options.hpp"

namespace troupe::bench {

std::vector<Row> fft_rows(const Options& options);

}  // namespace troupe::bench
