#include "bench/options.hpp"

#include <regex.h>  // not std::regex, which g++ 12 cannot compile without a warning under a sanitizer

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

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

Result<Options> parse_options(std::span<char* const> arguments) {
  Options options;
  const std::pair<std::string_view, bool*> switches[] = {{"--help", &options.help},
                                                         {"--list", &options.list},
                                                         {"--check", &options.check},
                                                         {"--quick", &options.quick},
                                                         {"--gpu", &options.gpu}};
  const std::pair<std::string_view, std::string*> texts[] = {{"--json", &options.json_file},
                                                             {"--raw-fault", &options.raw_fault_gpu}};

  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const auto* const is_switch = std::ranges::find(switches, argument, [](const auto& each) { return each.first; });
    if (is_switch != std::end(switches)) {
      *is_switch->second = true;
      continue;
    }
    const auto* const text = std::ranges::find(texts, argument, [](const auto& each) { return each.first; });
    if (text == std::end(texts) && argument != "--only") {
      return fail(ErrorKind::invalid_argument, "unknown option " + std::string(argument) + "; --help lists all");
    }
    if (++i == arguments.size()) {
      return fail(ErrorKind::invalid_argument, std::string(argument) + " needs a value");
    }
    if (text != std::end(texts)) {
      *text->second = arguments[i];
      continue;
    }
    options.selects = TROUPE_TRY(matcher(arguments[i]));
  }
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
