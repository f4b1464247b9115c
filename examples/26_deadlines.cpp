// Deadlines: an op that still runs at its deadline is stopped, by killing its worker, and the standby goes on. One that
// has not begun by then never begins, and costs nothing. `within` is something else: the caller stops waiting, the op
// goes on.
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>

#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

bool ends_in(ErrorKind kind, const char* what, const Result<void>& result) {
  std::printf("%-26s %s\n", what, result ? "a value" : result.error().to_string().c_str());
  return !result && result.error().kind() == kind;
}

int main() {
  const std::string plugin =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libdemo_plugin.so").string();
  System system({.log = log_nothing()});  // by default a new generation is a warning on standard error
  Device device = value(system.device("host"));
  const auto generation = [&] { return static_cast<long>(device.generation()); };

  bool holds = ends_in(ErrorKind::deadline_exceeded,
                       "hangs, deadline 500 ms:", device.call_plugin(plugin, "hang").deadline(500ms).get());
  value(device.nop().get());  // the next op finds the next worker
  std::printf("%-26s %ld\n", "generation:", generation());
  holds &= generation() == 2;

  // Behind a long op on the same array: its deadline passes before it can begin.
  const std::int32_t ms = 400;
  const Array<float> x = value(device.array<float>({1}));
  value(device.call_plugin(plugin, "spin_ms", {updates(x)}, std::as_bytes(std::span(&ms, 1))).submit());
  holds &= ends_in(ErrorKind::deadline_exceeded,
                   "never begins, 20 ms:", device.call_plugin(plugin, "hang", {updates(x)}).deadline(20ms).get());
  holds &=
      ends_in(ErrorKind::timeout, "not waited for, 20 ms:",
              device.call_plugin(plugin, "spin_ms", {}, std::as_bytes(std::span(&ms, 1))).wait_at_most(20ms).get());
  std::printf("%-26s %ld, no worker was stopped for these\n", "generation:", generation());
  holds &= generation() == 2;

  const Result<void> in_time = device.nop().deadline(10s).get();
  std::printf("%-26s %s\n", "in time:", in_time ? "a value" : in_time.error().to_string().c_str());
  return holds && in_time ? 0 : 1;
}
