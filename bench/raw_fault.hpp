// How long the CUDA driver itself takes to say that a kernel used a bad address. It costs the process that asks, so
// this program starts itself again for it, with `--raw-fault GPU`. Exists everywhere, and fails where there is no CUDA.
#pragma once

#include <string>

namespace troupe::bench {

/// Milliseconds from such a kernel's launch until the driver answers with the error, seen by a process that does
/// nothing but ask. Throws when there was no error, or no answer.
double raw_fault_ms(const std::string& gpu);

/// What that process does: measures and prints it. Returns the exit code.
int print_raw_fault(const std::string& gpu);

}  // namespace troupe::bench
