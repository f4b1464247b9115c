#include "troupe/backend/host/jit/checked_source.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "troupe/backend/host/jit/checked_operand.hpp"
#include "troupe/backend/host/jit/checked_types.hpp"

namespace troupe::host {
namespace {

constexpr std::size_t kMostParameters = 31;  // whose sizes a launch gives as one argument
std::string pointer_to(const std::string& type, std::size_t stars) {
  return stars == 0 ? type : pointer_to("::troupe_pointer<" + type + ">", stars - 1);
}

class CheckedWriter {
 public:
  explicit CheckedWriter(std::string_view source) : source_(source), words_(source), types_(words_) {}

  Result<std::string> rewrite() {
    find_launched_types();
    for (at_ = 0; at_ < words_.size(); ++at_) {
      if (words_.token(at_).kind == Token::Kind::directive) continue;
      TROUPE_TRY(look_at(at_));
    }
    // Of several at one place, what is only put in comes first.
    std::multimap<std::pair<std::size_t, bool>, const Edit*> in_order;
    for (const Edit& edit : edits_) in_order.emplace(std::pair(edit.begin, edit.end != edit.begin), &edit);
    std::string text;
    std::size_t done = 0;
    for (const auto& [place, edit] : in_order) {
      if (edit->begin < done) continue;
      text += source_.substr(done, edit->begin - done);
      text += edit->text;
      done = edit->end;
    }
    text += source_.substr(done);
    return text + "\n";
  }

 private:
  struct Edit {
    std::size_t begin, end;  // in the source
    std::string text;
  };
  enum class Scope : std::uint8_t { names, c_names, members, launched_members, function };

  /// A type with stars behind it.
  struct Declarator {
    std::size_t begin = 0;  // of the type
    std::size_t star = 0;   // the first
    std::size_t next = 0;   // behind the stars and their words
    std::size_t stars = 0;
    bool is_const = false;  // the pointer itself
  };

  Unexpected refuse(const std::string& what, std::size_t i) const {
    return fail(ErrorKind::unsupported,
                "checked mode: line " + std::to_string(words_.line_of(i)) + " " + what + "; docs/gpu.md says more");
  }
  /// The lines of the source stay where they are.
  void replace(std::size_t first, std::size_t end, std::string by) {
    if (first >= end) return;
    const std::size_t from = words_.token(first).begin, to = words_.token(end - 1).end;
    for (const char c : source_.substr(from, to - from))
      if (c == '\n') by += '\n';
    edits_.push_back({from, to, std::move(by)});
  }
  void insert_behind(std::size_t i, std::string text) {
    edits_.push_back({words_.token(i).end, words_.token(i).end, std::move(text)});
  }
  void insert_before(std::size_t i, std::string text) {
    edits_.push_back({words_.token(i).begin, words_.token(i).begin, std::move(text)});
  }
  Scope scope() const { return scopes_.empty() ? Scope::names : scopes_.back().scope; }
  bool is_in_function() const { return scope() == Scope::function; }

