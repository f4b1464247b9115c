// How many system calls a piece of code makes, counted by the kernel: it runs in a thread whose system calls are all
// reported to another one (seccomp's user notification), which counts them and lets them go on.
#pragma once

#include <functional>

namespace troupe::bench {

/// System calls of `operation` when it runs a second time in the same thread. `kNotMeasured` where the kernel does not
/// offer this.
double system_calls_when_warm(const std::function<void()>& operation);

}  // namespace troupe::bench
