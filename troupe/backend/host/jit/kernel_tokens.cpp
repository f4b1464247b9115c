#include "troupe/backend/host/jit/kernel_tokens.hpp"

#include <algorithm>
#include <string>

namespace troupe::host {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  std::vector<Token> read() {
    while (at_ < source_.size()) step();
    return std::move(tokens_);
  }

 private:
  bool sees(std::string_view text) const { return source_.substr(at_).starts_with(text); }

  void step() {
    const char c = source_[at_];
    if (sees("\\\n") || sees("\\\r\n")) {
      at_ += sees("\\\n") ? 2 : 3;
    } else if (c == '\n') {
      is_line_new_ = true;
      in_directive_ = false;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
      ++at_;
    } else if (sees("//")) {
      at_ = std::min(source_.find('\n', at_), source_.size());
    } else if (sees("/*")) {
      at_ = behind("*/", at_ + 2);
    } else if (c == '#' && is_line_new_) {
      directive();
    } else {
      is_line_new_ = false;
      token();
    }
  }
  void token() {
    const std::size_t begin = at_;
    const char c = source_[at_];
    if (is_letter(c)) {
      while (at_ < source_.size() && (is_letter(source_[at_]) || is_digit(source_[at_]))) ++at_;
      const std::string_view word = source_.substr(begin, at_ - begin);
      const bool is_raw = word.ends_with('R') && word.size() <= 3 && at_ < source_.size() && source_[at_] == '"';
      if (is_raw) raw_text();
      add(is_raw ? Token::Kind::text : Token::Kind::word, begin);
    } else if (is_digit(c)) {
      // The marks of digits, of exponents and of points are in it.
      for (; at_ < source_.size(); ++at_) {
        const char d = source_[at_], before = source_[at_ - (at_ > begin ? 1 : 0)];
        const bool is_sign =
            (d == '+' || d == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
        if (!is_letter(d) && !is_digit(d) && d != '.' && d != '\'' && !is_sign) break;
      }
      add(Token::Kind::number, begin);
    } else if (c == '"' || c == '\'') {
      for (++at_; at_ < source_.size() && source_[at_] != c && source_[at_] != '\n'; ++at_)
        if (source_[at_] == '\\') ++at_;
      at_ = std::min(at_ + 1, source_.size());
      add(Token::Kind::text, begin);
    } else {
      ++at_;
      add(Token::Kind::mark, begin);
    }
  }
  void raw_text() {
    const std::size_t open = source_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 17) return;
    at_ = behind(")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"", open + 1);
  }
  /// What a macro stands for is read, too.
  void directive() {
    const std::size_t begin = at_;
    std::size_t word = source_.find_first_not_of(" \t", at_ + 1);
    if (word != std::string_view::npos && source_.substr(word).starts_with("define")) {
      at_ = word + 6;
      in_directive_ = true;
      is_line_new_ = false;
      return;
    }
    while (at_ < source_.size() && source_[at_] != '\n') {
      if (sees("\\\n"))
        ++at_;
      else if (sees("\\\r\n"))
        at_ += 2;
      ++at_;
    }
    at_ = std::min(at_, source_.size());
    add(Token::Kind::directive, begin);
  }
  std::size_t behind(std::string_view end, std::size_t from) const {
    const std::size_t found = source_.find(end, from);
    return found == std::string_view::npos ? source_.size() : found + end.size();
  }
  void add(Token::Kind kind, std::size_t begin) { tokens_.push_back({kind, begin, at_, in_directive_}); }

  std::string_view source_;
  std::size_t at_ = 0;
  bool is_line_new_ = true;
  bool in_directive_ = false;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source) { return Reader(source).read(); }

}  // namespace troupe::host
