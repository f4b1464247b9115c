// The flags of NVRTC as those of a C++ compiler: programs give the same ones whatever their device is, and what only a
// GPU has a use for means nothing here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/result.hpp"

namespace troupe::host {

/// What is between blanks, and in quotation marks, which go.
std::vector<std::string> words_of(std::string_view text);

struct CpuFlags {
  std::vector<std::string> words;
  std::string macros;  // `#define` and `#undef`, a line each: for the kernels alone, not for our headers
};

/// `folder` is where relative paths begin. `invalid_argument` names a flag that is not known. What only a GPU has a use
/// for is left out.
Result<CpuFlags> cpu_flags(std::string_view flags, const std::string& folder);

}  // namespace troupe::host
