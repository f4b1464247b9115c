// The processes and descriptors that this program has, as Linux shows them in /proc: whom to kill, and what is left at
// the end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace troupe::chaos {

struct Process {
  int pid = 0;
  int parent = 0;
  char state = '?';         // 'Z': has ended and was not reaped
  bool is_exiting = false;  // which takes a driver a while
  std::string name;

  bool is_alive() const noexcept { return state != 'Z' && state != 'X' && !is_exiting; }
};

/// The name of processes that bad ops leave behind; no other run has them.
std::string name_for_left();
/// The processes that descend from this one, a worker's keeper included, and those of that name.
std::vector<Process> processes_of_run();
/// Those that are worker executables and have not ended, the youngest last.
std::vector<int> live_workers();
/// False when the process is no live worker of ours any more.
bool signal_worker(int pid, int signal);
/// kill -9, likewise.
bool kill_worker(int pid);

std::size_t open_descriptors();
/// The folder of the running program.
std::string program_folder();

}  // namespace troupe::chaos
