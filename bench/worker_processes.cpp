#include "bench/worker_processes.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace troupe::bench {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(10);
constexpr auto kLook = std::chrono::milliseconds(10);
constexpr double kRestPercent = 5;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

int parent_of(int pid) {
  // "pid (name) state parent ..."; the name may have anything in it.
  const std::string stat = first_line("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos || name_end + 4 > stat.size() ? 0 : std::atoi(stat.c_str() + name_end + 4);
}

bool descends_from_us(int pid) {
  while (pid > 1 && pid != ::getpid()) pid = parent_of(pid);
  return pid == ::getpid();
}

/// A worker starts this thread when it is ready to serve; it submits the ops to the device.
constexpr char kDrainThread[] = "troupe-drain";

/// From that core it may go where it likes.
void start_on(int thread, int core) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  if (sched_getaffinity(thread, sizeof allowed, &allowed) == 0 && sched_setaffinity(thread, sizeof one, &one) == 0)
    sched_setaffinity(thread, sizeof allowed, &allowed);
}

/// A worker is called "troupe:host:g3" once it is greeted, or "tr:..." where that is too long; see worker/title.hpp.
bool is_worker(std::string_view name) {
  return name == "troupe-worker" || name.starts_with("troupe:") || name.starts_with("tr:");
}

bool has_drain_thread(int pid) {
  std::error_code gone;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone))
    if (first_line(task.path() / "comm") == kDrainThread) return true;
  return false;
}

std::chrono::nanoseconds cpu_time_of(int pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) == 0) ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::chrono::nanoseconds cpu_time_of(const std::vector<int>& pids) {
  std::chrono::nanoseconds sum{0};
  for (const int pid : pids) sum += cpu_time_of(pid);
  return sum;
}

template <class Done>
void wait_until(const char* what, const Done& done) {
  const auto until = steady_clock::now() + kPatience;
  while (!done()) {
    if (steady_clock::now() > until) throw std::runtime_error(std::string("no end of waiting until ") + what);
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

std::vector<int> worker_processes() {
  std::vector<int> pids;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && is_worker(first_line(entry.path() / "comm")) && descends_from_us(pid)) pids.push_back(pid);
  }
  return pids;
}

void wait_until_workers_rest(int count) {
  wait_until("the workers serve", [count] {
    const std::vector<int> pids = worker_processes();
    return std::cmp_equal(pids.size(), count) && std::ranges::all_of(pids, has_drain_thread);
  });
  wait_until_all_rest();
}

void wait_until_all_rest() {
  wait_until("all are at rest", [] { return cpu_percent_with_workers(kLook) < kRestPercent; });
}

std::vector<int> cores_by_lot() {
  std::vector<int> cores;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  static std::mt19937 lot(1);
  std::ranges::shuffle(cores, lot);
  return cores;
}

void move_threads(std::span<const int> cores, Caller caller) {
  constexpr std::size_t kCaller = 0, kOther = 1, kRest = 2;
  if (cores.size() <= kRest) return;  // there is nothing to choose
  std::vector<int> pids = worker_processes();
  pids.push_back(::getpid());
  std::size_t next = kRest;
  for (const int pid : pids) {
    std::error_code gone;
    for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
      const int thread = std::atoi(task.path().filename().c_str());
      const bool is_this = thread == ::gettid();
      const bool is_drain = first_line(task.path() / "comm") == kDrainThread;
      const bool calls = caller == Caller::worker ? is_drain : is_this;
      const std::size_t which = calls ? kCaller : is_this || is_drain ? kOther : next++;
      start_on(thread, cores[which < cores.size() ? which : kRest + which % (cores.size() - kRest)]);
    }
  }
}

double cpu_percent_with_workers(std::chrono::duration<double> window) {
  std::vector<int> pids = worker_processes();
  pids.push_back(::getpid());
  const auto cpu_before = cpu_time_of(pids);
  const auto before = steady_clock::now();
  std::this_thread::sleep_for(window);
  const std::chrono::duration<double> wall = steady_clock::now() - before;
  const std::chrono::duration<double> cpu = cpu_time_of(pids) - cpu_before;
  return 100 * (cpu / wall);
}

}  // namespace troupe::bench
