// CUDA C++ as text, made ready for a C++ compiler: what has no spelling as a macro is written anew, each kernel is
// followed by a line that names it, and what a CPU cannot do is refused by its name. Lines stay where they are.
#pragma once

#include <string>
#include <string_view>

#include "troupe/core/result.hpp"

namespace troupe::host {

/// `instances` are kernels that are templates, with tabs between them. `unsupported` names what a CPU cannot do, and
/// the line.
Result<std::string> cpu_source(std::string_view source, std::string_view instances);

}  // namespace troupe::host
