// The words and marks of a C++ source, without its comments, and with strings left whole: enough to find kernels, and
// what a CPU cannot do, without taking a comment for either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
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

inline bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text == word) return true;
  return false;
}

/// Never fails: what has no end ends with the source.
std::vector<Token> tokens_of(std::string_view source);

}  // namespace troupe::host
