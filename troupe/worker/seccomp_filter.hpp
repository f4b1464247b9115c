// The filter of system calls behind a sandbox, written for the kernel's small machine (classic BPF). It says no to a
// list; what is not on it is allowed. A call that is refused fails with EPERM, and the process goes on. The kernel
// remembers which calls are always allowed and runs no filter for them, so computing costs what it cost before.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "troupe/core/kinds.hpp"
#include "troupe/core/result.hpp"

namespace troupe::worker {

/// The program of a level; empty for `none`.
std::vector<sock_filter> filter_of(Sandbox level);

/// For all threads of this process, which has given up new privileges. `unsupported` when the kernel refuses.
Result<void> install_filter(std::vector<sock_filter> program);

}  // namespace troupe::worker
