// A report as people read it, and as programs do.
// Both show every line; the text says an advice that several lines in a row share only once, after the last of them.
#pragma once

#include <string>

#include "tools/troupe/report.hpp"

namespace troupe::tool {

/// Aligned columns; advice is indented and broken at 100 columns.
std::string to_text(const Report& report);

/// One object: version, works, conclusion, and lines with section, state, thing, found and advice.
std::string to_json(const Report& report);

}  // namespace troupe::tool
