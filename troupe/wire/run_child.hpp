// Runs a program to its end within a time limit: gives it bytes on its standard input and collects what it prints. What
// it printed is kept even when it is killed. When this returns, the program is gone.
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
  std::optional<ChildEnd> end;  // none: it exceeded the limit and was killed
};

/// A program that prints more than this ends in `invalid_argument`.
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 20;

/// Any thread may call it; it waits. Fails as `Child::spawn` does.
Result<ChildAnswer> run_child(const std::string& executable, const std::vector<std::string>& arguments,
                              std::span<const std::byte> input, Duration limit);

}  // namespace troupe::inline v0::wire
