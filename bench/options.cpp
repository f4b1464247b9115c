#include "bench/options.hpp"

#include <regex.h>  // not std::regex, which g++ 12 cannot compile without a warning under a sanitizer

#include <algorithm>
#include <charconv>
#include <memory>

namespace troupe::bench {

Result<std::function<bool(const std::string&)>> matcher(const char* pattern) {
  regex_t compiled;
  if (const int problem = ::regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB); problem != 0) {
    char sentence[128];
    ::regerror(problem, &compiled, sentence, sizeof sentence);
    return fail(ErrorKind::invalid_argument, std::string("--only ") + pattern + ": " + sentence);
  }
  // Shared because a std::function is copied with what it holds.
  const std::shared_ptr<regex_t> regex(new regex_t(compiled), [](regex_t* owned) {
    ::regfree(owned);
    delete owned;
  });
  return [regex](const std::string& name) { return ::regexec(regex.get(), name.c_str(), 0, nullptr, 0) == 0; };
}

std::function<Result<void>(const char*)> matcher_into(std::function<bool(const std::string&)>& selects) {
  return [&selects](const char* pattern) -> Result<void> {
    selects = TROUPE_TRY(matcher(pattern));
    return {};
  };
}

std::function<Result<void>(const char*)> text_into(std::string& text) {
  return [&text](const char* value) -> Result<void> {
    text = value;
    return {};
  };
}

Result<std::int64_t> number(std::string_view option, std::string_view text, std::int64_t at_most) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 1 || value > at_most)
    return fail(ErrorKind::invalid_argument, std::string(option) + " needs a number from 1 to " +
                                                 std::to_string(at_most) + "; this is '" + std::string(text) + "'");
  return value;
}

Result<void> parse(std::span<char* const> arguments, std::span<const Switch> switches, std::span<const Valued> valued) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (const auto found = std::ranges::find(switches, argument, &Switch::name); found != switches.end()) {
      *found->value = true;
      continue;
    }
    const auto found = std::ranges::find(valued, argument, &Valued::name);
    if (found == valued.end())
      return fail(ErrorKind::invalid_argument, "unknown option " + std::string(argument) + "; --help lists all");
    if (++i == arguments.size()) return fail(ErrorKind::invalid_argument, std::string(argument) + " needs a value");
    TROUPE_TRY(found->take(arguments[i]));
  }
  return {};
}

Result<Options> parse_options(std::span<char* const> arguments) {
  Options options;
  const Switch switches[] = {{"--help", &options.help},
                             {"--list", &options.list},
                             {"--check", &options.check},
                             {"--quick", &options.quick},
                             {"--gpu", &options.gpu}};
  const Valued valued[] = {{"--json", text_into(options.json_file)},
                           {"--raw-fault", text_into(options.raw_fault_gpu)},
                           {"--only", matcher_into(options.selects)}};
  TROUPE_TRY(parse(arguments, switches, valued));
  return options;
}

std::string help_text() {
  return "Measures ours and the references in one run and prints a table.\n"
         "\n"
         "  --gpu          the rows of a GPU, beside raw CUDA, and no others\n"
         "  --json FILE    also write the table to FILE as JSON\n"
         "  --check        exit with 1 when a row misses its limit, and name these rows on standard error\n"
         "  --only REGEX   only the rows whose name has a match\n"
         "  --quick        a tenth of the operations and 3 rounds: to see that it runs, not to quote\n"
         "  --list         print the rows and their limits, measure nothing\n"
         "  --help         print this\n";
}

}  // namespace troupe::bench
