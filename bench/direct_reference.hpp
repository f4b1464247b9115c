// The references for memory through a worker: the same done right here, in this process and by plain calls. Those for
// computation are in direct_linear.hpp.
#pragma once

#include <cstddef>

namespace troupe::bench {

/// Nanoseconds to allocate and free 64 bytes with the C library.
double malloc_and_free_ns(int count);

/// Bytes per second of one `memcpy` of this size between memory that has been touched before, the median of `count`.
double memcpy_bytes_per_s(std::size_t size_bytes, int count);

}  // namespace troupe::bench
