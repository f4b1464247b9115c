// The references for memory and computation through a worker: the same done right here, in this process and by plain
// calls.
#pragma once

#include <cstddef>

namespace troupe::bench {

/// Nanoseconds to allocate and free 64 bytes with the C library.
double malloc_and_free_ns(int count);

/// Bytes per second of one `memcpy` of this size between memory that has been touched before, the median of `count`.
double memcpy_bytes_per_s(std::size_t size_bytes, int count);

/// Floating-point operations per second of OpenBLAS's sgemm on square matrices of `n` rows, the median of `count`
/// calls. `kNotMeasured` where there is no OpenBLAS.
double direct_gemm_flops(int n, int count);

}  // namespace troupe::bench
