// Which devices this machine has, and how a system takes one.
#include <sys/utsname.h>

#include <fstream>

#include "troupe/device/device.hpp"
#include "troupe/wire/memory_info.hpp"

namespace troupe {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  utsname machine{};
  return uname(&machine) == 0 ? std::string(machine.machine) + " CPU" : "CPU";
}

}  // namespace

std::vector<DeviceInfo> System::devices() const {
  return {DeviceInfo{
      .index = 0, .backend = "host", .name = cpu_name(), .memory_bytes = wire::machine_memory().total_bytes}};
}

Result<Device> System::device(int index) { return device(index, DeviceOptions{}); }

Result<Device> System::device(int index, const DeviceOptions& options) {
  const std::vector<DeviceInfo> all = devices();
  if (index < 0 || index >= static_cast<int>(all.size()))
    return fail(ErrorKind::invalid_argument,
                "there is no device " + std::to_string(index) + "; this machine has " + std::to_string(all.size()));
  return Device::open(*this, all[static_cast<std::size_t>(index)], options);
}

}  // namespace troupe
