// The environment of a worker: the variables that computing needs, and those that the user names. All others stay with
// the app: keys and passwords are often passed to programs in variables.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

/// True for the variables that every worker gets; docs/security.md lists them.
bool is_usual_variable(std::string_view name) noexcept;

/// The environment of a worker, as NAME=value: the usual variables of this process, and `added`: NAME passes on this
/// process's variable, if it has one, and NAME=value sets it. `invalid_argument` for an entry without a name.
Result<std::vector<std::string>> worker_environment(std::span<const std::string_view> added);

}  // namespace troupe::inline v0
