#include "bench/device_ours.hpp"

#include <chrono>
#include <vector>

#include "bench/batches.hpp"
#include "bench/deadline_cost.hpp"
#include "bench/system_calls.hpp"
#include "bench/worker_processes.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench::ours {
namespace {

/// A system with one pool thread and a device; without a standby, which would be started while we measure.
struct Opened {
  explicit Opened(Standby standby = Standby::none)
      : system({.threads = 1, .log = log_nothing()}), device(value(system.device("host", {.standby = standby}))) {}

  System system;
  Device device;
};

Task<Result<void>> nop_again_and_again(Device device, int count) {
  for (int i = 0; i < count; ++i) CO_TRY(co_await device.nop());
  co_return {};
}

/// So many coroutines of one actor, each with one no-op under way.
Task<Result<void>> nops_side_by_side(Device device, int coroutines, int count) {
  std::vector<Task<Result<void>>> tasks;
  for (int i = 0; i < coroutines; ++i) tasks.push_back(nop_again_and_again(device, count / coroutines));
  for (Result<void>& end : co_await when_all(std::move(tasks))) CO_TRY(std::move(end));
  co_return {};
}

struct Square {
  Square(const Device& device, std::int64_t n, float content) : array(value(device.array<float>({n, n}))) {
    value(device.fill(array, content).get());
  }
  Array<float> array;
};

/// An array on the device and one in shared memory, of the same size, both written before.
struct Transfer {
  Transfer(const Device& device, std::size_t size_bytes)
      : array(value(device.array<std::uint8_t>({static_cast<std::int64_t>(size_bytes)}))),
        host(value(device.host_array<std::uint8_t>({static_cast<std::int64_t>(size_bytes)}))) {
    std::ranges::fill(host, std::uint8_t{1});
    value(device.write(array, host).get());
    value(device.read(array, host).get());
  }
  Array<std::uint8_t> array;
  HostArray<std::uint8_t> host;
};

/// The kernel often wakes the worker on the core of whoever woke it, where both take turns, and needs some time to see
/// that another core is idle.
void settle(const Device& device) {
  constexpr double kSettleNs = 2e8;
  const Stopwatch stopwatch;
  while (stopwatch.ns() < kSettleNs) value(device.nop().get());
}

double per_second(std::size_t count, double ns) { return static_cast<double>(count) / ns * 1e9; }

}  // namespace

double nop_ns(int count) {
  const Opened opened;
  wait_until_workers_rest(1);
  settle(opened.device);
  constexpr int kPerBatch = 100;
  return median_ns(count / kPerBatch, kPerBatch, [&] { value(opened.device.nop().get()); });
}

double nops_per_s(int count) {
  constexpr int kUnderWay = 2048;
  Opened opened;
  wait_until_workers_rest(1);
  value(opened.system.run(nops_side_by_side(opened.device, kUnderWay, count / 10)));
  const Stopwatch stopwatch;
  value(opened.system.run(nops_side_by_side(opened.device, kUnderWay, count)));
  return per_second(static_cast<std::size_t>(count - count % kUnderWay), stopwatch.ns());
}

Pair::Figures deadline_cost_ns(int count) {
  const Opened opened;
  const Array<float> array = value(opened.device.array<float>({1}));
  wait_until_workers_rest(1);
  settle(opened.device);
  return bench::deadline_cost_ns(count, [&] { return opened.device.fill(array, 1.0F); });
}

double allocate_and_free_ns(int count) {
  const Opened opened;
  constexpr int kPerBatch = 100;
  return median_ns(count / kPerBatch, kPerBatch, [&] { (void)value(opened.device.array<float>({16})); });
}

double system_calls_per_allocate_and_free(int count) {
  const Opened opened;
  return system_calls_when_warm([&] {
           for (int i = 0; i < count; ++i) (void)value(opened.device.array<float>({16}));
         }) /
         count;
}

double gemm_flops(int n, int count) {
  const Opened opened;
  const Square a(opened.device, n, 1), b(opened.device, n, 2), c(opened.device, n, 0);
  const Blas blas = opened.device.blas();
  const auto multiply = [&] { value(blas.gemm(a.array, b.array, c.array).get()); };
  multiply();
  wait_until_all_rest();  // nobody else looks for work while we measure
  multiply();
  const double ns = median_ns(count, 1, multiply);
  return 2.0 * n * n * n / ns * 1e9;
}

double write_bytes_per_s(std::size_t size_bytes, int count) {
  const Opened opened;
  const Transfer transfer(opened.device, size_bytes);
  return per_second(size_bytes,
                    median_ns(count, 1, [&] { value(opened.device.write(transfer.array, transfer.host).get()); }));
}

double read_bytes_per_s(std::size_t size_bytes, int count) {
  const Opened opened;
  const Transfer transfer(opened.device, size_bytes);
  return per_second(size_bytes,
                    median_ns(count, 1, [&] { value(opened.device.read(transfer.array, transfer.host).get()); }));
}

double idle_percent(double seconds) {
  const Opened opened(Standby::warm);
  value(opened.device.nop().get());
  wait_until_workers_rest(2);
  return cpu_percent_with_workers(std::chrono::duration<double>(seconds));
}

double crash_to_next_op_ms() {
  const Opened opened;
  const Square small(opened.device, 4, 1);
  wait_until_workers_rest(1);
  const Stopwatch stopwatch;
  opened.device.kill_worker();
  while (opened.device.generation() == 1) (void)value(opened.device.read(small.array).get());
  return stopwatch.ns() / 1e6;
}

}  // namespace troupe::bench::ours
