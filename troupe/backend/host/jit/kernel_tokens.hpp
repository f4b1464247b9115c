// The words and marks of a C++ source, without its comments, and with strings left whole: enough to find kernels, and
// what a CPU cannot do, without taking a comment for either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace troupe::host {

struct Token {
  enum class Kind : std::uint8_t { word, number, text, mark, directive };
  Kind kind = Kind::mark;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool in_directive = false;  // behind `#define`; other directives are one token
};

/// Never fails: what has no end ends with the source.
std::vector<Token> tokens_of(std::string_view source);

}  // namespace troupe::host
