// What `troupe_chaos` can be told. The same device, seed, faults and callers give the same plan; `command_line` says
// them again for whoever wants to repeat a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "troupe/core/kinds.hpp"
#include "troupe/device/device_options.hpp"

namespace troupe::chaos {

struct Options {
  std::string device = "host";  // or "cuda"
  std::uint64_t seed = 1;
  std::uint32_t faults = 100;
  std::uint32_t callers = 8;
  std::uint32_t seconds = 0;  // 0: no limit
  Lanes lanes = {};
  std::optional<Sandbox> sandbox = {};  // the device's own choice
  bool verbose = false;                 // shows the log of the system
};

/// None when it has said all there is to say: help, or what is wrong. `exit_code` is set then.
std::optional<Options> read_options(int count, char** words, int& exit_code);
/// The command line that gives the same plan.
std::string command_line(const Options& options);

}  // namespace troupe::chaos
