// Scans of segments.
#include "troupe/backend/cuda/primitives/primitives_scan.cuh"
#include "troupe/backend/cuda/primitives/primitives_types.hpp"

using namespace troupe;        // for the types of the elements
using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_SCAN(function, suffix, T)                                                                  \
  extern "C" __global__ void __launch_bounds__(kPrimitivesThreads)                                        \
      troupe_scan_segments_##function##_##suffix(const ScanArguments a) {                                 \
    scan_rows<Combine::function, T, true>(a);                                                             \
  }
TROUPE_COMBINED(TROUPE_SCAN)
