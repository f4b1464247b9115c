// Watching generations: whoever wants to know when a worker has taken over after another was lost subscribes an actor.
// Here somebody kills workers from outside, with SIGKILL, while a caller works: the caller never notices.
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

constexpr int kKills = 3, kSteps = 30;

struct WaitFor {
  std::int64_t generation = 0;
  using Reply = std::int64_t;
};

class Watcher {
 public:
  void on(const GenerationChanged& event) {
    latest_ = event.generation;
    std::printf("device %d has generation %ld: %s\n", event.device, static_cast<long>(event.generation),
                event.why.to_string().c_str());
  }
  Task<std::int64_t> on(WaitFor message) {
    while (latest_ < message.generation) co_await sleep_for(1ms);  // handlers interleave where they wait
    co_return latest_;
  }

 private:
  std::int64_t latest_ = 1;
};

/// Counts on the device: [count, 1] times [[1, 0], [1, 1]] is [count + 1, 1]. Out of place, so that every step can be
/// run again when it is cut off.
Task<Result<int>> count_on(Device device, Ref<Watcher> watcher) {
  const std::vector<float> zero{0, 1}, plus_one{1, 0, 1, 1};
  Array<float> count = CO_TRY(device.array<float>({1, 2}));
  Array<float> step = CO_TRY(device.array<float>({2, 2}));
  CO_TRY(co_await device.write(count, zero));
  CO_TRY(co_await device.write(step, plus_one));
  for (int kills = 1; kills <= kKills; ++kills) {
    while (!device.kill_worker()) CO_TRY(co_await device.nop());  // none serves this very moment
    for (int i = 0; i < kSteps; ++i) {
      Array<float> next = CO_TRY(device.array<float>({1, 2}));
      CO_TRY(co_await device.blas().gemm(count, step, next));
      count = std::move(next);
    }
    CO_TRY(co_await watcher.ask<WaitFor>(kills + 1).wait_at_most(5s));
  }
  HostArray<float> read = CO_TRY(co_await device.read(count));
  co_return static_cast<int>(read[0]);
}

int main() {
  System system({.log = log_nothing()});
  Device device = value(system.device(0));
  Ref<Watcher> watcher = value(system.spawn<Watcher>({.name = "watcher"}));
  device.watch_generation(watcher);

  const Result<int> count = system.run(count_on(device, watcher));
  if (!count) return std::printf("a step failed: %s\n", count.error().to_string().c_str()), 1;
  std::printf("counted to %d, and no step failed\n", *count);
  return *count == kSteps * kKills && device.generation() == kKills + 1 ? 0 : 1;
}
