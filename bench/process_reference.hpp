// The references for ops in a worker process: the least that two processes can do with memory they share. Both spin,
// and neither checks, counts, keeps or recovers anything.
#pragma once

namespace troupe::bench {

/// Nanoseconds for one word to another process and one back, each on a cache line of its own.
double ping_pong_ns(int count);

/// Records per second through a bare `wire::Ring` to another process, which says how far it has come so that they can
/// be freed. They are as long as a no-op.
double ring_records_per_s(int count);

}  // namespace troupe::bench
