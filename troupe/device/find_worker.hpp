// Where a device finds the executable troupe-worker. A program may run from its build folder, from an installation that
// was moved, inside a bundle or inside an interpreter; its user should never have to set a variable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

/// The paths where a worker may be when nobody has named one, in the order in which they are tried:
///   1. beside the running program, and in ../libexec/troupe from there;
///   2. the same for the shared object that this library is in, if it is in one;
///   3. the path that the CMake target troupe::troupe has put into the program;
///   4. the folder that Troupe was configured to be installed in.
std::vector<std::string> worker_places();

/// The worker's executable: `option` if it is not empty, otherwise $TROUPE_WORKER, otherwise the first of
/// `worker_places()` that is executable. `invalid_argument` when none is; the message names them.
Result<std::string> find_worker_executable(std::string_view option);

}  // namespace troupe::inline v0
