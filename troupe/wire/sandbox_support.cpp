#include "troupe/wire/sandbox_support.hpp"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace troupe::inline v0::wire {
namespace {

constexpr long kCreateRuleset = 444;  // landlock_create_ruleset, on every processor; headers may be older
constexpr unsigned kAskVersion = 1;

bool has_filters() noexcept {
#if defined(__x86_64__) || defined(__aarch64__)
  const unsigned refuse = SECCOMP_RET_ERRNO;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &refuse) == 0;
#else
  return false;
#endif
}

}  // namespace

SandboxSupport sandbox_support() noexcept {
  const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return {.landlock = static_cast<int>(std::max(version, 0L)), .seccomp = has_filters()};
}

std::string SandboxSupport::missing_for(Sandbox level) const {
  if (level == Sandbox::none) return {};
  std::string missing;
  if (landlock == 0) missing = "Landlock (Linux 5.13, and among the kernel's security modules)";
  if (!seccomp)
    missing += (missing.empty() ? "" : " and ") + std::string("seccomp filters (CONFIG_SECCOMP_FILTER, x86-64 or ARM)");
  return missing;
}

}  // namespace troupe::inline v0::wire
