#include "troupe/worker/sandbox.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "troupe/wire/sandbox_support.hpp"
#include "troupe/worker/landlock.hpp"
#include "troupe/worker/seccomp_filter.hpp"

namespace troupe::worker {
namespace {

/// The system's libraries, and what they read to learn about the machine.
constexpr std::array kReadableInStrict{
    "/lib",           "/lib64",        "/usr",        "/etc/ld.so.cache", "/etc/localtime",
    "/proc/cpuinfo",  "/proc/meminfo", "/proc/stat",  "/proc/sys/vm",     "/sys/devices/system",
    "/sys/fs/cgroup", "/dev/zero",     "/dev/random", "/dev/urandom"};
/// `/proc/self` is this process's own folder: threads get their names there.
constexpr std::array kWritableInStrict{"/proc/self", "/dev/null"};

constexpr std::array kReadableForCuda{"/proc/driver", "/proc/devices", "/proc/modules",
                                      "/sys/devices", "/sys/bus/pci",  "/sys/module"};
constexpr std::array kWritableForCuda{"/dev/shm"};
constexpr std::array kVariablesWithPaths{"LD_LIBRARY_PATH",       "TROUPE_BLAS", "TROUPE_SLEEF",
                                         "TROUPE_CUDA_LIBRARIES", "CUDA_HOME",   "CUDA_PATH"};

/// Skips paths that do not exist: systems differ.
template <class Paths>
Result<void> allow_all(LandlockDomain& domain, const Paths& paths, FileAccess access) {
  for (const auto& path : paths) TROUPE_TRY(domain.allow(path, access));
  return {};
}

Result<void> allow_named(LandlockDomain& domain, const std::vector<std::string>& paths, FileAccess access) {
  for (const std::string& path : paths)
    if (!TROUPE_TRY(domain.allow(path, access)))
      return fail(ErrorKind::invalid_argument, "the sandbox is to open " + path + ", which is not there");
  return {};
}

/// The absolute paths in these variables, which colons separate.
std::vector<std::string> paths_of_environment() {
  std::vector<std::string> paths;
  for (const char* name : kVariablesWithPaths) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody changes it
    std::string_view rest = value ? value : "";
    while (!rest.empty()) {
      const std::size_t colon = rest.find(':');
      if (rest.front() == '/') paths.emplace_back(rest.substr(0, colon));
      rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    }
  }
  return paths;
}

/// The executable's folder: what was installed with it lies there.
std::vector<std::string> own_folder() {
  std::error_code ignored;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (executable.empty()) return {};
  return {executable.parent_path().string()};
}

Result<void> allow_gpus(LandlockDomain& domain) {
  TROUPE_TRY(allow_all(domain, kReadableForCuda, FileAccess::read));
  TROUPE_TRY(allow_all(domain, kWritableForCuda, FileAccess::read_write));
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", ignored))
    if (entry.path().filename().string().starts_with("nvidia"))
      TROUPE_TRY(domain.allow(entry.path().string(), FileAccess::read_write));
  return {};
}

Result<void> close_files(int landlock, const SandboxRules& rules) {
  LandlockDomain domain = TROUPE_TRY(LandlockDomain::make(landlock, LandlockDomain::Closes::files));
  TROUPE_TRY(allow_all(domain, kReadableInStrict, FileAccess::read));
  TROUPE_TRY(allow_all(domain, kWritableInStrict, FileAccess::read_write));
  TROUPE_TRY(allow_all(domain, own_folder(), FileAccess::read));
  TROUPE_TRY(allow_all(domain, paths_of_environment(), FileAccess::read));
  if (rules.backend == "cuda") TROUPE_TRY(allow_gpus(domain));
  TROUPE_TRY(allow_named(domain, rules.readable_paths, FileAccess::read));
  TROUPE_TRY(allow_named(domain, rules.writable_paths, FileAccess::read_write));
  return domain.enter();
}

Result<void> close_processes(int landlock) {
  LandlockDomain domain = TROUPE_TRY(LandlockDomain::make(landlock, LandlockDomain::Closes::processes));
  return domain.enter();
}

Result<void> enter_strict(const SandboxRules& rules, const wire::SandboxSupport& support) {
  if (const std::string missing = support.missing_for(Sandbox::strict); !missing.empty())
    return fail(ErrorKind::unsupported, "Sandbox::strict needs " + missing + "; this machine has none");
  TROUPE_TRY(close_files(support.landlock, rules));
  return install_filter(filter_of(Sandbox::strict, rules.backend));
}

void enter_standard(const SandboxRules& rules, const wire::SandboxSupport& support, const LogSink& log) {
  const auto try_part = [&](const Result<void>& part) {
    if (part) return;
    const std::string message = "a part of the sandbox is missing: " + part.error().to_string();
    log({.level = LogLevel::warning, .time = std::chrono::steady_clock::now(), .source = "worker", .message = message});
  };
  if (support.landlock > 0) try_part(close_processes(support.landlock));
  if (support.seccomp) try_part(install_filter(filter_of(Sandbox::standard, rules.backend)));
}

}  // namespace

Result<void> enter_sandbox(const SandboxRules& rules, const LogSink& log) {
  if (rules.level == Sandbox::none) return {};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail(wire::errno_error(ErrorKind::unsupported, "giving up new privileges", errno));
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const wire::SandboxSupport support = wire::sandbox_support();
  if (rules.level == Sandbox::strict) return enter_strict(rules, support);
  enter_standard(rules, support, log);
  return {};
}

}  // namespace troupe::worker
