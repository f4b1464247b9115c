// The result of the search for a library that is opened at run time: found, missing, or found but unusable. Plain text,
// so that a worker can print it and `troupe doctor` can show it.
#pragma once

#include <string>

namespace troupe::inline v0::wire {

struct FoundLibrary {
  std::string name;     // "cuBLAS"
  std::string version;  // "13.1.0"; empty when it was not opened, or does not say
  std::string path;     // the file; empty when it was not opened
  std::string problem;  // why it cannot be used although it is there; empty when it can, or when it is missing
  std::string source;   // what to install to have it

  bool usable() const noexcept { return !path.empty() && problem.empty(); }
  bool missing() const noexcept { return path.empty() && problem.empty(); }
  bool operator==(const FoundLibrary&) const = default;
};

}  // namespace troupe::inline v0::wire
