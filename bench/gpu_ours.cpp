#include "bench/gpu_ours.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "bench/deadline_cost.hpp"
#include "bench/numbers.hpp"

namespace troupe::bench {
namespace {

constexpr int kPerBatch = 100;
constexpr int kLaunchesUnderWay = 512;  // of all actors together: fewer than the ring has room for
constexpr int kGemmsUnderWay = 64;

constexpr char kSource[] = R"(extern "C" __global__ void empty() {})";

Task<Result<void>> launch_again_and_again(Device device, const Program* program, int count) {
  for (int i = 0; i < count; ++i) CO_TRY(co_await device.jit().launch(*program, "empty", {}));
  co_return {};
}

Task<Result<void>> multiply_again_and_again(Device device, Array<float> a, Array<float> b, Array<float> c, int count) {
  for (int i = 0; i < count; ++i) CO_TRY(co_await device.blas().gemm(a, b, c));
  co_return {};
}

/// So many coroutines of one actor, each with one op under way.
template <class MakeTask>
Task<Result<void>> side_by_side(int coroutines, MakeTask make_task) {
  std::vector<Task<Result<void>>> tasks;
  for (int i = 0; i < coroutines; ++i) tasks.push_back(make_task());
  for (Result<void>& end : co_await when_all(std::move(tasks))) CO_TRY(std::move(end));
  co_return {};
}

Task<Result<double>> awaited_ns(Device device, const Program* program, int count) {
  const Stopwatch since_start;
  while (since_start.ns() < kSettleNs) CO_TRY(co_await device.jit().launch(*program, "empty", {}));
  std::vector<double> times;
  for (int batch = 0; batch < count / kPerBatch; ++batch) {
    const Stopwatch stopwatch;
    for (int i = 0; i < kPerBatch; ++i) CO_TRY(co_await device.jit().launch(*program, "empty", {}));
    times.push_back(stopwatch.ns_per(kPerBatch));
  }
  co_return median_of(std::move(times));
}

}  // namespace

GpuOurs::GpuOurs(int threads, CompletionPolicy completion)
    : system_({.threads = threads, .log = log_nothing()}),
      device_(value(system_.device("cuda", {.standby = Standby::none, .completion = completion}))),
      program_(value(device_.jit().compile(kSource).get())) {}

GpuOurs::~GpuOurs() { device_.close(); }  // its worker is gone when this returns

double GpuOurs::empty_ns(int count) {
  return settled_median_ns(count, [this] { value(device_.jit().launch(program_, "empty", {}).get()); });
}

double GpuOurs::nop_ns(int count) {
  return settled_median_ns(count, [this] { value(device_.nop().get()); });
}

double GpuOurs::empty_awaited_ns(int count) { return value(system_.run(awaited_ns(device_, &program_, count))); }

double GpuOurs::empty_pipelined_ns(int count, int actors) {
  const int coroutines = kLaunchesUnderWay / actors;
  const auto run = [&](int each) {
    const auto actor = [&] {
      return side_by_side(coroutines, [this, each] { return launch_again_and_again(device_, &program_, each); });
    };
    std::vector<Result<void>> ends(static_cast<std::size_t>(actors));
    std::vector<std::jthread> threads;
    for (Result<void>& end : ends) threads.emplace_back([&] { end = system_.run(actor()); });
    threads.clear();  // waits for them
    for (Result<void>& end : ends) value(std::move(end));
  };
  const int each = std::max(count / (coroutines * actors), 1);
  run(each / 4 + 1);
  const Stopwatch stopwatch;
  run(each);
  return stopwatch.ns_per(each * coroutines * actors);
}

Pair::Figures GpuOurs::deadline_cost_ns(int count) {
  return bench::deadline_cost_ns(count, [this] { return device_.jit().launch(program_, "empty", {}); });
}

const GpuOurs::Matrices& GpuOurs::matrices_of(int n) {
  const auto found = matrices_.find(n);
  if (found != matrices_.end()) return found->second;
  const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const auto make = [&] { return value(device_.array<float>({n, n})); };
  const Matrices& made = matrices_.emplace(n, Matrices{make(), make(), make()}).first->second;
  value(device_.write(made.a, random_numbers(elements, 1)).get());
  value(device_.write(made.b, random_numbers(elements, 2)).get());
  return made;
}

double GpuOurs::gemm_ns(int n, int count) {
  const Matrices& matrices = matrices_of(n);
  return settled_median_ns(count, [&] { value(device_.blas().gemm(matrices.a, matrices.b, matrices.c).get()); });
}

double GpuOurs::gemm_pipelined_ns(int n, int count) {
  const Matrices& matrices = matrices_of(n);
  const auto run = [&](int each) {
    value(system_.run(side_by_side(kGemmsUnderWay, [this, &matrices, each] {
      return multiply_again_and_again(device_, matrices.a, matrices.b, matrices.c, each);
    })));
  };
  const int each = std::max(count / kGemmsUnderWay, 1);
  run(each / 4 + 1);
  const Stopwatch stopwatch;
  run(each);
  return stopwatch.ns_per(each * kGemmsUnderWay);
}

double GpuOurs::allocate_and_free_ns(std::size_t size_bytes, int count) {
  const Shape shape{static_cast<std::int64_t>(size_bytes)};
  return settled_median_ns(count, [&] { (void)value(device_.array<std::uint8_t>(shape)); });
}

double GpuOurs::copy_ns(CopyWay way, std::size_t size_bytes, int count) {
  const Shape shape{static_cast<std::int64_t>(size_bytes)};
  const Array<std::uint8_t> there = value(device_.array<std::uint8_t>(shape));
  HostArray<std::uint8_t> pinned = value(device_.host_array<std::uint8_t>(shape));
  std::ranges::fill(pinned, std::uint8_t{1});
  value(device_.write(there, pinned).get());  // so that there is something to read
  std::vector<std::uint8_t> ordinary(way.is_pinned() ? 0 : size_bytes, std::uint8_t{1});

  const auto copy = [&]() -> Result<void> {
    if (way.is_pinned()) return way.is_in() ? device_.write(there, pinned).get() : device_.read(there, pinned).get();
    if (way.is_in()) return device_.write(there, std::span<const std::uint8_t>(ordinary)).get();
    return device_.read_into(there, std::span<std::uint8_t>(ordinary)).get();
  };
  return settled_median_ns(count, [&] { value(copy()); });
}

}  // namespace troupe::bench
