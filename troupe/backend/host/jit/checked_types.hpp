// Which words of a CUDA C++ source are types, as far as its words alone tell: enough to know `float4* p` from a
// product of two numbers without a compiler.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/backend/host/jit/kernel_tokens.hpp"

namespace troupe::host {

/// The words of a source by their number; empty beyond both ends.
class SourceWords {
 public:
  explicit SourceWords(std::string_view source) : source_(source), tokens_(tokens_of(source)) {}

  std::size_t size() const noexcept { return tokens_.size(); }
  const Token& token(std::size_t i) const { return tokens_[i]; }
  std::string_view operator[](std::size_t i) const {
    return i < tokens_.size() ? source_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin)
                              : std::string_view();
  }
  bool is_name(std::size_t i) const;
  /// Whether it follows the one before without a blank: `->` and `++` are two marks here.
  bool touches(std::size_t i) const { return i > 0 && tokens_[i].begin == tokens_[i - 1].end; }
  std::size_t line_of(std::size_t i) const;
  /// Those from `begin` to before `end`, with a blank between them.
  std::string joined(std::size_t begin, std::size_t end) const;
  /// Behind the bracket that closes the one at i; `i` where none does.
  std::size_t behind_brackets(std::size_t i) const;
  /// Behind the `>` that closes the `<` at i; `i` where these are no arguments of a template.
  std::size_t behind_angles(std::size_t i) const;
  /// Where the words from `begin` to before `end` have commas that are in no brackets, and `end`.
  std::vector<std::size_t> commas(std::size_t begin, std::size_t end) const;

 private:
  std::string_view source_;
  std::vector<Token> tokens_;
};

class KnownTypes {
 public:
  /// Those of C++ and CUDA, and what the source declares.
  explicit KnownTypes(const SourceWords& words);

  bool has(std::string_view name) const;
  /// Behind the type that begins at i, without `*` and `&`; `i` where none begins. With `any`, every name is one.
  std::size_t behind_type(std::size_t i, bool any = false) const;

 private:
  const SourceWords& words_;
  std::set<std::string, std::less<>> declared_;
};

/// Words of a pointer's own.
inline bool stands_behind_star(std::string_view word) {
  return is_one_of(word, {"const", "volatile", "__restrict__", "__restrict", "restrict"});
}

}  // namespace troupe::host
