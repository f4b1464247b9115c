#include "troupe/backend/host/jit/kernel_flags.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace troupe::host {
namespace {

/// What means something to a GPU's compiler alone; with a value behind `=` or without.
constexpr std::array<std::string_view, 26> kOfGpus{"-fmad",
                                                   "--fmad",
                                                   "-ftz",
                                                   "--ftz",
                                                   "-prec-div",
                                                   "--prec-div",
                                                   "-prec-sqrt",
                                                   "--prec-sqrt",
                                                   "-maxrregcount",
                                                   "--maxrregcount",
                                                   "-extra-device-vectorization",
                                                   "--extra-device-vectorization",
                                                   "-restrict",
                                                   "--restrict",
                                                   "-rdc",
                                                   "--relocatable-device-code",
                                                   "-default-device",
                                                   "--device-as-default-execution-space",
                                                   "-dopt",
                                                   "--dopt",
                                                   "-diag-suppress",
                                                   "--diag-suppress",
                                                   "-ewp",
                                                   "--extensible-whole-program",
                                                   "-split-compile",
                                                   "--split-compile"};

std::string_view name_of(std::string_view word) { return word.substr(0, word.find('=')); }

std::string from_folder(const std::string& path, const std::string& folder) {
  return path.starts_with('/') ? path : folder + "/" + path;
}

/// The standard, but none that our headers are too new for.
std::optional<std::string> standard_of(std::string_view name) {
  if (name == "c++03" || name == "c++11" || name == "c++14" || name == "c++17") return "-std=gnu++17";
  if (name == "c++20") return "-std=gnu++20";
  if (name == "c++23") return "-std=gnu++23";
  return std::nullopt;
}

/// "NAME" or "NAME=VALUE", as a line.
std::string define(std::string macro) {
  const std::size_t equals = macro.find('=');
  if (equals == std::string::npos) return "#define " + macro + " 1\n";
  macro[equals] = ' ';
  return "#define " + macro + "\n";
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  char quote = 0;
  bool is_inside = false;
  for (const char c : text) {
    const bool is_quote = quote != 0 ? c == quote : c == '"' || c == '\'';
    const bool is_blank = quote == 0 && (c == ' ' || c == '\t');
    if (is_quote) quote = quote != 0 ? '\0' : c;
    if (!is_blank && !is_inside) words.emplace_back();
    is_inside = !is_blank;
    if (is_inside && !is_quote) words.back() += c;
  }
  return words;
}

Result<CpuFlags> cpu_flags(std::string_view flags, const std::string& folder) {
  CpuFlags all;
  const std::vector<std::string> words = words_of(flags);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string_view name = name_of(word);
    // With its value in the same word, behind the name or behind `=`, or in the next one.
    const auto value = [&](std::string_view short_name, std::string_view long_name) -> std::optional<std::string> {
      if (name == long_name && word.size() > name.size()) return word.substr(name.size() + 1);
      if (word != short_name && word != long_name)
        return !short_name.empty() && word.starts_with(short_name) ? std::optional(word.substr(short_name.size()))
                                                                   : std::nullopt;
      return i + 1 < words.size() ? std::optional(words[++i]) : std::nullopt;
    };
    if (const auto path = value("-include", "--pre-include")) {
      all.words.insert(all.words.end(), {"-include", from_folder(*path, folder)});
    } else if (const auto macro = value("-D", "--define-macro")) {
      all.macros += define(*macro);
    } else if (const auto undefined = value("-U", "--undefine-macro")) {
      all.macros += "#undef " + *undefined + "\n";
    } else if (const auto path_of_headers = value("-I", "--include-path")) {
      all.words.push_back("-I" + from_folder(*path_of_headers, folder));
    } else if (name == "-std" || name == "--std") {
      const std::optional<std::string> standard = standard_of(std::string_view(word).substr(name.size() + 1));
      if (!standard) return fail(ErrorKind::invalid_argument, "there is no such C++: " + word);
      all.words.push_back(*standard);
    } else if (word == "-use_fast_math" || word == "--use_fast_math") {
      all.macros += define("__USE_FAST_MATH__");
    } else if (word == "-w" || word == "--disable-warnings") {
      all.words.push_back("-w");
    } else if (word == "-G" || word == "--device-debug") {
      all.words.insert(all.words.end(), {"-O0", "-g"});
    } else if (word == "-lineinfo" || word == "--generate-line-info") {
      all.words.push_back("-g");
    } else if (std::ranges::find(kOfGpus, name) == kOfGpus.end()) {
      return fail(ErrorKind::invalid_argument,
                  "kernels on the CPU know no flag " + word +
                      "; they take those of NVRTC that name macros, headers, the language and warnings");
    }
  }
  return all;
}

}  // namespace troupe::host
