// CUDA C++ written anew for checked mode: whatever is declared as a pointer becomes one that knows its array
// (include/checked_pointers.h), and each kernel is told how large its arrays are. For a GPU and for a CPU alike. Lines
// stay where they are.
#pragma once

#include <string>
#include <string_view>

#include "troupe/core/result.hpp"

namespace troupe::host {

/// The name by which the compiled text includes its header.
inline constexpr std::string_view kCheckedHeader = "checked_pointers.h";

/// `unsupported` names what cannot be checked, and the line.
Result<std::string> checked_source(std::string_view source);

}  // namespace troupe::host
