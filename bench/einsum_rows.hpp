// The rows of contractions on a GPU: by estimate, and by the engine that was measured to be the fastest, beside
// PyTorch's einsum.
#pragma once

#if TROUPE_CUDA_BACKEND

#include <vector>

#include "bench/bench.hpp"
#include "bench/options.hpp"
#include "bench/shared_gpu.hpp"

namespace troupe::bench {

std::vector<Row> einsum_rows(const SharedGpu& gpu, const Options& options);

}  // namespace troupe::bench

#endif
