#include "tools/troupe/findings.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "troupe/device/find_worker.hpp"
#include "troupe/troupe.hpp"
#include "troupe/wire/protocol.hpp"
#include "troupe/wire/run_child.hpp"
#include "troupe/wire/shared_memory.hpp"

namespace troupe::tool {
namespace {

/// A worker needs milliseconds for its version. To open all libraries takes it a few seconds on a slow disk.
constexpr Duration kVersionLimit = std::chrono::seconds(10);
constexpr Duration kFactsLimit = std::chrono::seconds(20);
constexpr Duration kTrialLimit = std::chrono::seconds(20);

constexpr const char* kControlNode = "/dev/nvidiactl";

std::uint64_t limit_of(__rlimit_resource_t what) {
  rlimit limit{};
  getrlimit(what, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? Machine::kUnlimited : limit.rlim_cur;
}

Machine look_at_machine() {
  Machine machine;
  utsname kernel{};
  if (uname(&kernel) == 0) machine.kernel = std::string(kernel.sysname) + " " + kernel.release;
  machine.cores = std::thread::hardware_concurrency();
  machine.memory = wire::machine_memory();
  if (const auto memory = wire::SharedMemory::create("troupe-doctor", 4096); !memory)
    machine.shared_memory = fail(memory.error());
  machine.open_files_limit = limit_of(RLIMIT_NOFILE);
  machine.locked_memory_limit_bytes = limit_of(RLIMIT_MEMLOCK);
  machine.sandbox = wire::sandbox_support();
  if (access(kControlNode, F_OK) == 0)
    machine.control_node = access(kControlNode, R_OK | W_OK) == 0 ? ControlNode::open : ControlNode::forbidden;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) machine.visible_devices = visible;
  return machine;
}

/// A path that the user has named need not lead anywhere.
Result<std::string> find_worker() {
  std::string path = TROUPE_TRY(find_worker_executable({}));
  if (access(path.c_str(), X_OK) == 0) return path;
  return fail(ErrorKind::invalid_argument,
              path + " is no executable. Set TROUPE_WORKER to the path of troupe-worker, or unset it");
}

/// The first line that `--version` prints.
Result<std::string> ask_version(const std::string& worker) {
  const wire::ChildAnswer run = TROUPE_TRY(wire::run_child(worker, {"--version"}, {}, kVersionLimit));
  if (!run.end) return fail(ErrorKind::timeout, worker + " did not end within " + to_string(kVersionLimit));
  if (run.end->signalled || run.end->code != 0)
    return fail(ErrorKind::worker_crashed, worker + " " + run.end->to_string());
  return run.printed.substr(0, run.printed.find('\n'));
}

void ask_facts(Findings& findings) {
  const Result<wire::ChildAnswer> run = wire::run_child(*findings.worker, {"--doctor"}, {}, kFactsLimit);
  findings.facts = run ? wire::parse_facts(run->printed) : fail(run.error());
  if (!run || !findings.facts || findings.facts->complete) return;
  findings.why_facts_end = run->end ? "it " + run->end->to_string() : "it did not end within " + to_string(kFactsLimit);
}

/// y + 3 * x, on the device: memory, a kernel, and both ways between here and there.
Result<void> compute(const Device& device) {
  Array<float> x = TROUPE_TRY(device.array<float>({1000}));
  Array<float> y = TROUPE_TRY(device.array<float>({1000}));
  TROUPE_TRY(device.fill(x, 1.0f).deadline(kTrialLimit).get());
  TROUPE_TRY(device.fill(y, 2.0f).deadline(kTrialLimit).get());
  TROUPE_TRY(device.blas().axpy(3.0f, x, y).deadline(kTrialLimit).get());
  const HostArray<float> out = TROUPE_TRY(device.read(y).deadline(kTrialLimit).get());
  for (std::int64_t i = 0; i < 1000; ++i)
    if (out[i] != 5.0f) return fail(ErrorKind::internal, "2 + 3 * 1 gave " + std::to_string(out[i]));
  return {};
}

Result<void> try_device(System& system, const DeviceInfo& info) {
  const DeviceOptions options{.standby = Standby::none, .start_timeout = kTrialLimit};
  const Device device = TROUPE_TRY(Device::open(system, info, options));
  return compute(device);
}

void try_devices(Findings& findings) {
  Result<System> system = System::create({.log = log_nothing()});
  const auto attempt = [&](const DeviceInfo& info) {
    findings.trials.push_back({.device = info.backend == "host" ? info.backend : info.id,
                               .outcome = system ? try_device(*system, info) : fail(system.error())});
  };
  DeviceInfo host;
  host.backend = "host";
  host.memory_bytes = findings.machine.memory.total_bytes;
  attempt(host);
  if (!findings.facts || !findings.facts->complete) return;
  for (const wire::GpuFacts& gpu : findings.facts->gpus) {
    DeviceInfo info;
    info.backend = "cuda";
    info.id = gpu.uuid;
    info.name = gpu.name;
    info.memory_bytes = gpu.memory_bytes;
    info.keeps_memory = gpu.can_export_memory;
    info.is_exclusive = gpu.is_exclusive;
    attempt(info);
  }
}

}  // namespace

Findings find_out() {
  Findings findings{.version = wire::protocol_version(),
                    .machine = look_at_machine(),
                    .worker = find_worker(),
                    .worker_version = fail(ErrorKind::stopped),
                    .facts = fail(ErrorKind::stopped),
                    .why_facts_end = {},
                    .trials = {}};
  if (!findings.worker) return findings;
  findings.worker_version = ask_version(*findings.worker);
  if (!findings.worker_version || *findings.worker_version != findings.version) return findings;
  ask_facts(findings);
  try_devices(findings);
  return findings;
}

}  // namespace troupe::tool
