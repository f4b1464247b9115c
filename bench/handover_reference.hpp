// The reference for an ask that crosses threads: what one writes without actors, a request and a reply handed over
// under a mutex with a condition variable in each direction. No spinning, no tricks, and no handicap.
#pragma once

namespace troupe::bench {

/// When the condition variable is notified. Both are common; which is faster depends on where the kernel runs the woken
/// thread, so the benchmark measures both.
enum class Notify { holding_the_mutex, after_unlocking };

/// Nanoseconds per round trip between two plain threads, over `count` of them.
double handover_ns(int count, Notify notify);

}  // namespace troupe::bench
