#include "bench/gpu_crashes.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include "bench/doomed.hpp"
#include "bench/stopwatch.hpp"
#include "bench/worker_processes.hpp"

namespace troupe::bench::ours {
namespace {

constexpr char kGpu[] = "cuda";

/// Hears when the end of a worker was known.
class Listener {
 public:
  explicit Listener(std::atomic<Clock::rep>* noticed) noexcept : noticed_(noticed) {}
  void on(const GenerationChanged& changed) { noticed_->store(changed.noticed.time_since_epoch().count()); }

 private:
  std::atomic<Clock::rep>* noticed_;
};

/// It updates the array, so it is not tried a second time when it has killed a worker.
void submit_fault(const Doomed& doomed) { value(doomed.fault(updates(doomed.lost)).submit()); }

}  // namespace

GpuFault gpu_fault(Standby standby) {
  std::atomic<Clock::rep> noticed{0};
  Doomed doomed(kGpu, standby);
  doomed.device.watch_generation(value(doomed.system.spawn<Listener>({.name = "listener"}, &noticed)));
  doomed.wait_until_all_rest();
  const Clock::time_point begin = Clock::now();
  submit_fault(doomed);
  doomed.wait_until_next_serves();
  doomed.fill(doomed.untouched);
  const Clock::time_point end = Clock::now();
  spin_for("it is said when the fault was known", [&] { return noticed != 0; });
  return {.reported_ms = ms_between(begin, Clock::time_point(Clock::duration(noticed))),
          .next_op_ms = ms_between(begin, end)};
}

GpuFaultOnArray gpu_fault_on_array() {
  const Doomed doomed(kGpu);
  doomed.wait_until_all_rest();
  const int pid = doomed.device.worker_pid();
  if (pid <= 0) throw std::runtime_error("the device has no worker process");
  const Stopwatch stopwatch;
  submit_fault(doomed);
  GpuFaultOnArray times;
  std::jthread watcher([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && !(::kill(pid, 0) != 0 && errno == ESRCH)) relax_core();
    times.gone_ms = stopwatch.ns() / 1e6;
  });
  doomed.wait_until_next_serves();
  doomed.fill(doomed.lost);
  times.next_op_ms = stopwatch.ns() / 1e6;
  watcher.request_stop();  // it has seen the end: the op above had to wait for it
  watcher.join();
  return times;
}

GpuHang gpu_hang() {
  const Doomed doomed(kGpu);
  doomed.wait_until_all_rest();
  Clock::time_point deadline{}, failed{};
  Result<void> end;
  std::jthread caller([&] {
    deadline = Clock::now() + kDeadline;
    end = doomed.hang().deadline(kDeadline).wait_at_most(kPatience).get();
    failed = Clock::now();
  });
  doomed.wait_until_next_serves();
  doomed.fill(doomed.untouched);
  const Clock::time_point served = Clock::now();
  caller.join();
  expect_error(end, ErrorKind::deadline_exceeded);
  return {.next_op_ms = ms_between(deadline, served), .error_ms = ms_between(deadline, failed)};
}

double gpu_first_op_ms() {
  System system({.threads = 1, .log = log_nothing()});
  const Stopwatch stopwatch;
  Device device = value(system.device(kGpu, {.standby = Standby::none}));
  const Array<float> array = value(device.array<float>({1024}));
  value(device.fill(array, 1.0F).wait_at_most(kPatience).get());
  const double ms = stopwatch.ns() / 1e6;
  device.close();
  return ms;
}

double gpu_idle_percent(double seconds) {
  const Doomed idle(kGpu);
  idle.wait_until_all_rest();
  return cpu_percent_with_workers(std::chrono::duration<double>(seconds));
}

}  // namespace troupe::bench::ours
