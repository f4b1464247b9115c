// Scans of rows.
#include "troupe/backend/cuda/primitives/primitives_scan.cuh"
#include "troupe/backend/cuda/primitives/primitives_types.hpp"

using namespace troupe;        // for the types of the elements
using namespace troupe::cuda;  // for the names that the worker looks up

// As many blocks at a time as keep the memory busy: with the registers that they would like, there are three.
constexpr int kScanBlocks = 4;

#define TROUPE_SCAN(function, suffix, T)                                        \
  extern "C" __global__ void __launch_bounds__(kPrimitivesThreads, kScanBlocks) \
      troupe_scan_##function##_##suffix(const ScanArguments a) {                \
    scan_rows<Combine::function, T, false>(a);                                  \
  }
TROUPE_COMBINED(TROUPE_SCAN)
