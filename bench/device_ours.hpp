// Our side of the device rows. Each function opens a device with a worker process, does the operation and closes the
// device again outside the measured time; what a worker refuses is thrown. Called from the main thread, one at a time.
#pragma once

#include <cstddef>

#include "bench/pair.hpp"

namespace troupe::bench::ours {

/// Nanoseconds for a no-op to the worker and back, one at a time, waited for by a plain thread.
double nop_ns(int count);

/// No-ops per second when many are under way and each is answered to a coroutine.
double nops_per_s(int count);

/// Nanoseconds for each of so many fills of one element, submitted without waiting: with a deadline each, and without.
Pair::Figures deadline_cost_ns(int count);

/// Nanoseconds to allocate an array of 64 bytes and free it.
double allocate_and_free_ns(int count);

/// System calls per such pair when the chunk it comes from is there.
double system_calls_per_allocate_and_free(int count);

/// Floating-point operations per second of `blas().gemm` on square matrices of `n` rows of float, the median of
/// `count`.
double gemm_flops(int n, int count);

/// Bytes per second from a `HostArray` into an array of the device, and back; the median of `count`.
double write_bytes_per_s(std::size_t size_bytes, int count);
double read_bytes_per_s(std::size_t size_bytes, int count);

/// What a device with its worker and a standby use when nothing is asked of them, in percent of one core.
double idle_percent(double seconds);

/// Milliseconds from killing the worker until the next worker, which had to be started, has read an array.
double crash_to_next_op_ms();

}  // namespace troupe::bench::ours
