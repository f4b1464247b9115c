#include "tools/troupe/report.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "troupe/device/vault.hpp"

namespace troupe::tool {
namespace {

using wire::format_bytes;

/// A device has one descriptor for each chunk of its memory, and a dozen others.
constexpr std::uint64_t kManyOpenFiles = op::kMaxChunks;

const Trial* find_trial(const Findings& findings, std::string_view device) {
  const auto found = std::ranges::find(findings.trials, device, &Trial::device);
  return found == findings.trials.end() ? nullptr : &*found;
}

bool is_complete(const Findings& findings) { return findings.facts && findings.facts->complete; }

bool works(const Findings& findings, const wire::GpuFacts& gpu) {
  const Trial* trial = find_trial(findings, gpu.uuid);
  return trial && trial->outcome;
}

std::int64_t working_gpus(const Findings& findings) {
  if (!findings.facts) return 0;
  return std::ranges::count_if(findings.facts->gpus, [&](const auto& gpu) { return works(findings, gpu); });
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// ---- the worker ----

Line judge_version(const Findings& findings) {
  const Result<std::string>& theirs = findings.worker_version;
  if (!theirs)
    return {State::broken, "version", std::string(theirs.error().message()),
            "Set TROUPE_WORKER to the executable troupe-worker of this version, or unset it."};
  if (*theirs != findings.version)
    return {State::broken, "version", "\"" + *theirs + "\", and this program is \"" + findings.version + "\"",
            "Install worker and program of one version, or set TROUPE_WORKER to a worker of this one."};
  return {State::ok, "version", *theirs};
}

bool has_cuda(const wire::Facts& facts) { return std::ranges::find(facts.backends, "cuda") != facts.backends.end(); }

Line judge_backends(const wire::Facts& facts) {
  Line line{State::ok, "backends", joined(facts.backends)};
  if (!has_cuda(facts)) {
    line.state = State::note;
    line.advice =
        "It was built without CUDA. To use GPUs, build Troupe where the CUDA toolkit is installed (its headers "
        "and nvcc).";
  }
  return line;
}

Line judge_survey(const Findings& findings) {
  if (!findings.facts)
    return {State::broken, "survey", std::string(findings.facts.error().message()),
            "The worker could not say what it finds on this machine. Install it anew."};
  return {State::broken, "survey", "stopped at " + findings.facts->looking_at + ": " + findings.why_facts_end,
          "Opening it hangs or crashes, and so it would in every program. For the driver: see whether `nvidia-smi` "
          "answers; if not, restart the machine or install the driver anew. For a library: install it anew."};
}

Section judge_worker(const Findings& findings) {
  Section section{"Worker", {}};
  if (!findings.worker) {
    section.lines.push_back(
        {State::broken, "executable", "not found", std::string(findings.worker.error().message()) + "."});
    return section;
  }
  section.lines.push_back({State::ok, "executable", *findings.worker});
  section.lines.push_back(judge_version(findings));
  if (section.lines.back().state == State::broken) return section;
  if (findings.facts) section.lines.push_back(judge_backends(*findings.facts));
  if (!is_complete(findings)) section.lines.push_back(judge_survey(findings));
  return section;
}

// ---- the machine ----

Line judge_shared_memory(const Machine& machine) {
  if (machine.shared_memory) return {State::ok, "shared memory", "memfd works"};
  return {
      State::broken, "shared memory", std::string(machine.shared_memory.error().message()),
      "Programs and workers share memory through memfd_create, with seals: allow it in the sandbox or the container, "
      "and see that the machine has memory left."};
}

Line judge_open_files(std::uint64_t limit) {
  if (limit == Machine::kUnlimited) return {State::ok, "open files", "unlimited"};
  Line line{State::ok, "open files", std::to_string(limit) + " per process"};
  if (limit < kManyOpenFiles) {
    line.state = State::note;
    line.advice = "Enough for about " + format_bytes(limit * kDefaultChunkBytes) +
                  " of arrays: a device holds its memory in chunks, with a descriptor for each. For more, say "
                  "`ulimit -n 65536`, or LimitNOFILE=65536 in a systemd unit.";
  }
  return line;
}

Line judge_locked_memory(std::uint64_t limit_bytes) {
  if (limit_bytes == Machine::kUnlimited) return {State::ok, "locked memory", "unlimited"};
  return {State::note, "locked memory", format_bytes(limit_bytes),
          "Troupe itself locks none. What sends memory over a network card (NCCL or UCX with RDMA) does: for that, say "
          "`ulimit -l unlimited`, or LimitMEMLOCK=infinity in a systemd unit."};
}

Line judge_sandbox(const wire::SandboxSupport& support) {
  if (const std::string missing = support.missing_for(Sandbox::strict); !missing.empty())
    return {State::note, "sandbox", "standard, and not all of it: no " + missing,
            "Workers run without that part, and Sandbox::strict is `unsupported`. docs/security.md says what each part "
            "is for. A container must allow the system calls of both."};
  if (support.landlock < wire::kLandlockWithSignals)
    return {State::note, "sandbox", "standard and strict",
            "Workers can send signals to other processes of their user: a kernel from Linux 6.12 on forbids it."};
  return {State::ok, "sandbox", "standard and strict"};
}

std::string text_of(const wire::FoundLibrary& library) {
  return library.name + " " + library.version + "  " + library.path;
}

Line judge_blas(const wire::FoundLibrary& library) {
  if (library.usable()) return {State::ok, "BLAS", text_of(library)};
  return {State::note, "BLAS", library.problem.empty() ? "not found" : library.problem,
          "On the host device a loop of Troupe's own multiplies, many times slower. Install " + library.source +
              ", or set TROUPE_BLAS to the path of a BLAS."};
}

Line judge_lapack(const wire::FoundLibrary& library) {
  if (library.usable()) return {State::ok, "LAPACK", text_of(library)};
  return {State::note, "LAPACK", library.problem.empty() ? "not found" : library.problem,
          "On the host device solvers are `unsupported`. Install " + library.source + "."};
}

/// One line for those that are not there, and one for each that is there and not used.
void judge_other_blas(const std::vector<wire::FoundLibrary>& others, std::vector<Line>& lines) {
  std::string missing;
  for (const wire::FoundLibrary& other : others) {
    if (other.missing()) {
      missing += (missing.empty() ? "" : ", ") + other.name;
      continue;
    }
    const bool works = !other.path.empty();
    lines.push_back({State::note, "  not used", works ? text_of(other) : other.name,
                     works ? other.problem + "." : "It was passed over: " + other.problem + "."});
  }
  if (!missing.empty()) lines.push_back({State::ok, "  not found", missing});
}

Line judge_sleef(const wire::FoundLibrary& library) {
  if (library.usable()) return {State::ok, library.name, library.version + "  " + library.path};
  return {State::note, "SLEEF", library.problem.empty() ? "not found" : library.problem,
          "On the host device functions such as exp are computed one number at a time, several times slower. Install " +
              library.source + ", or set TROUPE_SLEEF to the path of libsleef.so.3."};
}

Line judge_host_device(const Trial& trial) {
  if (trial.outcome) return {State::ok, "host device", "computes"};
  return {State::broken, "host device", trial.outcome.error().to_string(),
          "A device on the CPU does not work here, and so no device will: the error above says why."};
}

Section judge_machine(const Findings& findings) {
  const Machine& machine = findings.machine;
  Section section{"Machine", {}};
  std::vector<Line>& lines = section.lines;
  lines.push_back({State::ok, "kernel", machine.kernel});
  lines.push_back({State::ok, "cores", std::to_string(machine.cores)});
  lines.push_back({State::ok, "memory",
                   format_bytes(machine.memory.total_bytes) + ", of which " +
                       format_bytes(machine.memory.available_bytes) + " can be had"});
  lines.push_back(judge_shared_memory(machine));
  lines.push_back(judge_open_files(machine.open_files_limit));
  lines.push_back(judge_locked_memory(machine.locked_memory_limit_bytes));
  lines.push_back(judge_sandbox(machine.sandbox));
  if (is_complete(findings)) {
    lines.push_back(judge_blas(findings.facts->blas));
    judge_other_blas(findings.facts->other_blas, lines);
    lines.push_back(judge_lapack(findings.facts->lapack));
    lines.push_back({State::ok, "CPU threads", findings.facts->cpu_threads});
    lines.push_back(judge_sleef(findings.facts->sleef));
  }
  if (const Trial* trial = find_trial(findings, "host")) lines.push_back(judge_host_device(*trial));
  return section;
}

// ---- the GPUs ----

Line judge_control_node(ControlNode node) {
  constexpr const char* kThing = "kernel driver";
  switch (node) {
    case ControlNode::open: return {State::ok, kThing, "/dev/nvidiactl"};
    case ControlNode::forbidden:
      return {State::broken, kThing, "/dev/nvidiactl may not be opened by this user",
              "Add the user to the group that owns it (`ls -l /dev/nvidiactl` names it), and log in again."};
    case ControlNode::missing: break;
  }
  return {
      State::missing, kThing, "no /dev/nvidiactl",
      "So there is no GPU to use. If the machine has one of NVIDIA's, install its driver or load it (`sudo modprobe "
      "nvidia`); a container needs `--gpus all`."};
}

Line judge_driver(const wire::FoundLibrary& driver, ControlNode node) {
  if (driver.usable()) return {State::ok, "driver", "CUDA " + driver.version + "  " + driver.path};
  const bool has_gpu = node != ControlNode::missing;
  if (driver.missing() && !has_gpu)
    return {State::missing, "driver", "no libcuda.so.1", "It comes with the NVIDIA driver, and is of no use without."};
  if (driver.missing())
    return {State::broken, "driver", "no libcuda.so.1, though the kernel driver is there",
            "Install the rest of the NVIDIA driver, of the kernel driver's version; in a container, NVIDIA_DRIVER_"
            "CAPABILITIES must contain `compute`."};
  return {has_gpu ? State::broken : State::note, "driver", driver.problem,
          has_gpu ? "See what `nvidia-smi` says. After an update of the driver, restart the machine: kernel driver and "
                    "libcuda.so.1 must be of one version."
                  : "It cannot work without the kernel driver."};
}

Line judge_visibility(const Findings& findings) {
  constexpr const char* kThing = "visible GPUs";
  const std::optional<std::string>& visible = findings.machine.visible_devices;
  if (!visible) return {State::ok, kThing, "all (CUDA_VISIBLE_DEVICES is not set)"};
  Line line{State::note, kThing, "CUDA_VISIBLE_DEVICES=" + *visible};
  line.advice = findings.facts->gpus.empty() ? "It hides every GPU: unset it, or name GPUs that are there."
                                             : "Only these are used; unset it to use all.";
  return line;
}

Line judge_trial(const Findings& findings, const wire::GpuFacts& gpu) {
  if (works(findings, gpu)) return {State::ok, "  device", "computes"};
  const Trial* trial = find_trial(findings, gpu.uuid);
  Line line{working_gpus(findings) > 0 ? State::note : State::broken, "  device",
            trial ? trial->outcome.error().to_string() : "was not tried"};
  line.advice =
      gpu.is_exclusive
          ? "It is for one process at a time, and another may have it: stop that one, or share the GPU with "
            "`sudo nvidia-smi -c DEFAULT`."
          : "Programs cannot use this GPU; the error says why. `nvidia-smi` shows who uses it and its memory.";
  return line;
}

void judge_gpu(const Findings& findings, const wire::GpuFacts& gpu, const std::string& thing,
               std::vector<Line>& lines) {
  lines.push_back(
      {State::ok, thing, gpu.name + ", " + format_bytes(gpu.memory_bytes) + ", compute capability " + gpu.capability});
  lines.push_back({State::ok, "  id", gpu.uuid});
  lines.push_back(gpu.can_export_memory
                      ? Line{State::ok, "  memory", "can be held by descriptor: arrays outlive a worker"}
                      : Line{State::note, "  memory", "cannot be held by descriptor",
                             "Arrays do not outlive a worker there: after a crash, write them anew. (Virtual machines "
                             "and some sandboxes take this ability away.)"});
  lines.push_back(gpu.is_exclusive
                      ? Line{State::note, "  sharing", "one process at a time",
                             "So there can be no standby, and recovery takes as long as starting a worker. `sudo "
                             "nvidia-smi -c DEFAULT` lets processes share it."}
                      : Line{State::ok, "  sharing", "several processes: a standby can be ready"});
  lines.push_back(judge_trial(findings, gpu));
}

Section judge_gpus(const Findings& findings) {
  Section section{"GPUs", {judge_control_node(findings.machine.control_node)}};
  if (!is_complete(findings)) return section;
  const wire::Facts& facts = *findings.facts;
  section.lines.push_back(judge_driver(facts.driver, findings.machine.control_node));
  if (!facts.driver.usable()) return section;
  if (!has_cuda(facts)) {
    section.lines.push_back({State::missing, "GPU", "not looked for",
                             "The worker was built without CUDA: build Troupe where the CUDA toolkit is installed."});
    return section;
  }
  section.lines.push_back(judge_visibility(findings));
  for (std::size_t i = 0; i < facts.gpus.size(); ++i)
    judge_gpu(findings, facts.gpus[i], "GPU " + std::to_string(i), section.lines);
  if (facts.gpus.empty() && !findings.machine.visible_devices)
    section.lines.push_back({State::missing, "GPU", "the driver shows none",
                             "See whether `nvidia-smi` lists one; a container needs `--gpus all`."});
  return section;
}

// ---- the libraries ----

int major_of(std::string_view version) {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

/// Those whose major version is CUDA's do not work with a driver of an older one.
bool is_too_new(const wire::FoundLibrary& library, const wire::FoundLibrary& driver) {
  constexpr std::array<std::string_view, 3> kNumberedAsCuda = {"cuBLAS", "cuBLASLt", "NVRTC"};
  return driver.usable() && major_of(library.version) > major_of(driver.version) &&
         std::ranges::find(kNumberedAsCuda, library.name) != kNumberedAsCuda.end();
}

Line judge_library(const wire::FoundLibrary& library, const wire::Facts& facts, std::size_t version_width) {
  std::string version = library.version.empty() ? "?" : library.version;
  version.resize(std::max(version_width, version.size()), ' ');
  Line line{State::ok, library.name, version + "  " + library.path};
  if (library.usable() && is_too_new(library, facts.driver)) {
    line.state = State::note;
    line.advice =
        "The driver stops at CUDA " + facts.driver.version + ": install a newer driver, or this library for that CUDA.";
  }
  if (library.usable()) return line;
  line.state = State::missing;
  line.found = library.missing() ? "not found" : library.problem;
  line.advice = "Ops that need it end in `unsupported`. Install " + library.source +
                ", or name the folder with the library in TROUPE_CUDA_LIBRARIES.";
  if (facts.gpus.empty()) line.advice = "Nothing to do: without a GPU nobody needs it.";
  return line;
}

Section judge_libraries(const wire::Facts& facts) {
  Section section{"Libraries", {}};
  std::size_t width = 0;
  for (const wire::FoundLibrary& library : facts.libraries) width = std::max(width, library.version.size());
  for (const wire::FoundLibrary& library : facts.libraries)
    section.lines.push_back(judge_library(library, facts, width));
  return section;
}

std::string conclude(const Report& report, std::int64_t gpus) {
  std::int64_t broken = 0;
  for (const Section& section : report.sections)
    broken += std::ranges::count(section.lines, State::broken, &Line::state);
  if (broken > 0)
    return broken == 1 ? "One thing is broken; see above."
                       : std::to_string(broken) +
                             " things are broken; "
                             "see above.";
  if (gpus == 0) return "No GPU can be used here; programs run on the host device.";
  return (gpus == 1 ? "1 GPU" : std::to_string(gpus) + " GPUs") + " can be used.";
}

}  // namespace

std::string_view name(State state) noexcept {
  switch (state) {
    case State::ok: return "ok";
    case State::note: return "note";
    case State::missing: return "missing";
    case State::broken: break;
  }
  return "broken";
}

bool Report::works() const noexcept {
  return std::ranges::none_of(sections, [](const Section& section) {
    return std::ranges::find(section.lines, State::broken, &Line::state) != section.lines.end();
  });
}

Report judge(const Findings& findings) {
  Report report{.version = findings.version, .sections = {}, .conclusion = {}};
  report.sections = {judge_worker(findings), judge_machine(findings), judge_gpus(findings)};
  if (is_complete(findings)) report.sections.push_back(judge_libraries(*findings.facts));
  report.conclusion = conclude(report, working_gpus(findings));
  return report;
}

}  // namespace troupe::tool
