// A worker gives up what it does not need, before it loads any code of the user. There is no way back, and threads and
// processes that it makes later are in the sandbox, too. docs/security.md says what each level means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/kinds.hpp"
#include "troupe/core/log.hpp"
#include "troupe/core/result.hpp"

namespace troupe::worker {

struct SandboxRules {
  Sandbox level = Sandbox::none;
  std::string_view backend;
  /// For `strict`, besides what the backend needs.
  std::vector<std::string> readable_paths;
  std::vector<std::string> writable_paths;
};

/// For the calling thread and all that it makes. `unsupported` when the kernel lacks something that `strict` needs,
/// `invalid_argument` when a named path does not exist. `standard` does without what the kernel lacks or refuses, and
/// logs the latter.
Result<void> enter_sandbox(const SandboxRules& rules, const LogSink& log);

}  // namespace troupe::worker
