// The filter of system calls behind a sandbox, a program in classic BPF. It refuses the calls on a list and allows all
// others. A refused call fails with EPERM or ENOSYS, and the process goes on. The kernel remembers which calls are
// always allowed and runs no filter for them, so computing costs what it cost before.
#pragma once

#include <linux/filter.h>

#include <string_view>
#include <vector>

#include "troupe/core/kinds.hpp"
#include "troupe/core/result.hpp"

namespace troupe::worker {

/// The program of a level; empty for `none`.
std::vector<sock_filter> filter_of(Sandbox level, std::string_view backend);

/// For all threads of this process, which must have given up new privileges. `unsupported` when the kernel refuses.
Result<void> install_filter(std::vector<sock_filter> program);

}  // namespace troupe::worker
