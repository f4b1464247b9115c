#include "bench/actor_ours.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "bench/bench.hpp"
#include "bench/cpu_usage.hpp"
#include "bench/heap.hpp"
#include "bench/stopwatch.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench::ours {
namespace {

struct Get {
  using Reply = int;
};
struct Crash {
  using Reply = int;
};

struct Counter {
  int on(Get) { return ++count; }
  int on(Crash) { throw std::runtime_error("crash"); }
  int count = 0;
};

/// Asks another actor, one ask at a time; replies with the time per ask.
struct Asker {
  struct Run {
    int count;
    using Reply = double;
  };
  explicit Asker(Ref<Counter> counter) : to(std::move(counter)) {}
  Task<Result<double>> on(Run run) {
    const Stopwatch stopwatch;
    for (int i = 0; i < run.count; ++i) (void)CO_TRY(co_await to.ask<Get>());
    co_return stopwatch.ns_per(run.count);
  }
  Ref<Counter> to;
};

/// Counts the actors that have started.
struct Started {
  explicit Started(std::atomic<int>* all) { all->fetch_add(1, std::memory_order_relaxed); }
  int on(Get) { return 0; }
};

SystemOptions two_threads() { return {.threads = 2, .log = log_nothing()}; }

double ask_ns(const Ref<Counter>& counter, int count) {
  for (int i = 0; i < count / 10; ++i) (void)value(counter.ask<Get>().get());
  const Stopwatch stopwatch;
  for (int i = 0; i < count; ++i) (void)value(counter.ask<Get>().get());
  return stopwatch.ns_per(count);
}

std::vector<Ref<Started>> spawn_started(System& system, int count, std::atomic<int>& started) {
  std::vector<Ref<Started>> refs;
  refs.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) refs.push_back(value(system.spawn<Started>({}, &started)));
  while (started.load(std::memory_order_relaxed) < count) std::this_thread::yield();
  return refs;
}

}  // namespace

double ask_in_pool_ns(int count) {
  System system(two_threads());
  const auto counter = value(system.spawn<Counter>({}));
  const auto asker = value(system.spawn<Asker>({}, counter));
  (void)value(asker.ask<Asker::Run>(count / 10).get());
  return value(asker.ask<Asker::Run>(count).get());
}

double ask_from_thread_ns(int count) {
  System system(two_threads());
  return ask_ns(value(system.spawn<Counter>({})), count);
}

double ask_pinned_ns(int count) {
  System system(two_threads());
  return ask_ns(value(system.spawn<Counter>({.dispatcher = value(system.pinned_thread("pinned"))})), count);
}

double spawn_ns(int count) {
  System system(two_threads());
  std::atomic<int> started = 0;
  const Stopwatch stopwatch;
  const auto refs = spawn_started(system, count, started);
  return stopwatch.ns_per(count);
}

double heap_bytes_per_idle_actor(int count) {
  System system(two_threads());
  std::atomic<int> started = 0;
  std::vector<Ref<Started>> refs;
  const HeapMeter meter;
  refs = spawn_started(system, count, started);
  return (meter.grown_bytes() - static_cast<double>(refs.capacity() * sizeof refs[0])) / count;
}

double restart_us(int count, int* asks_lost) {
  System system(two_threads());
  const auto actor = value(system.spawn<Counter>({.supervision = {.max_restarts = count + 1}}));
  std::vector<double> times_us;
  for (int i = 0; i < count; ++i) {
    // The next ask is queued behind the failing one, so that the restart finds a mailbox with work in it.
    const auto fail_and_ask = [](Ref<Counter> to) -> Task<Result<double>> {
      const Stopwatch stopwatch;
      std::vector<Task<Result<int>>> asks;
      asks.push_back(to.ask<Crash>());
      asks.push_back(to.ask<Get>());
      const std::vector<Result<int>> ends = co_await when_all(std::move(asks));
      const double us = stopwatch.ns() / 1000;
      if (ends[0] || !ends[1] || *ends[1] != 1) co_return fail(ErrorKind::internal, "the restart lost an ask");
      co_return us;
    };
    if (const Result<double> us = system.run(fail_and_ask(actor)))
      times_us.push_back(*us);
    else
      ++*asks_lost;
  }
  if (times_us.empty()) return kNotMeasured;
  std::ranges::nth_element(times_us, times_us.begin() + static_cast<std::ptrdiff_t>(times_us.size() / 2));
  return times_us[times_us.size() / 2];
}

double idle_cpu_percent(double seconds) {
  System system(two_threads());
  std::atomic<int> started = 0;
  const auto refs = spawn_started(system, 1000, started);
  (void)value(refs.back().ask<Get>().get());
  return cpu_percent_while_asleep(std::chrono::duration<double>(seconds));
}

}  // namespace troupe::bench::ours
