// Workers end by `_exit`, past everything that would still be done, and what they have counted would be lost with them.
// In a build for coverage this is their `_exit`. Only those count whose lines are looked at, and no process that a
// plugin has forked: to write counts down is to write into mapped files, and after a file that a kill has left
// half-written, into whatever is mapped behind it.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

extern "C" void __gcov_dump();

namespace {
const pid_t worker = getpid();
}

extern "C" void _exit(int code) {
  if (getpid() == worker && std::getenv("TROUPE_COUNTS_LINES")) __gcov_dump();
  for (;;) syscall(SYS_exit_group, code);
}
