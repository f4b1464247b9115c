// How much of a core this process uses while it is meant to be idle: the CPU time of all its threads, user and kernel,
// over the time on the clock. The kernel accounts for both exactly, so a short window is enough.
#pragma once

#include <chrono>

namespace troupe::bench {

/// Sleeps for `window` and returns what the process used meanwhile, in percent of one core.
double cpu_percent_while_asleep(std::chrono::duration<double> window);

}  // namespace troupe::bench
