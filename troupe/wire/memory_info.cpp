#include "troupe/wire/memory_info.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

namespace troupe::inline v0::wire {
namespace {

/// The number a file begins with; none when it cannot be read or says "max".
std::optional<std::uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

/// The number after `key` in a file of lines "key number ...".
std::optional<std::uint64_t> read_field(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  std::string word;
  std::uint64_t number = 0;
  while (file >> word) {
    if (word == key && file >> number) return number;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

struct CgroupVersion {
  std::string_view marker;  // what follows the hierarchy's number in its line of /proc/self/cgroup
  const char* mount;
  const char* limit;
  const char* usage;
  const char* reclaimable;
};

constexpr CgroupVersion kCgroupVersions[] = {
    {"::", "/sys/fs/cgroup", "/memory.max", "/memory.current", "inactive_file"},
    {":memory:", "/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"},
};

void apply_limit(MemoryInfo& info, const std::string& folder, const CgroupVersion& version) {
  const auto limit = read_number(folder + version.limit);
  const auto usage = read_number(folder + version.usage);
  if (!limit || !usage) return;
  const std::uint64_t reclaimable = read_field(folder + "/memory.stat", version.reclaimable).value_or(0);
  const std::uint64_t held = *usage - std::min(*usage, reclaimable);
  info.total_bytes = std::min(info.total_bytes, *limit);
  info.available_bytes = std::min(info.available_bytes, *limit - std::min(*limit, held));
}

/// Any group on the way up may be the tightest. In a container the path may be the host's; then only the root of the
/// mount can be read, which is the container's group.
void apply_limits_upwards(MemoryInfo& info, const std::string& mount, std::string path, const CgroupVersion& version) {
  while (!path.empty()) {
    if (path != "/") apply_limit(info, mount + path, version);
    path.erase(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  apply_limit(info, mount, version);
}

}  // namespace

MemoryInfo machine_memory(const std::string& root) {
  constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
  MemoryInfo info{.total_bytes = kUnknown, .available_bytes = kUnknown};
  const std::string meminfo = root + "/proc/meminfo";
  if (const auto kib = read_field(meminfo, "MemTotal:")) info.total_bytes = *kib * 1024;
  if (const auto kib = read_field(meminfo, "MemAvailable:")) info.available_bytes = *kib * 1024;

  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto colon = std::min(line.find(':'), line.size());
    for (const CgroupVersion& version : kCgroupVersions) {
      if (!std::string_view(line).substr(colon).starts_with(version.marker)) continue;
      apply_limits_upwards(info, root + version.mount, line.substr(colon + version.marker.size()), version);
    }
  }
  return info;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double kRoundsUpTo1024 = 1023.95;
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= kRoundsUpTo1024 && unit + 1 < std::size(kUnits); ++unit) amount /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", amount);
  std::string_view shown = text;
  if (shown.ends_with(".0")) shown.remove_suffix(2);
  return std::string(shown) + " " + kUnits[unit];
}

}  // namespace troupe::inline v0::wire
