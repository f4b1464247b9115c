#include "bench/cpu_usage.hpp"

#include <ctime>
#include <thread>

namespace troupe::bench {
namespace {

std::chrono::nanoseconds process_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

double cpu_percent_while_asleep(std::chrono::duration<double> window) {
  const auto cpu_before = process_cpu_time();
  const auto before = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(window);
  const std::chrono::duration<double> cpu = process_cpu_time() - cpu_before;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - before;
  return 100 * (cpu / wall);
}

}  // namespace troupe::bench
