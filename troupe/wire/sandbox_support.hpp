// What this machine's kernel has for a sandbox: the app asks before it starts a worker, the worker before it enters the
// sandbox, and so does the doctor.
#pragma once

#include <string>

#include "troupe/core/kinds.hpp"

namespace troupe::inline v0::wire {

struct SandboxSupport {
  int landlock = 0;      // the version of Landlock's interface; 0: there is none
  bool seccomp = false;  // filters of system calls, for this processor

  /// What the kernel lacks for that level, for people; empty when nothing. `standard` does without it, `strict` does
  /// not.
  std::string missing_for(Sandbox level) const;
};

/// From this version on, a worker cannot send signals to processes outside of its sandbox.
inline constexpr int kLandlockWithSignals = 6;

SandboxSupport sandbox_support() noexcept;

}  // namespace troupe::inline v0::wire
