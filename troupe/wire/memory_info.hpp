// How much memory this process may still use: what the machine has left, and what its control group allows. Asked
// before large allocations, because afterwards it is the kernel's OOM killer that answers.
#pragma once

#include <cstdint>
#include <string>

namespace troupe::inline v0::wire {

struct MemoryInfo {
  std::uint64_t total_bytes;
  std::uint64_t available_bytes;  // can be used without swapping; a control group's reclaimable file cache counts
};

/// The smaller of the machine and the tightest control group (v2 or v1) around this process. What cannot be read does
/// not limit: both are 2^64-1 when nothing can be read. `root` is where /proc and /sys lie; only tests say so.
MemoryInfo machine_memory(const std::string& root = "");

/// "512 B", "1.5 GiB", "8 TiB": at most one decimal, in the largest unit that is not above it.
std::string format_bytes(std::uint64_t bytes);

}  // namespace troupe::inline v0::wire
