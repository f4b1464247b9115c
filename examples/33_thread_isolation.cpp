// Thread isolation: the worker runs in a thread of this process, for debuggers and profilers. The same code, the same
// results, one difference: nothing can be killed, so after an op that passes its deadline the device is lost for good.
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>

#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

int main() {
  const std::string plugin =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libdemo_plugin.so").string();
  System system({.log = log_nothing()});
  Device device = value(system.device("host", {.isolation = Isolation::thread}));
  Array<float> a = value(device.array<float>({4}));
  value(device.fill(a, 1.0f).get());
  std::printf("worker process: %d (none), a[0] is %g\n", device.worker_pid(),
              static_cast<double>(value(device.read(a).get())[0]));

  const std::int32_t ms = 2000;
  const Result<void> late =
      device.call_plugin(plugin, "spin_ms", {}, std::as_bytes(std::span(&ms, 1))).deadline(500ms).get();
  std::printf("past its deadline:   %s\n", late ? "a value" : late.error().to_string().c_str());
  const Result<void> next = device.fill(a, 2.0f).get();
  std::printf("the next op:         %s\n", next ? "a value" : next.error().to_string().c_str());

  Device another = value(system.device("host"));  // a process this time
  std::printf("another device:      worker process %s\n", another.worker_pid() > 0 ? "yes" : "no");
  return !late && late.error().kind() == ErrorKind::device_lost && !next &&
                 next.error().kind() == ErrorKind::device_lost && another.nop().get()
             ? 0
             : 1;
}
