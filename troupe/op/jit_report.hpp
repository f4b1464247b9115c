// What a kernel in checked mode tells of its first access outside an array: the words that it writes
// (backend/host/jit/include/checked_pointers.h) and, behind them, the kernel's name, which the app has put there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::inline v0::op {

/// The kernel's part, as it has it. No kernel writes behind it.
struct OutsideReport {
  std::int32_t is_taken = 0;
  std::int32_t block[3] = {};
  std::int32_t thread[3] = {};
  std::uint32_t element_bytes = 0;
  std::int64_t index = 0;
  std::int64_t elements = 0;
  char name[64] = {};  // of the parameter; ends with a zero
};
static_assert(sizeof(OutsideReport) == 112, "kernels write exactly these bytes");

inline constexpr std::size_t kReportedKernelBytes = 128;
inline constexpr std::size_t kReportWords = (sizeof(OutsideReport) + kReportedKernelBytes) / 4;

}  // namespace troupe::inline v0::op
