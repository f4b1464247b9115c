// Which devices this machine has, and how a system takes one.
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "troupe/actor/system_core.hpp"
#include "troupe/device/device.hpp"
#include "troupe/device/find_worker.hpp"
#include "troupe/wire/memory_info.hpp"
#include "troupe/wire/run_child.hpp"

namespace troupe::inline v0 {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  utsname machine{};
  return uname(&machine) == 0 ? std::string(machine.machine) + " CPU" : "CPU";
}

/// How long the driver may take to list its GPUs.
constexpr Duration kListPatience = std::chrono::seconds(20);

/// A line of `troupe-worker --devices`; see `print_devices`.
std::optional<DeviceInfo> parse_device(const std::string& line) {
  std::istringstream fields(line);
  DeviceInfo info;
  std::string keeps;
  std::string exclusive;
  if (!std::getline(fields, info.backend, '\t') || !std::getline(fields, info.id, '\t')) return std::nullopt;
  if (!(fields >> info.memory_bytes >> info.capability >> keeps >> exclusive)) return std::nullopt;
  fields.ignore(1);
  if (!std::getline(fields, info.name)) return std::nullopt;
  info.keeps_memory = keeps == "keeps";
  info.is_exclusive = exclusive == "exclusive";
  return info;
}

/// Only a worker opens a driver, so this asks one, once, and only where a driver is loaded.
const std::vector<DeviceInfo>& gpus() {
  static const std::vector<DeviceInfo> kGpus = [] {
    std::vector<DeviceInfo> found;
    const Result<std::string> worker = find_worker_executable({});
    if (access("/dev/nvidiactl", F_OK) != 0 || !worker) return found;
    const Result<wire::ChildAnswer> answer = wire::run_child(*worker, {"--devices"}, {}, kListPatience);
    std::istringstream lines(answer ? answer->printed : std::string());
    for (std::string line; std::getline(lines, line);)
      if (std::optional<DeviceInfo> info = parse_device(line)) found.push_back(std::move(*info));
    return found;
  }();
  return kGpus;
}

}  // namespace

std::vector<DeviceInfo> System::devices() const {
  std::vector<DeviceInfo> all = gpus();  // the best first
  all.push_back({.index = 0,
                 .backend = "host",
                 .id = {},
                 .name = cpu_name(),
                 .memory_bytes = wire::machine_memory().total_bytes});
  for (std::size_t i = 0; i < all.size(); ++i) all[i].index = static_cast<int>(i);
  return all;
}

Result<Device> System::device(int index) { return device(index, DeviceOptions{}); }

Result<Device> System::device(int index, const DeviceOptions& options) {
  TROUPE_TRY(core().check_not_forked());
  const std::vector<DeviceInfo> all = devices();
  if (index < 0 || index >= static_cast<int>(all.size()))
    return fail(ErrorKind::invalid_argument, "there is no device " + std::to_string(index) +
                                                 "; this machine has devices 0 to " + std::to_string(all.size() - 1));
  return Device::open(*this, all[static_cast<std::size_t>(index)], options);
}

Result<Device> System::device(std::string_view name) { return device(name, DeviceOptions{}); }

Result<Device> System::device(std::string_view name, const DeviceOptions& options) {
  TROUPE_TRY(core().check_not_forked());
  std::string there;
  for (const DeviceInfo& info : devices()) {
    if (info.backend == name || (!info.id.empty() && info.id == name)) return Device::open(*this, info, options);
    there += (there.empty() ? "" : ", ") + info.backend + (info.id.empty() ? "" : " " + info.id);
  }
  return fail(ErrorKind::invalid_argument,
              "there is no device \"" + std::string(name) + "\"; this machine has: " + there);
}

}  // namespace troupe::inline v0
