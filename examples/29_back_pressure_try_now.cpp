// Back-pressure: the ring to a worker has room for so many ops, and so many more may wait in the app (`max_waiting`).
// Then a submission waits for room: a plain thread in `submit`, a task in `co_await ... submit()`. `try_now` refuses to
// wait.
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr int kOps = 100'000;

/// An op that takes its time. Records leave the ring in order, so it fills up behind this one.
Call<void> hold_up(const Device& device) {
  const std::string plugin =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libdemo_plugin.so").string();
  const std::int32_t ms = 100;
  return device.call_plugin(plugin, "spin_ms", {}, std::as_bytes(std::span(&ms, 1)));
}

/// A plain loop is as fast as the device in the long run. How many were taken.
int submit_in_a_loop(const Device& device) {
  value(hold_up(device).submit());
  int taken = 0;
  for (int i = 0; i < kOps; ++i)
    if (device.nop().submit()) ++taken;
  return taken;
}

/// The same in a task, which is suspended while there is no room: no thread of the pool stands still.
Task<Result<int>> submit_in_a_task(Device device) {
  CO_TRY(co_await hold_up(device).submit());
  for (int i = 0; i < kOps; ++i) CO_TRY(co_await device.nop().submit());
  co_return kOps;
}

/// Whoever would rather do something else than wait. The limit is the ring then: nothing waits in the app.
int try_in_a_loop(const Device& device) {
  value(hold_up(device).submit());
  int taken = 0;
  for (int i = 0; i < kOps; ++i) {
    if (const Result<void> end = device.nop().try_now().submit(); !end) {
      std::printf("try_now: %d taken, then %s\n", taken, end.error().to_string().c_str());
      return taken;
    }
    ++taken;
  }
  return taken;
}

int main() {
  System system;
  // The smallest ring there is. By default it has 4096 units, and 65536 ops may wait in the app.
  Device device = value(system.device("host", {.ring_units = 256, .max_waiting = 4}));
  const int in_a_loop = submit_in_a_loop(device);
  std::printf("a plain loop: %d taken\n", in_a_loop);
  const int in_a_task = value(system.run(submit_in_a_task(device)));
  std::printf("a task: %d taken\n", in_a_task);
  value(device.nop().get());
  return in_a_loop == kOps && in_a_task == kOps && try_in_a_loop(device) < kOps ? 0 : 1;
}
