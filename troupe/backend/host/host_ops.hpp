// Runs decoded ops on the CPU. Each family that the host supports has a folder beside this file, with a `run_op` for
// each of its ops.
#pragma once

#include "troupe/backend/host/fft/fft_plans.hpp"
#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/jit/kernel_programs.hpp"

namespace troupe::host {

class HostOps {
 public:
  HostOps(HostMemory& memory, Team& team, const backend::Setup& setup);

  /// Runs one op to its end. It was examined, and its views lie in mapped memory. Any thread.
  /// `has_begun` becomes true before anything is written.
  Result<void> run(const backend::Work& work, const op::AnyOp& op, bool& has_begun) noexcept;

 private:
  const HostViews here_;
  backend::PluginCaller plugins_;
  FftPlans fft_plans_;
  KernelPrograms programs_;
  const RunTable table_;
};

}  // namespace troupe::host
