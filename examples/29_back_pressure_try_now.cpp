// Back-pressure: the ring to a worker has room for so many ops, and so many more may wait in the app. One more ends in
// `queue_full`: nothing grows without a limit. `try_now` refuses to wait at all.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr int kOps = 300;

struct Tally {
  int done = 0, full = 0;
};

/// Behind an op that takes its time, so many others at once. Records leave the ring in order, so it fills up.
Task<Tally> flood(Device device, std::string plugin, const char* what, bool try_now) {
  const std::int32_t ms = 200;
  std::vector<Task<Result<void>>> calls;
  calls.push_back(device.call_plugin(plugin, "spin_ms", {}, std::as_bytes(std::span(&ms, 1))));
  for (int i = 0; i < kOps; ++i) {
    Call<void> call = device.nop();
    if (try_now)
      calls.push_back(std::move(call).try_now());
    else
      calls.push_back(std::move(call));
  }
  Tally tally;
  std::string why;
  for (const Result<void>& result : co_await when_all(std::move(calls))) {
    if (result)
      ++tally.done;
    else if (result.error().kind() == ErrorKind::queue_full)
      ++tally.full, why = result.error().to_string();
  }
  std::printf("%-20s %d done, %d refused%s%s\n", what, tally.done, tally.full, why.empty() ? "" : ": ", why.c_str());
  co_return tally;
}

int main() {
  const std::string plugin =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libdemo_plugin.so").string();
  System system;
  // The smallest ring there is. By default it has 4096 units, and 65536 ops may wait in the app.
  Device device = value(system.device("host", {.ring_units = 256, .max_waiting = 4}));
  const Tally waiting = value(system.run(flood(device, plugin, "4 may wait:", false)));
  const Tally trying = value(system.run(flood(device, plugin, "none may wait:", true)));
  const bool holds = waiting.done == trying.done + 4 && waiting.done + waiting.full == kOps + 1 && trying.full > 0;

  Device roomy = value(system.device("host", {.ring_units = 256}));
  const Tally all = value(system.run(flood(roomy, plugin, "65536 may wait:", false)));
  return holds && all.done == kOps + 1 ? 0 : 1;
}
