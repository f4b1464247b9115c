// The worker processes of this program as the kernel knows them: who they are, what they cost, and whether they are at
// rest. A device does not say when its standby is ready, and a benchmark wants no doubt about it.
#pragma once

#include <chrono>
#include <span>
#include <vector>

namespace troupe::bench {

/// The pids of this process's descendants that are workers.
std::vector<int> worker_processes();

/// Waits until there are so many workers, each has come so far that it serves, and neither they nor this process have
/// anything left to do. Throws when that does not happen within some seconds.
void wait_until_workers_rest(int count);

/// Waits until this process and its workers use next to no time.
void wait_until_all_rest();

/// The cores that this process may use, in a new order each time.
std::vector<int> cores_by_lot();

/// Who calls CUDA: this thread, or the worker for it.
enum class Caller { this_thread, worker };
/// Moves who calls CUDA to the first of the cores, and all other threads of this process and its workers to others.
/// From there they may go where they like, but a busy thread stays for seconds.
void move_threads(std::span<const int> cores, Caller caller);

/// Sleeps for `window` and returns what this process and its workers used meanwhile, in percent of one core.
double cpu_percent_with_workers(std::chrono::duration<double> window);

}  // namespace troupe::bench
