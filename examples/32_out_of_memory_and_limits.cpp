// Limits: a device's memory has one, and an allocation beyond it ends in `out_of_memory` with the figures, at once and
// in the app. Nothing is lost by it: free something, and the same allocation succeeds.
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

bool refused(ErrorKind kind, const char* what, const Result<void>& result) {
  std::printf("%-30s %s\n", what, result ? "was not refused" : result.error().to_string().c_str());
  return !result && result.error().kind() == kind;
}

template <class T>
Result<void> outcome_of(const Result<T>& result) {
  if (!result) return fail(result.error());
  return {};
}

int main() {
  constexpr std::int64_t kMiB = 1 << 20;
  System system;
  Device device = value(system.device(0, {.vault_limit_bytes = 64 * kMiB, .host_limit_bytes = 16 * kMiB}));

  std::vector<Array<std::uint8_t>> arrays;
  for (;;) {
    Result<Array<std::uint8_t>> next = device.array<std::uint8_t>({8 * kMiB});
    if (!next) {
      std::printf("%zu arrays of 8 MiB, and then:   %s\n", arrays.size(), next.error().to_string().c_str());
      break;
    }
    arrays.push_back(std::move(*next));
  }
  bool holds = arrays.size() == 8;
  value(device.fill(arrays[0], std::uint8_t{7}).get());  // what is there works on
  arrays.pop_back();
  const Result<Array<std::uint8_t>> again = device.array<std::uint8_t>({8 * kMiB});
  std::printf("one freed, one more allocated: %s\n", again ? "yes" : again.error().to_string().c_str());
  holds &= again.has_value();

  const VaultStats memory = device.stats().memory;
  std::printf("%lu of %lu MiB used, %lu allocations\n", static_cast<unsigned long>(memory.used_bytes / kMiB),
              static_cast<unsigned long>(memory.limit_bytes / kMiB), static_cast<unsigned long>(memory.allocations));

  arrays.clear();
  Array<std::uint8_t> large = value(device.array<std::uint8_t>({17 * kMiB}));
  holds &= refused(ErrorKind::out_of_memory, "read() into 16 MiB:", outcome_of(device.read(large).get()));
  holds &= refused(ErrorKind::invalid_argument, "a negative extent:", outcome_of(device.array<float>({4, -1})));
  holds &= refused(ErrorKind::invalid_argument, "more than there are numbers:",
                   outcome_of(device.array<float>({std::int64_t{1} << 40, std::int64_t{1} << 40})));
  return holds ? 0 : 1;
}
