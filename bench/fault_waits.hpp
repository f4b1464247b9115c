// How long callers wait when something fails, on the host ("host") or on a GPU ("cuda"). Each function opens a device
// of its own with a warm standby, waits until its workers are at rest, lets it happen once, and is rid of every worker
// when it returns. What goes otherwise than it should is thrown. Called from the main thread, with no other device
// open.
#pragma once

#include <string>

namespace troupe::bench::ours {

/// Milliseconds from killing the worker, which has nothing to do, to the end of a gemm that is awaited at once.
double gemm_after_kill_ms(const std::string& device);

/// Milliseconds, the longest time between two ends of a chain of so many gemms, each of which reads what the one before
/// has written. All are submitted before the first has ended; the worker is killed when a quarter of them have.
double chain_gap_ms(const std::string& device, int count);

/// Milliseconds from submitting an op that writes to a bad address to its error.
double awaited_fault_ms(const std::string& device);

/// Milliseconds from submitting an op, right behind one that writes to a bad address and on its lane, to its good end.
double queued_behind_fault_ms(const std::string& device);

/// Milliseconds from the deadline of an op that never ends to its error.
double awaited_hang_ms(const std::string& device);

/// Milliseconds from the deadline of an op that never ends to the good end of one that was submitted right behind it,
/// on its lane.
double queued_behind_hang_ms(const std::string& device);

}  // namespace troupe::bench::ours
