#include "troupe/backend/host/team/team_size.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace troupe::host {
namespace {

constexpr int kNoLimit = std::numeric_limits<int>::max();

/// The kernel refuses a set that is smaller than its own, so it grows until it is taken.
int cores_of_affinity() {
  constexpr std::size_t kMostCores = std::size_t{1} << 20;
  for (std::size_t cores = 1024; cores <= kMostCores; cores *= 2) {
    std::vector<cpu_set_t> set(cores / (8 * sizeof(cpu_set_t)));
    const std::size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) == 0) return std::max(1, CPU_COUNT_S(bytes, set.data()));
  }
  return kNoLimit;
}

/// So many cores' worth of time, rounded up.
int cores_of(double quota_us, double period_us) {
  if (!(quota_us > 0) || !(period_us > 0)) return kNoLimit;
  return static_cast<int>(std::clamp(std::ceil(quota_us / period_us), 1.0, static_cast<double>(kNoLimit)));
}

std::optional<double> read_number(const std::string& path) {
  std::ifstream file(path);
  double number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

/// "max 100000", or the quota and the period.
int quota_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  double quota_us = 0, period_us = 0;
  if (file >> quota_us >> period_us) return cores_of(quota_us, period_us);
  return kNoLimit;
}

/// A quota of -1 is none.
int quota_v1(const std::string& folder) {
  const auto quota_us = read_number(folder + "/cpu.cfs_quota_us");
  const auto period_us = read_number(folder + "/cpu.cfs_period_us");
  return quota_us && period_us ? cores_of(*quota_us, *period_us) : kNoLimit;
}

/// Any group on the way up may be the tightest. In a container the path may be the host's; then only the root of the
/// mount can be read, which is the container's group.
int tightest_upwards(const std::string& mount, std::string path, int (*quota)(const std::string& folder)) {
  int limit = quota(mount);
  while (!path.empty()) {
    if (path != "/") limit = std::min(limit, quota(mount + path));
    path.erase(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  return limit;
}

bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

/// A line of /proc/self/cgroup is "number:controllers:path"; v2 names no controllers.
int quota_of_line(const std::string& root, const std::string& line) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
  if (second == std::string::npos) return kNoLimit;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const std::string path = line.substr(second + 1);
  if (controllers.empty()) return tightest_upwards(root + "/sys/fs/cgroup", path, quota_v2);
  if (!names_cpu(controllers)) return kNoLimit;
  return std::min(tightest_upwards(root + "/sys/fs/cgroup/cpu", path, quota_v1),
                  tightest_upwards(root + "/sys/fs/cgroup/" + controllers, path, quota_v1));
}

}  // namespace

int team_size_limit(const std::string& root) {
  int limit = cores_of_affinity();
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) limit = std::min(limit, quota_of_line(root, line));
  return limit == kNoLimit ? 1 : limit;
}

Result<int> check_team_size(int size, int limit) {
  if (size >= 1 && size <= limit) return size;
  return fail(ErrorKind::invalid_argument,
              "cpu_threads is " + std::to_string(size) + "; it must be 1 to " + std::to_string(limit) +
                  ", which is how many cores the affinity and CPU quota of this process allow");
}

}  // namespace troupe::host