  /// Structs that a launch passes by value keep their pointers as they are.
  void find_launched_types() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] != "__global__") continue;
      std::size_t open = i;
      while (open < words_.size() && !is_one_of(words_[open], {"(", ";", "{"})) open = next_of_head(open);
      for (std::size_t k = open; k < words_.behind_brackets(open); ++k)
        if (words_.is_name(k)) launched_types_.emplace(words_[k]);
    }
  }
  std::size_t next_of_head(std::size_t i) const {
    return is_one_of(words_[i], {"__launch_bounds__", "__attribute__", "__align__", "alignas", "__maxnreg__"})
               ? std::max(words_.behind_brackets(i + 1), i + 1)
               : i + 1;
  }

  Result<void> look_at(std::size_t i) {
    const std::string_view word = words_[i];
    const bool is_macro = words_.token(i).in_directive;
    if (!is_macro) follow(i);
    if (word == "__global__") {
      if (is_macro) return refuse("makes a kernel by a macro", i);
      return look_at_kernel(i);
    }
    if (is_one_of(word, {"using", "typedef"}) && !is_macro) {
      while (at_ + 1 < words_.size() && words_[at_ + 1] != ";") ++at_;
      return {};
    }
    if (is_one_of(word, {"sizeof", "alignof", "decltype"}) && words_[i + 1] == "(") {
      at_ = std::max(words_.behind_brackets(i + 1), i + 2) - 1;
      return {};
    }
    if (word == "template" && words_[i + 1] == "<") {
      at_ = std::max(words_.behind_angles(i + 1), i + 2) - 1;
      heads_template_ = words_[i + 2] != ">";
      return {};
    }
    if (!is_macro && !is_in_function() && word == "(") return look_at_parameters(i);
    if (word == "reinterpret_cast") return look_at_cast(i);
    if (word == "&") return look_at_address(i);
    if (word == "(") TROUPE_TRY(look_at_reference_cast(i));
    return look_at_type(i);
  }

  // ---- where we are ----

  struct OpenBrace {
    Scope scope = Scope::names;
    std::string behind;  // is put behind the brace that closes it
  };

  void follow(std::size_t i) {
    const std::string_view word = words_[i];
    if (word == "{") {
      scopes_.push_back({scope_opened_at(i), std::exchange(behind_body_, {})});
      heads_template_ = false;
    } else if (word == "}") {
      if (!scopes_.empty() && !scopes_.back().behind.empty()) insert_behind(i, scopes_.back().behind);
      if (!scopes_.empty()) scopes_.pop_back();
      heads_template_ = false;
    } else if (word == ";" && !is_in_function()) {
      heads_template_ = false;
      behind_body_.clear();
    }
  }
  Scope scope_opened_at(std::size_t i) const {
    std::size_t k = i;
    while (k > 0 && !is_one_of(words_[k - 1], {";", "{", "}"}) && !is_directive(k - 1)) --k;
    if (words_[k] == "extern" && words_[k + 1] == "\"C\"" && k + 2 == i) return Scope::c_names;
    std::size_t head = k;
    if (words_[head] == "template") head = std::max(words_.behind_angles(head + 1), head + 1);
    for (; head < i; ++head) {
      if (is_one_of(words_[head], {"namespace"})) return Scope::names;
      if (words_[head] == "(" || words_[head] == "=") break;
      if (is_one_of(words_[head], {"struct", "class", "union", "enum"})) {
        std::size_t name = head + 1;
        if (is_one_of(words_[name], {"alignas", "__align__", "__attribute__"})) name = words_.behind_brackets(name + 1);
        return launched_types_.contains(words_[name]) ? Scope::launched_members : Scope::members;
      }
    }
    return Scope::function;
  }
  bool is_directive(std::size_t i) const {
    return words_.token(i).kind == Token::Kind::directive || words_.token(i).in_directive;
  }

  // ---- kernels and the heads of functions ----

  Declarator declarator_at(std::size_t begin, bool any) const {
    Declarator found{.begin = begin};
    const std::size_t star = types_.behind_type(begin, any);
    if (star == begin || words_[star] != "*") return found;
    found.star = found.next = star;
    while (words_[found.next] == "*" || stands_behind_star(words_[found.next])) {
      if (words_[found.next] == "*") {
        ++found.stars;
        found.is_const = false;
      }
      if (words_[found.next] == "const") found.is_const = true;
      ++found.next;
    }
    return found;
  }
  std::string checked_type(const Declarator& d) const {
    const std::string type = words_.joined(d.begin, d.star);
    if (type == "auto") return std::string(d.is_const ? "const " : "") + type;
    return (d.is_const ? "const " : "") + pointer_to(type, d.stars);
  }

  Result<void> look_at_kernel(std::size_t i) {
    std::size_t open = i + 1;
    while (open < words_.size() && !is_one_of(words_[open], {"(", ";", "{"})) open = next_of_head(open);
    const std::size_t end = words_.behind_brackets(open);
    if (words_[open] != "(" || end == open) return {};
    if (std::ranges::any_of(scopes_, [](const OpenBrace& b) { return b.scope == Scope::c_names; }))
      return refuse("has a kernel in an extern \"C\" block, whose types a launch cannot see", i);
    std::string arrays;
    std::size_t number = 0, begin = open + 1;
    bool has_default = false;
    for (const std::size_t comma : words_.commas(open + 1, end - 1)) {
      if (begin < comma && words_.joined(begin, comma) != "void") {
        arrays += TROUPE_TRY(look_at_parameter(begin, comma, number, has_default));
        ++number;
      }
      begin = comma + 1;
    }
    at_ = end - 1;
    heads_template_ = false;
    if (arrays.empty()) return {};
    if (number > kMostParameters)
      return refuse("has a kernel with more than " + std::to_string(kMostParameters) + " parameters", i);
    insert_behind(end - 2, ", ::troupe_bounds<" + std::to_string(number) + "> troupe_sizes" +
                               (has_default ? " = {}" : "") + ", ::troupe_report* troupe_told" +
                               (has_default ? " = nullptr" : ""));
    if (words_[end] == "{") insert_behind(end, arrays);
    return {};
  }
  /// Renames a parameter that is a pointer, and gives what declares the checked one.
  Result<std::string> look_at_parameter(std::size_t begin, std::size_t end, std::size_t number, bool& has_default) {
    std::size_t last = begin;
    while (last < end && words_[last] != "=") ++last;
    has_default |= last < end;
    Declarator d = declarator_at(begin, true);
    std::size_t name = last - 1;
    if (d.stars == 0 && words_[last - 1] == "]") {  // `float x[]`
      while (name > begin && words_[name] != "[") --name;
      if (words_[name - 1] == "]") return refuse("has a kernel with an array of arrays as a parameter", begin);
      --name;
      d = {.begin = begin, .star = name, .next = name, .stars = 1};
    }
    if (d.stars == 0 || !words_.is_name(name) || name < d.next) return std::string();
    if (d.stars > 1 || name != d.next)
      return refuse(
          "has a kernel that takes the pointer " + std::string(words_[name]) + ", which is not to elements of an array",
          begin);
    const std::string given = "troupe_" + std::to_string(number);
    replace(name, name + 1, given);
    return " [[maybe_unused]] " + checked_type(d) + " " + std::string(words_[name]) + " = ::troupe_parameter(" + given +
           ", troupe_sizes.bytes[" + std::to_string(number) + "], \"" + std::string(words_[name]) + "\", troupe_told);";
  }

  /// The parameters of a function that is no kernel.
  Result<void> look_at_parameters(std::size_t open) {
    const std::size_t end = words_.behind_brackets(open);
    if (open == 0 || end == open) return {};
    if (is_one_of(words_[open - 1], {"__launch_bounds__", "__attribute__", "__align__", "alignas", "static_assert"})) {
      at_ = end - 1;
      return {};
    }
    if (!are_parameters(open)) return {};
    bool has_pointers = false;
    std::size_t begin = open + 1;
    for (const std::size_t comma : words_.commas(open + 1, end - 1)) {
      if (begin < comma) has_pointers |= rewrite_parameter(begin, comma);
      begin = comma + 1;
    }
    at_ = end - 1;
    std::size_t body = end;
    while (is_one_of(words_[body], {"const", "noexcept"})) ++body;
    const std::string name(words_[open - 1]);
    const std::string where = std::to_string(scopes_.size()) + " " + name;
    if (has_pointers && heads_template_ && scope() == Scope::names && words_.is_name(open - 1) &&
        (words_[body] == "{" || words_[body] == "-") && takes_plain_.insert(where).second)
      behind_body_ = " TROUPE_TAKES_PLAIN(" + name + ")";
    return {};
  }
  /// Else they belong to what a variable begins with, or a member.
  bool are_parameters(std::size_t open) const {
    for (std::size_t k = open; k-- > 0 && !is_one_of(words_[k], {";", "{", "}"}) && !is_directive(k);) {
      if (words_[k] == "=" || (words_[k] == ":" && words_[k - 1] != ":" && words_[k + 1] != ":")) return false;
      if (words_[k] == ">" && k > 0 && words_[k - 1] != "-") return true;  // of a template, which may have `=` in it
    }
    return true;
  }
  bool rewrite_parameter(std::size_t begin, std::size_t end) {
    const Declarator d = declarator_at(begin, true);
    if (d.stars != 0 && d.next <= end && words_[d.next] != "(") {
      replace(d.begin, d.next, checked_type(d) + " ");
      return true;
    }
    std::size_t last = begin;
    while (last < end && words_[last] != "=") ++last;
    if (last < begin + 4 || words_[last - 1] != "]") return false;
    std::size_t name = last - 1;
    while (name > begin && words_[name] != "[") --name;
    if (words_[name - 1] == "]" || !words_.is_name(name - 1) || words_[begin] == "auto" ||
        types_.behind_type(begin, true) != name - 1)
      return false;
    replace(begin, name - 1, "::troupe_pointer<" + words_.joined(begin, name - 1) + ">");
    replace(name, last, "");
    return true;
  }

  // ---- what stands in functions ----

  Result<void> look_at_type(std::size_t i) {
    if (words_.token(i).kind != Token::Kind::word && words_[i] != ":") return {};
    if (i > 0 && is_one_of(words_[i - 1],
                           {".", "operator", "const", "volatile", "typename", "unsigned", "signed", "long", "short"}))
      return {};
    if (i > 1 && words_[i - 1] == ":" && words_[i - 2] == ":") return {};
    if (i > 2 && words_[i - 1] == ">" && words_[i - 2] == "-" && words_[i - 3] != ")") return {};  // a member's name
    const bool begins = begins_statement(i);
    Declarator d = declarator_at(i, false);
    if (d.stars == 0 && begins) {
      d = declarator_at(i, true);
      if (!words_.is_name(d.next) || !is_one_of(words_[d.next + 1], {"=", ";", ",", "[", "(", "{", ":"})) return {};
    }
    if (d.stars == 0) return {};
    const std::string_view next = words_[d.next], before = i > 0 ? words_[i - 1] : std::string_view();
    if (next == ">") {
      if (before == "<" && i > 1 && is_one_of(words_[i - 2], {"static_cast", "const_cast"}))
        replace(i - 2, i - 1, "::troupe_cast");
      return {};
    }
    if (next == ")" && before == "(") {
      if (i > 1 && is_operand(i - 2)) return {};  // a function that takes a pointer and does not name it
      replace(i - 1, d.next + 1, "::troupe_cast<" + words_.joined(d.begin, d.next) + ">(");
      const Operand operand = operand_at(words_, types_, d.next + 1);
      if (operand.end == d.next + 1) return refuse("casts what is not understood here to a pointer", i);
      insert_behind(operand.end - 1, ")");
      casts_.insert(d.next);
      at_ = d.next;
      return {};
    }
    const bool is_named = words_.is_name(d.next);
    if (!is_named && !is_one_of(next, {"&", ")", ",", "{"})) return {};
    if (!is_in_function() && !words_.token(i).in_directive) {
      // A function's result and a member know their array; a variable of the program does not.
      std::size_t behind = d.next;
      while (words_.is_name(behind) || words_[behind] == ":") ++behind;
      if (words_[behind] != "(" && words_[behind] != "<" && scope() != Scope::members) return {};
    }
    replace(d.begin, d.next, checked_type(d) + " ");
    if (is_named && begins && is_in_function()) TROUPE_TRY(look_at_further_names(d.next, i));
    at_ = d.next - 1;
    return {};
  }
  bool begins_statement(std::size_t i) const {
    while (i > 0 && is_one_of(words_[i - 1], {"static", "constexpr", "register", "extern", "__shared__", "__device__",
                                              "inline", "__forceinline__", "__host__"}))
      --i;
    if (i == 0 || is_one_of(words_[i - 1], {";", "{", "}"})) return true;
    if (is_directive(i - 1) && !is_directive(i)) return true;
    return words_[i - 1] == "(" && i > 1 && is_one_of(words_[i - 2], {"for", "if", "while", "switch"});
  }
  /// `float *p = x, *q = y;`
  Result<void> look_at_further_names(std::size_t name, std::size_t first) {
    std::size_t end = name;
    while (end < words_.size() && words_[end] != ";" && words_[end] != ":" && words_[end] != ")") {
      const std::size_t behind = is_one_of(words_[end], {"(", "[", "{"}) ? words_.behind_brackets(end) : end;
      end = std::max(behind, end + 1);
    }
    for (const std::size_t comma : words_.commas(name, end)) {
      if (comma == end) break;
      std::size_t star = comma + 2;
      while (stands_behind_star(words_[star])) ++star;
      if (words_[comma + 1] != "*" || words_[star] == "*")
        return refuse("declares a pointer and something else at once; give each a declaration of its own", first);
      replace(comma + 1, star, "");
    }
    return {};
  }

  /// What stands before an operator that takes two, and no cast.
  bool is_operand(std::size_t i) const {
    if (casts_.contains(i)) return false;
    const Token::Kind kind = words_.token(i).kind;
    return words_.is_name(i) || kind == Token::Kind::number || kind == Token::Kind::text ||
           is_one_of(words_[i], {")", "]", "sizeof"});
  }

  /// Where a pointer is wanted to what the operand is an element of.
  void write_address(const Operand& operand) {
    const std::size_t close = words_.behind_brackets(operand.subscript) - 1;
    insert_before(operand.begin, "::troupe_address(");
    replace(operand.subscript, operand.subscript + 1, ", (");
    replace(close, close + 1, "))");
  }
  Result<void> look_at_address(std::size_t i) {
    if ((words_.touches(i) && words_[i - 1] == "&") || words_[i + 1] == "&") return {};
    if (i > 0 && is_operand(i - 1)) return {};
    const Operand operand = operand_at(words_, types_, i + 1);
    if (operand.end == i + 1) return {};
    if (operand.subscript == 0) {
      const bool is_cast = i > 1 && (casts_.contains(i - 1) || (words_[i - 1] == "(" && words_[i - 2] == ">"));
      if (words_.token(i).in_directive && is_cast)
        return refuse(
            "casts the address of what a macro is given, which cannot be checked; cast the pointer: "
            "reinterpret_cast<float4*>(x + i)",
            i);
      return {};
    }
    replace(i, i + 1, "");
    write_address(operand);
    return {};
  }

  Result<void> look_at_cast(std::size_t i) {
    const std::size_t open = words_.behind_angles(i + 1);
    if (open == i + 1 || words_[open] != "(") return {};
    if (words_[open - 2] != "&") {
      replace(i, i + 1, "::troupe_cast");
      at_ = open - 1;
      return {};
    }
    const Operand operand = operand_at(words_, types_, open + 1);
    if (operand.subscript == 0 || words_[operand.end] != ")") return {};
    replace(i, open + 1, "(*::troupe_cast<" + words_.joined(i + 2, open - 2) + "*>(");
    return cast_reference(operand, open, ")");
  }
  /// `(float4&)x[i]`
  Result<void> look_at_reference_cast(std::size_t i) {
    const std::size_t behind = types_.behind_type(i + 1);
    if (behind == i + 1 || words_[behind] != "&" || words_[behind + 1] != ")" || (i > 0 && is_operand(i - 1)))
      return {};
    const Operand operand = operand_at(words_, types_, behind + 2);
    if (operand.subscript == 0) return {};
    replace(i, behind + 2, "(*::troupe_cast<" + words_.joined(i + 1, behind) + "*>(");
    return cast_reference(operand, behind + 1, "))");
  }
  Result<void> cast_reference(const Operand& operand, std::size_t last, std::string closes) {
    write_address(operand);
    insert_behind(operand.end - 1, std::move(closes));
    at_ = last;
    return {};
  }

  std::string_view source_;
  SourceWords words_;
  KnownTypes types_;
  std::set<std::string, std::less<>> launched_types_;
  std::set<std::string> takes_plain_;
  std::set<std::size_t> casts_;  // where the parentheses of casts end
  std::vector<OpenBrace> scopes_;
  std::vector<Edit> edits_;
  std::string behind_body_;
  bool heads_template_ = false;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::string> checked_source(std::string_view source) { return CheckedWriter(source).rewrite(); }

}  // namespace troupe::host
