// The names of devices and arrays, one by one. The reference shows what stands between `// example:` and `// end`.
#include <filesystem>
#include <thread>
#include <vector>

#include "examples/reference/expect.hpp"
#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

// example: Device, Array, HostArray
Task<Result<float>> filled(Device device) {
  Array<float> array = CO_TRY(device.array<float>({2, 3}));
  CO_TRY(co_await device.fill(array, 7.0f));
  HostArray<float> there = CO_TRY(co_await device.read(array));  // memory that app and workers share
  co_return there[5];
}
// end

void opening(System& system) {
  // example: DeviceInfo
  const DeviceInfo best = system.devices().front();  // a GPU where there is one; the CPU is always the last
  expect(best.index == 0 && !best.backend.empty());
  // end

  // example: DeviceOptions, Standby, Lanes, CompletionPolicy, Sandbox, kDefaultRingUnits, kDefaultMaxWaiting
  Device device = value(system.device("host", {.standby = Standby::none,
                                               .lanes = Lanes::single(),
                                               .completion = CompletionPolicy::timeline,
                                               .ring_units = 2 * kDefaultRingUnits,
                                               .max_waiting = kDefaultMaxWaiting / 2,
                                               .sandbox = Sandbox::standard}));
  expect(device.generation() == 1);
  // end
  expect(system.run(filled(device)) == 7.0f);

  // example: DeviceStats, VaultStats
  const DeviceStats stats = device.stats();
  const VaultStats& memory = stats.memory;
  expect(stats.submitted > 0 && stats.culprits == 0 && memory.used_bytes <= memory.limit_bytes);
  // end

  // example: Isolation
  const DeviceOptions for_debuggers{.isolation = Isolation::thread};  // needs the CMake target troupe::thread
  // end
  expect(for_debuggers.isolation == Isolation::thread);
}

void calls(const Device& device) {
  const Array<float> x = value(device.array<float>({1000}));
  // example: Call
  expect(device.fill(x, 1.0f).submit().has_value());                       // nobody waits
  value(device.fill(x, 2.0f).deadline(10s).get());                         // this thread waits; too late is an error
  const Result<void> soon = device.fill(x, 3.0f).wait_at_most(10s).get();  // stops waiting after that time
  expect(soon.has_value());                                                // in a Task: co_await device.fill(x, 3.0f)
  // end

  // example: AnyArray, Content
  const AnyArray any = x;  // its type is known at run time
  expect(any.dtype() == DType::f32 && any.content() == Content::whole);
  const AnyArray every_other = value(any.slice(0, 0, 1000, 2));
  expect(every_other.shape() == Shape{500} && value(any.as<float>()).rank() == 1);
  // end
}

void plugins(const Device& device, const std::string& plugin) {
  const Array<float> from = value(device.array<float>({3}));
  const Array<float> to = value(device.array<float>({3}));
  value(device.write(from, {3.0f, 1.0f, 2.0f}).get());
  value(device.copy(from, to).get());
  // example: reads, writes, updates, writes_part, ArrayUse
  const std::vector<ArrayUse> uses = {reads(from), updates(to)};  // writes(to), if the function does not read it
  const Result<void> called = device.call_plugin(plugin, "no_such_function", uses).get();
  expect(called.error().kind() == ErrorKind::invalid_argument);
  // end
  expect(writes(to).access() == op::Access::write && writes_part(to).access() == op::Access::part);
}

// example: GenerationChanged
struct Seen {
  using Reply = std::int64_t;
};
class Watchman {
 public:
  void on(GenerationChanged event) { generation_ = event.generation; }  // event.why: what happened to the one before
  std::int64_t on(Seen) { return generation_; }

 private:
  std::int64_t generation_ = 1;
};
// end

void take_over(System& system) {
  // example: CrashBudget
  Device device = value(system.device("host", {.crash_budget = CrashBudget{.deaths = 5, .window = 1min}}));
  const Device tenant = device.as("tenant-7");  // what its ops cost is charged to this name
  // end
  Ref<Watchman> watchman = value(system.spawn<Watchman>());
  tenant.watch_generation(watchman);
  expect(device.kill_worker());
  while (value(watchman.ask<Seen>().get()) == 1) std::this_thread::yield();
  expect(system.run(filled(tenant)) == 7.0f);
}

int main() {
  System system({.log = log_nothing()});
  opening(system);
  const Device device = value(system.device("host"));
  calls(device);
  plugins(device, std::filesystem::canonical("/proc/self/exe").replace_filename("libsort_plugin.so"));
  take_over(system);
}
