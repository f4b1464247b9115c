#include "troupe/core/json.hpp"

#include <cctype>

namespace troupe::inline v0 {

namespace {
constexpr int kMaxDepth = 64;
constexpr std::string_view kHexDigits = "0123456789abcdef";
}  // namespace

class JsonParser {
 public:
  explicit JsonParser(std::string_view text) noexcept : text_(text) {}

  Result<Json> whole() {
    Json json;
    if (!value(json, 0) || (skip_space(), at_ != text_.size()))
      return fail(ErrorKind::invalid_argument, "this is not JSON from byte " + std::to_string(at_) + " on");
    return json;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool next_is(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool value(Json& json, int depth) {
    skip_space();
    if (at_ >= text_.size() || depth > kMaxDepth) return false;
    switch (text_[at_]) {
      case '{': return object(json, depth);
      case '[': return list(json, depth);
      case '"': json.type_ = Json::Type::text; return text(json.spelling_);
      case 't':
      case 'f':
        json.type_ = Json::Type::boolean;
        json.spelling_ = text_[at_] == 't' ? "true" : "false";
        return word(json.spelling_);
      case 'n': return word("null");
      default: return number(json);
    }
  }
  bool object(Json& json, int depth) {
    json.type_ = Json::Type::object;
    ++at_;
    if (next_is('}')) return true;
    do {
      auto& [name, member] = json.members_.emplace_back();
      skip_space();
      if (!text(name) || !next_is(':') || !value(member, depth + 1)) return false;
    } while (next_is(','));
    return next_is('}');
  }
  bool list(Json& json, int depth) {
    json.type_ = Json::Type::list;
    ++at_;
    if (next_is(']')) return true;
    do {
      if (!value(json.list_.emplace_back(), depth + 1)) return false;
    } while (next_is(','));
    return next_is(']');
  }
  bool number(Json& json) {
    json.type_ = Json::Type::number;
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isdigit(static_cast<unsigned char>(text_[at_])) || std::string_view("+-.eE").contains(text_[at_])))
      ++at_;
    json.spelling_ = text_.substr(begin, at_ - begin);
    return at_ > begin;
  }
  bool text(std::string& out) {
    if (at_ >= text_.size() || text_[at_++] != '"') return false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') return ++at_, true;
      if (c != '\\') {
        out += c;
        continue;
      }
      if (++at_ >= text_.size() || !escaped(out)) return false;
    }
    return false;
  }
  bool escaped(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t which = kLetters.find(text_[at_]); which != std::string_view::npos) {
      out += kMeanings[which];
      return true;
    }
    if (text_[at_] != 'u' || at_ + 4 >= text_.size()) return false;
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
      const std::size_t digit =
          kHexDigits.find(static_cast<char>(std::tolower(static_cast<unsigned char>(text_[++at_]))));
      if (digit == std::string_view::npos) return false;
      code = 16 * code + static_cast<unsigned>(digit);
    }
    if (code > 0xff) return false;  // we write bytes only
    out += static_cast<char>(code);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Result<Json> Json::parse(std::string_view text) { return JsonParser(text).whole(); }

const Json* Json::find(std::string_view name) const noexcept {
  for (const auto& [key, member] : members_)
    if (key == name) return &member;
  return nullptr;
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += "\\u00";
      out += kHexDigits[byte >> 4];
      out += kHexDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace troupe::inline v0
