// A program that is asked one thing, within a time limit. What it printed until then is kept whatever becomes of it:
// the doctor wants to know how far a worker came that hangs in a driver.
#pragma once

#include <optional>
#include <string>

#include "troupe/core/clock.hpp"
#include "troupe/wire/child.hpp"

namespace troupe::tool {

struct ProgramRun {
  std::string printed;                // on its standard output
  std::optional<wire::ChildEnd> end;  // none: the time was up, and it was killed
};

/// What it prints beyond this is an `invalid_argument`.
inline constexpr std::size_t kMaxPrintedBytes = std::size_t{1} << 20;

/// Runs it and waits. Errors as `wire::Child::spawn`.
Result<ProgramRun> run_program(const std::string& executable, const std::string& argument, Duration limit);

}  // namespace troupe::tool
