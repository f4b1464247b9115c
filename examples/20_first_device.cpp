// A first device: open it, allocate, fill, read. Nothing here knows whether the device is a GPU or the CPU. An op is
// submitted when it is awaited, or by get() in a plain thread; it gives a value or one typed error.
#include <cstdio>

#include "troupe/troupe.hpp"

using namespace troupe;

/// The same three ops twice: first a plain thread waits for each ...
Result<float> in_a_thread(const Device& device) {
  Array<float> a = TROUPE_TRY(device.array<float>({4}));  // device memory, freed by its last owner
  TROUPE_TRY(device.fill(a, 1.5f).get());
  HostArray<float> out = TROUPE_TRY(device.read(a).get());
  return out[3];
}

/// ... then a coroutine, which holds up no thread.
Task<Result<float>> in_a_task(Device device) {
  Array<float> a = CO_TRY(device.array<float>({4}));
  CO_TRY(co_await device.fill(a, 2.5f));
  HostArray<float> out = CO_TRY(co_await device.read(a));
  co_return out[3];
}

int main() {
  System system;
  for (const DeviceInfo& info : system.devices())
    std::printf("device %d: %s, backend %s, %.1f GiB\n", info.index, info.name.c_str(), info.backend.c_str(),
                static_cast<double>(info.memory_bytes) / (1 << 30));

  Device device = value(system.device(0));
  std::printf("generation %ld is worker process %d\n", static_cast<long>(device.generation()), device.worker_pid());

  const Result<float> first = in_a_thread(device);
  const Result<float> second = system.run(in_a_task(device));
  std::printf("read back: %g in a thread, %g in a task\n", value(first), value(second));

  const Result<Device> none = system.device(99);
  std::printf("device 99: %s\n", none ? "it exists" : none.error().to_string().c_str());
  return *first == 1.5f && *second == 2.5f && device.worker_pid() > 0 && !none ? 0 : 1;
}
