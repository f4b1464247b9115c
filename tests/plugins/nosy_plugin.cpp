// A plugin that tries what a worker may not do, a function for each deed: array 0 (i32, write) gets 0 when it was
// allowed, else the errno. The parameters are a process's number (int32), and for some a path or a name behind it.
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "troupe/plugin.h"

namespace {

std::int32_t process_of(const TroupeCall* call) {
  std::int32_t process = 0;
  if (call->parameter_bytes >= sizeof process) std::memcpy(&process, call->parameters, sizeof process);
  return process;
}

std::string text_of(const TroupeCall* call) {
  if (call->parameter_bytes <= sizeof(std::int32_t)) return {};
  return {static_cast<const char*>(call->parameters) + sizeof(std::int32_t),
          call->parameter_bytes - sizeof(std::int32_t)};
}

/// Does the deed, and stores what it gave: a negative number is an errno.
template <int (*deed)(const TroupeCall*)>
TroupeStatus attempt(const TroupeCall* call) {
  if (call->array_count == 0 || call->arrays[0].dtype != TROUPE_I32) return TROUPE_FAILED;
  *static_cast<std::int32_t*>(call->arrays[0].data) = deed(call);
  return TROUPE_OK;
}

int zero_or_errno(bool good) { return good ? 0 : errno; }

int can_open(const std::string& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC, 0600);
  const int answer = zero_or_errno(file >= 0);
  if (file >= 0) close(file);
  return answer;
}

int attach(const TroupeCall* call) {
  const int answer = zero_or_errno(ptrace(PTRACE_SEIZE, process_of(call), nullptr, nullptr) == 0);
  if (answer == 0) ptrace(PTRACE_DETACH, process_of(call), nullptr, nullptr);
  return answer;
}

int open_memory(const TroupeCall* call) {
  return can_open("/proc/" + std::to_string(process_of(call)) + "/mem", O_RDWR);
}

/// Of address 0, which no process has: one that may look gets EFAULT.
int read_memory(const TroupeCall* call) {
  char here = 0;
  iovec to{&here, 1};
  iovec from{nullptr, 1};
  return zero_or_errno(process_vm_readv(process_of(call), &to, 1, &from, 1, 0) == 1);
}

int take_descriptor(const TroupeCall* call) {
  const int process = static_cast<int>(syscall(SYS_pidfd_open, process_of(call), 0));
  if (process < 0) return errno;
  const int taken = static_cast<int>(syscall(SYS_pidfd_getfd, process, 0, 0));
  const int answer = zero_or_errno(taken >= 0);
  if (taken >= 0) close(taken);
  close(process);
  return answer;
}

int signal_process(const TroupeCall* call) { return zero_or_errno(kill(process_of(call), 0) == 0); }

int change_limits(const TroupeCall* call) {
  rlimit limit{};
  return zero_or_errno(prlimit(process_of(call), RLIMIT_NOFILE, nullptr, &limit) == 0);
}

int read_file(const TroupeCall* call) { return can_open(text_of(call), O_RDONLY); }
int write_file(const TroupeCall* call) { return can_open(text_of(call), O_WRONLY | O_CREAT); }

int open_socket(const TroupeCall*) {
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  const int answer = zero_or_errno(made >= 0);
  if (made >= 0) close(made);
  return answer;
}

int make_process(const TroupeCall*) {
  const pid_t made = fork();
  if (made == 0) _exit(0);
  if (made < 0) return errno;
  waitpid(made, nullptr, 0);
  return 0;
}

int make_thread(const TroupeCall*) {
  pthread_t made{};
  const int answer = pthread_create(&made, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
  if (answer == 0) pthread_join(made, nullptr);
  return answer;
}

// What these give is no errno.

int has_no_new_privileges(const TroupeCall*) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); }

int core_limit(const TroupeCall*) {
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  return limit.rlim_max == 0 ? 0 : 1;
}

int has_variable(const TroupeCall* call) {
  return std::getenv(text_of(call).c_str()) != nullptr ? 1 : 0;  // NOLINT(concurrency-mt-unsafe): nobody sets it
}

int input_bytes(const TroupeCall*) {
  char byte = 0;
  return static_cast<int>(read(0, &byte, 1));
}

/// Whether a core dump would have the memory of array 0: 1 when it would.
int is_dumped(const TroupeCall* call) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(call->arrays[0].data);
  std::ifstream maps("/proc/self/smaps");
  bool is_inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream words(line);
    if (line.find('-') < line.find(' ') && words >> std::hex >> begin >> dash >> end)
      is_inside = begin <= wanted && wanted < end;
    if (is_inside && line.starts_with("VmFlags:")) return line.find(" dd") == std::string::npos ? 1 : 0;
  }
  return -1;
}

constexpr TroupeFunction kFunctions[] = {
    {"attach", attempt<attach>},
    {"open_memory", attempt<open_memory>},
    {"read_memory", attempt<read_memory>},
    {"take_descriptor", attempt<take_descriptor>},
    {"signal_process", attempt<signal_process>},
    {"change_limits", attempt<change_limits>},
    {"read_file", attempt<read_file>},
    {"write_file", attempt<write_file>},
    {"open_socket", attempt<open_socket>},
    {"make_process", attempt<make_process>},
    {"make_thread", attempt<make_thread>},
    {"has_no_new_privileges", attempt<has_no_new_privileges>},
    {"core_limit", attempt<core_limit>},
    {"has_variable", attempt<has_variable>},
    {"input_bytes", attempt<input_bytes>},
    {"is_dumped", attempt<is_dumped>},
};
constexpr TroupePlugin kPlugin = {TROUPE_PLUGIN_MAGIC, TROUPE_PLUGIN_ABI_VERSION, "nosy_plugin", std::size(kFunctions),
                                  kFunctions};

}  // namespace

extern "C" const TroupePlugin* troupe_plugin(void) { return &kPlugin; }  // NOLINT(modernize-redundant-void-arg)
