#include "troupe/backend/host/jit/checked_types.hpp"

#include <algorithm>
#include <array>

namespace troupe::host {
namespace {

constexpr std::array<std::string_view, 11> kWordsOfTypes{"void",  "bool",   "char",   "short",    "int", "long",
                                                         "float", "double", "signed", "unsigned", "auto"};
constexpr std::array<std::string_view, 15> kNamesOfTypes{
    "size_t",   "ptrdiff_t", "int8_t",    "int16_t",  "int32_t", "int64_t",       "uint8_t",       "uint16_t",
    "uint32_t", "uint64_t",  "uintptr_t", "intptr_t", "__half",  "__nv_bfloat16", "__nv_bfloat162"};
constexpr std::array<std::string_view, 12> kVectors{"char", "uchar", "short",    "ushort",    "int",   "uint",
                                                    "long", "ulong", "longlong", "ulonglong", "float", "double"};
constexpr std::size_t kLongestArguments = 64;

bool is_vector(std::string_view name) {
  if (name.empty() || name.back() < '1' || name.back() > '4') return false;
  name.remove_suffix(1);
  return std::ranges::find(kVectors, name) != kVectors.end();
}

}  // namespace

bool SourceWords::is_name(std::size_t i) const {
  return i < size() && tokens_[i].kind == Token::Kind::word &&
         !is_one_of((*this)[i], {"return", "else", "do", "case", "goto", "new", "delete", "throw", "sizeof", "operator",
                                 "const", "volatile", "if", "for", "while", "switch", "using", "typedef", "template"});
}

std::size_t SourceWords::line_of(std::size_t i) const {
  return 1 + static_cast<std::size_t>(std::ranges::count(source_.substr(0, tokens_[i].begin), '\n'));
}

std::string SourceWords::joined(std::size_t begin, std::size_t end) const {
  std::string all;
  for (std::size_t i = begin; i < end; ++i) {
    if (tokens_[i].kind == Token::Kind::directive) continue;
    const bool is_of_one = i > begin && touches(i) && tokens_[i].kind == Token::Kind::mark &&
                           tokens_[i - 1].kind == Token::Kind::mark;  // `::`
    all += (all.empty() || is_of_one ? "" : " ") + std::string((*this)[i]);
  }
  return all;
}

std::size_t SourceWords::behind_brackets(std::size_t begin) const {
  int depth = 0;
  for (std::size_t i = begin; i < size(); ++i) {
    if (tokens_[i].kind == Token::Kind::directive || tokens_[i].in_directive != tokens_[begin].in_directive) continue;
    const std::string_view word = (*this)[i];
    if (is_one_of(word, {"(", "[", "{"})) ++depth;
    if (is_one_of(word, {")", "]", "}"}) && --depth == 0) return i + 1;
  }
  return begin;
}

std::size_t SourceWords::behind_angles(std::size_t begin) const {
  if ((*this)[begin] != "<") return begin;
  int depth = 0;
  for (std::size_t i = begin; i < std::min(size(), begin + kLongestArguments); ++i) {
    const std::string_view word = (*this)[i];
    if (is_one_of(word, {";", "{", "}", "|"}) || (word == "&" && (*this)[i + 1] == "&")) return begin;
    if (word == "(") {
      i = std::max(behind_brackets(i), i + 1) - 1;
      continue;
    }
    if (word == "<") ++depth;
    if (word == ">" && (*this)[i - 1] != "-" && --depth == 0) return i + 1;
  }
  return begin;
}

std::vector<std::size_t> SourceWords::commas(std::size_t begin, std::size_t end) const {
  std::vector<std::size_t> places;
  for (std::size_t i = begin; i < end;) {
    if ((*this)[i] == ",") places.push_back(i);
    const std::size_t behind = (*this)[i] == "<"                        ? behind_angles(i)
                               : is_one_of((*this)[i], {"(", "[", "{"}) ? behind_brackets(i)
                                                                        : i;
    i = std::max(behind, i + 1);
  }
  places.push_back(end);
  return places;
}

KnownTypes::KnownTypes(const SourceWords& words) : words_(words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (is_one_of(word, {"struct", "class", "union", "enum", "typename"})) {
      std::size_t name = i + 1;
      while (is_one_of(words[name], {"class", "struct"})) ++name;
      if (is_one_of(words[name], {"alignas", "__align__", "__attribute__"})) name = words.behind_brackets(name + 1);
      if (words.is_name(name)) declared_.emplace(words[name]);
    }
    if (word == "using" && words[i + 2] == "=") declared_.emplace(words[i + 1]);
    if (word == "typedef") {
      std::size_t end = i;
      while (end < words.size() && words[end] != ";") ++end;
      if (words.is_name(end - 1)) declared_.emplace(words[end - 1]);
    }
    // `#define floatX float`
    const bool begins_macro = words.token(i).in_directive &&
                              (i == 0 || !words.token(i - 1).in_directive || words.line_of(i - 1) != words.line_of(i));
    if (begins_macro && words.is_name(i)) {
      const std::size_t end = behind_type(i + 1);
      const bool is_whole = end == words.size() || !words.token(end).in_directive ||
                            (end > i + 1 && words.line_of(end) != words.line_of(end - 1));
      if (end > i + 1 && words.token(i + 1).in_directive && is_whole) declared_.emplace(word);
    }
  }
}

bool KnownTypes::has(std::string_view name) const {
  return std::ranges::find(kWordsOfTypes, name) != kWordsOfTypes.end() ||
         std::ranges::find(kNamesOfTypes, name) != kNamesOfTypes.end() || is_vector(name) || declared_.contains(name);
}

std::size_t KnownTypes::behind_type(std::size_t begin, bool any) const {
  std::size_t i = begin;
  bool has_type = false;
  const auto skip_words = [&](std::initializer_list<std::string_view> which) {
    while (is_one_of(words_[i], which)) ++i;
  };
  skip_words({"const", "volatile", "typename", "struct", "class"});
  while (std::ranges::find(kWordsOfTypes, words_[i]) != kWordsOfTypes.end()) {
    has_type = true;
    ++i;
    skip_words({"const", "volatile"});
  }
  if (!has_type) {
    std::size_t last = i;
    for (;;) {
      if (words_[i] == ":" && words_[i + 1] == ":") i += 2;
      if (!words_.is_name(i)) return begin;
      last = i++;
      const std::size_t behind = words_.behind_angles(i);
      if (behind != i && (any || has(words_[last]) || (words_[behind] == ":" && words_[behind + 1] == ":"))) i = behind;
      if (words_[i] != ":" || words_[i + 1] != ":") break;
    }
    const bool is_marked = is_one_of(words_[begin], {"const", "volatile", "typename", "struct"});
    if (!any && !is_marked && !has(words_[last])) return begin;
  }
  skip_words({"const", "volatile"});
  return i;
}

}  // namespace troupe::host
