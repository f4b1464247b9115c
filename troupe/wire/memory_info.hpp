// How much memory this process may still use: what the machine has left, and what its control group allows. Ask before
// a large allocation: afterwards the kernel's OOM killer answers.
#pragma once

#include <cstdint>
#include <string>

namespace troupe::inline v0::wire {

struct MemoryInfo {
  std::uint64_t total_bytes;
  std::uint64_t available_bytes;  // can be used without swapping; includes a control group's reclaimable file cache
};

/// The smaller of the machine's memory and that of the tightest control group (v2 or v1) around this process. What
/// cannot be read is no limit: both are 2^64-1 when nothing can be read. `root` is where /proc and /sys are; only tests
/// set it.
MemoryInfo machine_memory(const std::string& root = "");

/// "512 B", "1.5 GiB", "8 TiB": at most one decimal, in the largest unit that is not above it.
std::string format_bytes(std::uint64_t bytes);

}  // namespace troupe::inline v0::wire
