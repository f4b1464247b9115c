// Lanes: in-order queues inside a worker. Ops on different lanes overlap, unless they touch the same memory: then they
// keep the order in which they were submitted. By default a chain of ops stays on one lane; here a pool takes turns.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr std::int32_t kSpinMs = 50;

struct Ops {
  Device device;
  std::string plugin;

  Call<void> spin(std::vector<ArrayUse> arrays = {}) const {
    return device.call_plugin(plugin, "spin_ms", std::move(arrays), std::as_bytes(std::span(&kSpinMs, 1)));
  }
};

/// How long two calls take that are submitted at once, in milliseconds.
Task<Result<double>> together(Call<void> first, Call<void> second) {
  const TimePoint began = std::chrono::steady_clock::now();
  std::vector<Task<Result<void>>> calls;
  calls.push_back(std::move(first));
  calls.push_back(std::move(second));
  for (Result<void>& result : co_await when_all(std::move(calls))) CO_TRY(std::move(result));
  co_return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

/// The shortest of a few tries: on a busy machine an op may begin late.
template <class Make>
double shortest(System& system, const Make& make) {
  double shortest = value(system.run(make()));
  for (int i = 0; i < 4; ++i) shortest = std::min(shortest, value(system.run(make())));
  return shortest;
}

int main() {
  const std::string plugin =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libdemo_plugin.so").string();
  System system;
  const Ops single{value(system.device("host", {.lanes = Lanes::single()})), plugin};
  const Ops pool{value(system.device("host", {.lanes = Lanes::pool(2)})), plugin};
  Array<float> a = value(pool.device.array<float>({16}));
  Array<float> b = value(pool.device.array<float>({16}));

  const double one_lane = shortest(system, [&] { return together(single.spin(), single.spin()); });
  const double two_lanes = shortest(system, [&] { return together(pool.spin({writes(a)}), pool.spin({writes(b)})); });
  const double both_read = shortest(system, [&] { return together(pool.spin({reads(a)}), pool.spin({reads(a)})); });
  const double both_write = shortest(system, [&] { return together(pool.spin({writes(a)}), pool.spin({writes(a)})); });
  std::printf("two ops of %d ms each, submitted at once:\n", kSpinMs);
  std::printf("  on one lane                            %5.0f ms\n", one_lane);
  std::printf("  on two lanes, writing two arrays       %5.0f ms\n", two_lanes);
  std::printf("  on two lanes, both reading one array   %5.0f ms\n", both_read);
  std::printf("  on two lanes, both writing one array   %5.0f ms\n", both_write);
  return one_lane >= 2 * kSpinMs && both_write >= 2 * kSpinMs && two_lanes < one_lane && both_read < both_write ? 0 : 1;
}
