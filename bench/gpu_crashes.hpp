// Our side of the GPU rows where something fails, and of the idle row. Each function opens a device of its own, waits
// until its workers are at rest, lets it happen once, and is rid of every worker when it returns. What goes otherwise
// than it should is thrown. Called from the main thread, with no other device open.
#pragma once

#include "troupe/device/device_options.hpp"

namespace troupe::bench::ours {

/// Milliseconds from submitting a kernel that writes to a bad address, until
struct GpuFault {
  double reported_ms = 0;  // the driver has reported the fault, in the worker
  double next_op_ms = 0;   // an op on an array that the lost op had nothing to do with is done
};
GpuFault gpu_fault(Standby standby);

/// The same for an op on the array that the lost op was updating, which has to wait for the end of the dead process.
struct GpuFaultOnArray {
  double gone_ms = 0;     // the dead worker's process is gone
  double next_op_ms = 0;  // the op is done
};
GpuFaultOnArray gpu_fault_on_array();

/// Milliseconds after the deadline of a kernel that never ends, until
struct GpuHang {
  double next_op_ms = 0;  // an op on another array is done
  double error_ms = 0;    // its own caller has the error
};
GpuHang gpu_hang();

/// Milliseconds from opening a device until its first op is done: a worker has to start, and there was no standby.
double gpu_first_op_ms();

/// What a device with its worker and a standby use when nothing is asked of them, in percent of one core.
double gpu_idle_percent(double seconds);

}  // namespace troupe::bench::ours
