#include "troupe/wire/backtrace.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

namespace troupe::inline v0::wire {
namespace {

constexpr std::size_t kLongName = 120;
constexpr std::size_t kMostFrames = 64;
/// A mangled name may refer to its own parts, and those to theirs, so that few bytes stand for terabytes of text. With
/// this many references it is a few megabytes at most; names of real functions have fewer.
constexpr int kMostReferences = 24;
/// What an expansion of a pack counts for: it repeats what is in it for each element.
constexpr int kExpansionCounts = 12;

/// How often a mangled name refers to its own parts (`S_`, `S4_`, `T_`, `T0_`) or expands a pack; rather too many.
int references_in(std::string_view symbol) {
  int count = 0;
  for (std::size_t i = 0; i + 1 < symbol.size(); ++i) {
    const std::string_view two = symbol.substr(i, 2);
    if (two == "Dp" || two == "sp") count += kExpansionCounts;
    if (symbol[i] != 'S' && symbol[i] != 'T') continue;
    std::size_t end = i + 1;
    while (end < symbol.size() && (std::isdigit(static_cast<unsigned char>(symbol[end])) != 0 ||
                                   std::isupper(static_cast<unsigned char>(symbol[end])) != 0))
      ++end;
    count += end < symbol.size() && symbol[end] == '_' ? 1 : 0;
  }
  return count;
}

/// "f<std::vector<int>, 3>(g<int>)" becomes "f<...>(g<...>)".
std::string without_template_arguments(std::string_view name) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_operator = out.ends_with("operator") || out.ends_with("operator<") || out.ends_with("operator-");
    if (name[i] == '<' && !is_operator && depth++ == 0) out += "<...>";
    if (depth == 0) out += name[i];
    if (name[i] == '>' && depth > 0) --depth;
  }
  return out;
}

/// One frame: "module+0x12(symbol)", "module+0x12" or an address. What is cut off has no closing bracket.
std::string readable_frame(std::string_view frame) {
  const std::size_t open = frame.find('(');
  if (open == std::string_view::npos) return std::string(frame);
  const std::string_view place = frame.substr(0, open);
  if (!frame.ends_with(')')) return std::string(place);
  return readable_symbol(std::string(frame.substr(open + 1, frame.size() - open - 2))) + ", " + std::string(place);
}

}  // namespace

std::string readable_symbol(const std::string& symbol) {
  if (!symbol.starts_with("_Z") || symbol.size() > kMaxSymbolBytes || references_in(symbol) > kMostReferences)
    return symbol.substr(0, kLongName);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                        std::free);
  std::string name = readable ? readable.get() : symbol;
  constexpr std::string_view kInline = "troupe::v0::";  // as nobody writes it
  for (std::size_t at = 0; (at = name.find(kInline, at)) != std::string::npos;)
    name.replace(at, kInline.size(), "troupe::");
  if (name.size() > kLongName) name = without_template_arguments(name);
  if (name.size() > kLongName) name.replace(kLongName, std::string::npos, "...");
  return name;
}

std::string readable_backtrace(std::string_view written) {
  std::string lines;
  for (std::size_t number = 0; number < kMostFrames; ++number) {
    const std::size_t end = written.find(kFrameSeparator);
    lines += "\n  #" + std::to_string(number) + " " + readable_frame(written.substr(0, end));
    if (end == std::string_view::npos) break;
    written.remove_prefix(end + kFrameSeparator.size());
  }
  return lines;
}

std::string_view without_backtrace(std::string_view message) noexcept { return message.substr(0, message.find('\n')); }

}  // namespace troupe::inline v0::wire
