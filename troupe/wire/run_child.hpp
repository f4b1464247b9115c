// A program that is asked one thing: started, given bytes on its standard input, and heard to its end, within a time
// limit. What it printed until then is kept whatever becomes of it; when the answer is here, it is gone.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "troupe/core/clock.hpp"
#include "troupe/wire/child.hpp"

namespace troupe::inline v0::wire {

struct ChildAnswer {
  std::string printed;          // on its standard output
  std::optional<ChildEnd> end;  // none: the time was up, and it was killed
};

/// What it prints beyond this is `invalid_argument`.
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 20;

/// Any thread, which waits. Errors as `Child::spawn`.
Result<ChildAnswer> run_child(const std::string& executable, const std::vector<std::string>& arguments,
                              std::span<const std::byte> input, Duration limit);

}  // namespace troupe::inline v0::wire
