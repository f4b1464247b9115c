// Everything that the doctor knows before it judges: what this process sees of the machine, what became of the worker
// that was asked, and whether devices work when they are used. Plain values, so that the judgement can be tested for
// machines that are not at hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "troupe/core/result.hpp"
#include "troupe/wire/facts.hpp"
#include "troupe/wire/memory_info.hpp"
#include "troupe/wire/sandbox_support.hpp"

namespace troupe::tool {

/// The NVIDIA kernel driver's door.
enum class ControlNode : std::uint8_t { missing, forbidden, open };

struct Machine {
  std::string kernel;  // "Linux 6.1.0"
  unsigned cores = 0;
  wire::MemoryInfo memory{};
  Result<void> shared_memory{};
  std::uint64_t open_files_limit = 0;
  std::uint64_t locked_memory_limit_bytes = 0;  // kUnlimited: no limit
  wire::SandboxSupport sandbox{};
  ControlNode control_node = ControlNode::missing;
  std::optional<std::string> visible_devices;  // $CUDA_VISIBLE_DEVICES

  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
};

/// A device that was opened and had to compute something.
struct Trial {
  std::string device;  // "host", or a GPU's UUID
  Result<void> outcome;
};

struct Findings {
  std::string version;  // of this program
  Machine machine;
  Result<std::string> worker;          // where the executable is
  Result<std::string> worker_version;  // what it says of itself
  Result<wire::Facts> facts;           // perhaps not complete, see there
  std::string why_facts_end;           // of facts that are not complete: what became of the worker
  std::vector<Trial> trials;
};

/// Looks at this machine. Runs the worker, within time limits, and tries the devices that it finds.
Findings find_out();

}  // namespace troupe::tool
