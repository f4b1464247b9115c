// Callers do checked work on a device while faults end its workers, thousands of times if need be. At the end every
// reply was given once, every array holds what it must, and nothing is left behind.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/chaos/cast.hpp"
#include "tests/chaos/conductor.hpp"
#include "tests/chaos/gpu_memory.hpp"
#include "tests/chaos/options.hpp"
#include "tests/chaos/processes.hpp"

namespace troupe::chaos {
namespace {

using namespace std::chrono_literals;
using SteadyTime = std::chrono::steady_clock::time_point;

/// Longer than any op may take to end: when nothing has moved for so long, the run is given up.
constexpr auto kStalled = 90s;
/// How long ops that nobody waits for may take to let go of their memory.
constexpr auto kSettled = 10s;
constexpr auto kLook = 10ms;
/// More than a run needs, and so few that all of them are soon taken.
constexpr rlim_t kMaxDescriptors = 512;

SteadyTime now() { return std::chrono::steady_clock::now(); }

Target target_of(const Options& options) { return options.device == "cuda" ? Target::gpu : Target::host; }

/// Looks after a run: says how far it is, ends it in time, and gives up when nothing moves.
class Watch {
 public:
  Watch(Scene& scene, const Cast& cast, const Options& options) : scene_(scene), cast_(cast), options_(options) {}

  /// Waits for `done`.
  template <class Done>
  void until(const Done& done) {
    while (!done()) {
      std::this_thread::sleep_for(kLook);
      look();
    }
  }
  bool ran_out_of_time() const noexcept { return ran_out_of_time_; }

 private:
  void look() {
    const std::uint64_t moves = scene_.ledger.steps + scene_.ledger.answered + scene_.ledger.injected_in_all();
    if (std::exchange(moves_, moves) != moves) moved_ = now();
    if (options_.seconds != 0 && now() - began_ > std::chrono::seconds(options_.seconds) &&
        !scene_.progress.stopping()) {
      ran_out_of_time_ = true;
      scene_.progress.stop();
    }
    if (now() - said_ > 1s) say();
    if (now() - moved_ > kStalled) give_up();
  }
  void say() {
    said_ = now();
    std::fprintf(stderr, "%4d s: %" PRIu64 " of %u faults, generation %" PRId64 ", %" PRIu64 " steps\n",
                 static_cast<int>((now() - began_) / 1s), scene_.ledger.injected_in_all(), options_.faults,
                 scene_.device.generation(), scene_.ledger.steps.load());
  }
  [[noreturn]] void give_up() {
    std::fprintf(stderr, "nothing moves any more:\n%s", cast_.where_everybody_is().c_str());
    scene_.ledger.complain(Complaint::reply_lost, "those that are waited for",
                           scene_.ledger.asked - scene_.ledger.answered);
    print(scene_.ledger, options_.faults, target_of(options_));
    std::printf("FAILED, and did not end; to repeat it: %s\n", command_line(options_).c_str());
    std::fflush(stdout);
    _exit(1);
  }

