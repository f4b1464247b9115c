#include "bench/gpu_crashes.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "bench/stopwatch.hpp"
#include "bench/worker_processes.hpp"
#include "troupe/core/park.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench::ours {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(20);
constexpr auto kDeadline = std::chrono::milliseconds(50);
constexpr std::uint64_t kBadAddress = 16;  // below every address that is ever mapped
constexpr std::uint64_t kNoAddress = 0;    // writes nowhere: for a first launch that ends well

constexpr char kSource[] = R"(
extern "C" __global__ void write_at(float* array, unsigned long long address) {
  if (address != 0) *reinterpret_cast<float*>(address) = array[0];
}
extern "C" __global__ void wait_for(const int* flag) {
  while (*static_cast<const volatile int*>(flag) == 0) {}
})";

template <class Done>
void spin_for(const char* what, const Done& done) {
  const auto until = Clock::now() + kPatience;
  while (!done()) {
    if (Clock::now() > until) throw std::runtime_error(std::string("no end of waiting until ") + what);
    relax_core();
  }
}

double ms_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

/// Hears when the end of a worker was known.
class Listener {
 public:
  explicit Listener(std::atomic<Clock::rep>* noticed) noexcept : noticed_(noticed) {}
  void on(const GenerationChanged& changed) { noticed_->store(changed.noticed.time_since_epoch().count()); }

 private:
  std::atomic<Clock::rep>* noticed_;
};

/// A device about to lose its worker: what will be lost has run once and ended well, so that everything is loaded.
struct Doomed {
  explicit Doomed(Standby standby)
      : system({.threads = 1, .log = log_nothing()}),
        device(value(system.device("cuda", {.standby = standby}))),
        program(value(device.jit().compile_now(kSource))),
        untouched(value(device.array<float>({1024}))),
        updated(value(device.array<float>({1024}))),
        flag(value(device.array<std::int32_t>({1}))) {
    device.watch_generation(value(system.spawn<Listener>({.name = "listener"}, &noticed)));
    value(device.fill(untouched, 1.0F).get());
    value(device.fill(updated, 1.0F).get());
    value(device.fill(flag, 1).get());
    value(write_at(kNoAddress).get());
    value(wait_for_flag().get());
    value(device.fill(flag, 0).get());
    wait_until_workers_rest(standby == Standby::warm ? 2 : 1);
    generation = device.generation();
  }
  ~Doomed() { device.close(); }
  Doomed(const Doomed&) = delete;
  Doomed& operator=(const Doomed&) = delete;

  /// It updates the array, so it is not tried a second time when it has killed a worker.
  Call<void> write_at(std::uint64_t address) const {
    return device.jit().launch(program, "write_at", {}, updates(updated), address);
  }
  Call<void> wait_for_flag() const { return device.jit().launch(program, "wait_for", {}, reads(flag)); }
  /// Any op will do. It does not wait for ever, whatever is broken.
  void fill(const Array<float>& array) const { value(device.fill(array, 2.0F).within(kPatience).get()); }
  void wait_until_next_serves() const {
    spin_for("the next worker serves", [this] { return device.generation() > generation; });
  }

  std::atomic<Clock::rep> noticed{0};
  System system;
  Device device;
  Program program;
  Array<float> untouched;
  Array<float> updated;
  Array<std::int32_t> flag;
  std::int64_t generation = 0;
};

}  // namespace

GpuFault gpu_fault(Standby standby) {
  const Doomed doomed(standby);
  const Clock::time_point begin = Clock::now();
  value(doomed.write_at(kBadAddress).submit());
  doomed.wait_until_next_serves();
  doomed.fill(doomed.untouched);
  const Clock::time_point end = Clock::now();
  spin_for("it is said when the fault was known", [&] { return doomed.noticed != 0; });
  return {.reported_ms = ms_between(begin, Clock::time_point(Clock::duration(doomed.noticed))),
          .next_op_ms = ms_between(begin, end)};
}

GpuFaultOnArray gpu_fault_on_array() {
  const Doomed doomed(Standby::warm);
  const int pid = doomed.device.worker_pid();
  if (pid <= 0) throw std::runtime_error("the device has no worker process");
  const Stopwatch stopwatch;
  value(doomed.write_at(kBadAddress).submit());
  GpuFaultOnArray times;
  std::jthread watcher([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && !(::kill(pid, 0) != 0 && errno == ESRCH)) relax_core();
    times.gone_ms = stopwatch.ns() / 1e6;
  });
  doomed.wait_until_next_serves();
  doomed.fill(doomed.updated);
  times.next_op_ms = stopwatch.ns() / 1e6;
  watcher.request_stop();  // it has seen the end: the op above had to wait for it
  watcher.join();
  return times;
}

GpuHang gpu_hang() {
  const Doomed doomed(Standby::warm);
  Clock::time_point deadline{}, failed{};
  Result<void> end;
  std::jthread caller([&] {
    deadline = Clock::now() + kDeadline;
    end = doomed.wait_for_flag().deadline(kDeadline).within(kPatience).get();
    failed = Clock::now();
  });
  doomed.wait_until_next_serves();
  doomed.fill(doomed.untouched);
  const Clock::time_point served = Clock::now();
  caller.join();
  if (end || end.error().kind() != ErrorKind::deadline_exceeded)
    throw std::runtime_error("the hung kernel ended in " + (end ? "a value" : end.error().to_string()));
  return {.next_op_ms = ms_between(deadline, served), .error_ms = ms_between(deadline, failed)};
}

double gpu_first_op_ms() {
  System system({.threads = 1, .log = log_nothing()});
  const Stopwatch stopwatch;
  Device device = value(system.device("cuda", {.standby = Standby::none}));
  const Array<float> array = value(device.array<float>({1024}));
  value(device.fill(array, 1.0F).within(kPatience).get());
  const double ms = stopwatch.ns() / 1e6;
  device.close();
  return ms;
}

double gpu_idle_percent(double seconds) {
  const Doomed idle(Standby::warm);
  return cpu_percent_with_workers(std::chrono::duration<double>(seconds));
}

}  // namespace troupe::bench::ours
