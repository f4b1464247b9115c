// As much JSON as tools and tests need: it reads values and quotes text. Numbers are kept as they were spelled, so that
// no digit of a 64-bit integer is lost. Text is bytes: each byte outside of printable ASCII is written as \u00XX, and
// no escape above \u00ff is read.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

/// A value that was read.
class Json {
 public:
  enum class Type { null, boolean, number, text, list, object };

  /// `invalid_argument`, with the place, for what is not JSON or is nested more than 64 deep.
  static Result<Json> parse(std::string_view text);

  Type type() const noexcept { return type_; }
  bool boolean() const noexcept { return spelling_ == "true"; }
  /// A number's digits, or a text's content.
  const std::string& spelling() const noexcept { return spelling_; }
  const std::vector<Json>& list() const noexcept { return list_; }
  const std::vector<std::pair<std::string, Json>>& members() const noexcept { return members_; }
  /// Null when there is no such member.
  const Json* find(std::string_view name) const noexcept;

 private:
  friend class JsonParser;
  Type type_ = Type::null;
  std::string spelling_;
  std::vector<Json> list_;
  std::vector<std::pair<std::string, Json>> members_;
};

/// `text` as a JSON string, quotes included.
std::string json_quoted(std::string_view text);

}  // namespace troupe::inline v0