  Scene& scene_;
  const Cast& cast_;
  const Options& options_;
  const SteadyTime began_ = now();
  SteadyTime said_ = began_;
  SteadyTime moved_ = began_;
  std::uint64_t moves_ = 0;
  bool ran_out_of_time_ = false;
};

/// When every array is gone and every op has ended, nothing is in use but what a vault keeps for the next time.
void check_memory(const Device& device, Ledger& ledger) {
  const SteadyTime until = now() + kSettled;
  const auto in_use = [&] {
    const DeviceStats stats = device.stats();
    return stats.memory.used_bytes + stats.host_memory.used_bytes;
  };
  while (in_use() != 0 && now() < until) std::this_thread::sleep_for(kLook);
  if (in_use() != 0) ledger.complain(Complaint::byte_leaked, "in blocks", in_use());
  const DeviceStats stats = device.stats();
  const auto kept = static_cast<std::uint64_t>(kVaultBytes) / 4;  // at most, see DeviceState
  for (const VaultStats& vault : {stats.memory, stats.host_memory})
    if (vault.reserved_bytes > kept)
      ledger.complain(Complaint::byte_leaked, std::to_string(vault.chunks) + " chunks", vault.reserved_bytes);
}

void check_processes(Ledger& ledger) {
  for (const Process& process : processes_of_run())
    ledger.complain(Complaint::process_left, process.name + ", " + std::to_string(process.pid));
}

/// Callers and faults, until all is over. True when the time was up before the last fault.
bool play(System& system, Scene& scene, const Options& options) {
  Cast cast(system, scene);
  Watch watch(scene, cast, options);
  Conductor conductor(scene, {.commit = [&](const Fault& fault) { cast.commit(fault); },
                              .under_way = [&] { return cast.under_way(); }});
  std::atomic<bool> conducted = false;
  const std::jthread thread([&] {
    conductor.run();
    conducted = true;
  });
  const bool by_time_only = options.faults == 0 && options.seconds != 0;
  watch.until(
      [&] { return conducted.load() && cast.under_way() == 0 && (!by_time_only || scene.progress.stopping()); });
  scene.progress.stop();
  watch.until([&] { return cast.running() == 0; });
  cast.check_all_kept();
  return watch.ran_out_of_time();
}

struct Performance {
  DeviceInfo device;
  bool ran_out_of_time = false;
};

Performance perform(System& system, const Plan& plan, const Options& options, Ledger& ledger) {
  const DeviceOptions device_options{.lanes = options.lanes,
                                     .vault_limit_bytes = static_cast<std::uint64_t>(kVaultBytes),
                                     .host_limit_bytes = static_cast<std::uint64_t>(kVaultBytes),
                                     .max_restarts = 1'000'000,
                                     .silence_limit = 1s,
                                     .sandbox = options.sandbox};
  Scene scene(value(system.device(options.device, device_options)), plan, ledger);
  scene.is_strict = options.sandbox == Sandbox::strict;
  const Performance performance{.device = scene.device.info(), .ran_out_of_time = play(system, scene, options)};
  scene.check_shared_arrays();
  scene.drop_all();
  check_memory(scene.device, ledger);
  const DeviceStats stats = scene.device.stats();
  std::printf("%-28s %s\n%-28s %10" PRId64 "\n%-28s %10" PRIu64 "\n%-28s %10" PRIu64 "\n", "device",
              performance.device.name.c_str(), "generations", stats.generation, "ops submitted", stats.submitted,
              "ops run again", stats.reruns);
  scene.device.close();
  check_processes(ledger);
  return performance;
}

int run(const Options& options) {
  const rlimit no_core_files{.rlim_cur = 0, .rlim_max = 0};  // thousands of them would be written
  setrlimit(RLIMIT_CORE, &no_core_files);
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = std::min(descriptors.rlim_cur, kMaxDescriptors);
  setrlimit(RLIMIT_NOFILE, &descriptors);
  const Plan plan(options.seed, options.faults, options.callers, target_of(options));
  std::printf("plan %016" PRIx64 ": %s\n", plan.fingerprint(), command_line(options).c_str());
  std::fflush(stdout);

  Ledger ledger;
  const bool on_gpu = target_of(options) == Target::gpu;
  const GpuMemory gpu_memory_before = on_gpu ? gpu_memory_in_use() : GpuMemory();
  const std::size_t descriptors_before = open_descriptors();
  Performance performance;
  {
    System system({.log = options.verbose ? log_to_stderr(LogLevel::info) : log_nothing()});
    performance = perform(system, plan, options, ledger);
  }
  if (const std::size_t left = open_descriptors(); left > descriptors_before)
    ledger.complain(Complaint::descriptor_leaked, "at the end", left - descriptors_before);

  if (on_gpu) check_gpu_memory(performance.device.id, gpu_memory_before, ledger);

  print(ledger, options.faults, target_of(options));
  const bool complete = ledger.injected_in_all() == options.faults;
  if (performance.ran_out_of_time && !complete) std::printf("the time was up before the last fault\n");
  const bool good = ledger.is_clean() && (complete || performance.ran_out_of_time);
  if (good)
    std::printf("all as it must be\n");
  else
    std::printf("FAILED; to repeat it: %s\n", command_line(options).c_str());
  return good ? 0 : 1;
}

}  // namespace
}  // namespace troupe::chaos

int main(int count, char** words) {
  int exit_code = 0;
  const std::optional<troupe::chaos::Options> options = troupe::chaos::read_options(count, words, exit_code);
  if (!options) return exit_code;
  try {
    return troupe::chaos::run(*options);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "troupe_chaos: %s\n", exception.what());
    return 1;
  }
}
