// What this machine's kernel has for a sandbox: asked by the app before it starts a worker, by the worker before it
// shuts itself in, and by the doctor.
#pragma once

#include <string>

#include "troupe/core/kinds.hpp"

namespace troupe::inline v0::wire {

struct SandboxSupport {
  int landlock = 0;      // the version of its interface; 0: there is none
  bool seccomp = false;  // filters of system calls, and for this processor

  /// What is missing for all of that level, for people; empty when nothing is. `standard` does without what is
  /// missing, `strict` does not.
  std::string missing_for(Sandbox level) const;
};

/// From this version on, a worker cannot send signals to processes outside of its sandbox.
inline constexpr int kLandlockWithSignals = 6;

SandboxSupport sandbox_support() noexcept;

}  // namespace troupe::inline v0::wire
