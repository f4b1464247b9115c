#include "tests/chaos/processes.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

namespace troupe::chaos {
namespace {

namespace fs = std::filesystem;

/// From /proc/PID/stat: "12 (name) S 1 10 10 0 -1 4194304 ...", where the name may contain anything. Behind it come the
/// state, the parent, four numbers that do not matter here, and the kernel's flags.
std::optional<Process> read_process(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 4 >= line.size()) return std::nullopt;
  constexpr unsigned kIsExiting = 4;  // PF_EXITING
  std::istringstream rest(line.substr(close + 4));
  int parent = 0;
  int ignored = 0;
  unsigned flags = 0;
  rest >> parent >> ignored >> ignored >> ignored >> ignored >> flags;
  return Process{.pid = pid,
                 .parent = parent,
                 .state = line[close + 2],
                 .is_exiting = (flags & kIsExiting) != 0,
                 .name = line.substr(open + 1, close - open - 1)};
}

std::map<int, Process> all_processes() {
  std::map<int, Process> all;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", ignored)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    if (std::optional<Process> process = read_process(pid)) all.emplace(pid, std::move(*process));
  }
  return all;
}

bool descends_from_us(const Process& process, const std::map<int, Process>& all) {
  constexpr int kMaxDepth = 8;
  int parent = process.parent;
  for (int depth = 0; depth < kMaxDepth && parent > 1; ++depth) {
    if (parent == getpid()) return true;
    const auto found = all.find(parent);
    if (found == all.end()) return false;
    parent = found->second.parent;
  }
  return false;
}

/// A worker is called "troupe:host:g3" once it is greeted, or "tr:..." where that is too long; see worker/title.hpp.
bool is_worker(const Process& process) {
  return process.is_alive() &&
         (process.name == "troupe-worker" || process.name.starts_with("troupe:") || process.name.starts_with("tr:"));
}

}  // namespace

std::string name_for_left() { return "left-" + std::to_string(getpid()); }

std::vector<Process> processes_of_run() {
  const std::map<int, Process> all = all_processes();
  const std::string left = name_for_left();
  std::vector<Process> ours;
  for (const auto& [pid, process] : all)
    if (process.name == left || descends_from_us(process, all)) ours.push_back(process);
  return ours;
}

std::vector<int> live_workers() {
  std::vector<int> pids;
  for (const Process& process : processes_of_run())
    if (is_worker(process)) pids.push_back(process.pid);
  return pids;
}

bool signal_worker(int pid, int signal) {
  // With the descriptor in hand the number cannot become another process's between the look and the kill.
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) return false;
  const std::vector<int> workers = live_workers();
  const bool is_ours = std::ranges::find(workers, pid) != workers.end();
  const bool sent = is_ours && syscall(SYS_pidfd_send_signal, descriptor, signal, nullptr, 0) == 0;
  close(descriptor);
  return sent;
}

bool kill_worker(int pid) { return signal_worker(pid, SIGKILL); }

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd")) ++count;
  return count - 1;  // the folder's own
}

std::string program_folder() { return fs::read_symlink("/proc/self/exe").parent_path().string(); }

}  // namespace troupe::chaos
