#include "bench/actors/options.hpp"

#include <charconv>
#include <string_view>
#include <utility>

#include "bench/options.hpp"

namespace troupe::bench::actors {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kMaxRounds = 1000;

Result<int> number(std::string_view option, std::string_view text, int at_most) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 1 || value > at_most)
    return fail(ErrorKind::invalid_argument, std::string(option) + " needs numbers from 1 to " +
                                                 std::to_string(at_most) + "; this is '" + std::string(text) + "'");
  return value;
}

Result<std::vector<int>> numbers(std::string_view option, std::string_view text, int at_most) {
  std::vector<int> all;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    all.push_back(TROUPE_TRY(number(option, text.substr(0, comma), at_most)));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return all;
}

}  // namespace

Result<Options> parse_options(std::span<char* const> arguments, int cores) {
  Options options;
  const std::pair<std::string_view, bool*> switches[] = {
      {"--help", &options.help}, {"--list", &options.list}, {"--quick", &options.quick}, {"--smoke", &options.smoke}};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    bool is_switch = false;
    for (const auto& [name, value] : switches)
      if (name == argument) is_switch = *value = true;
    if (is_switch) continue;
    if (argument != "--threads" && argument != "--rounds" && argument != "--json" && argument != "--only")
      return fail(ErrorKind::invalid_argument, "unknown option " + std::string(argument) + "; --help lists all");
    if (++i == arguments.size()) return fail(ErrorKind::invalid_argument, std::string(argument) + " needs a value");
    if (argument == "--threads") options.threads = TROUPE_TRY(numbers(argument, arguments[i], kMaxThreads));
    if (argument == "--rounds") options.rounds = TROUPE_TRY(number(argument, arguments[i], kMaxRounds));
    if (argument == "--json") options.json_file = arguments[i];
    if (argument == "--only") options.selects = TROUPE_TRY(matcher(arguments[i]));
  }
  if (options.threads.empty())
    for (const int threads : {1, 2, 4, 8, 16})
      if (threads <= cores || threads == 1) options.threads.push_back(threads);
  return options;
}

std::string help_text() {
  return "Measures our actors, CAF's and Asio's in one run and prints where we lose first.\n"
         "\n"
         "  --threads LIST  threads of the pool, such as 1,2,16; unless given, those of 1, 2, 4, 8, 16 there are cores "
         "for\n"
         "  --json FILE     also write the figures to FILE as JSON\n"
         "  --only REGEX    only the rows whose name has a match\n"
         "  --rounds N      so many rounds of each row instead of 5\n"
         "  --quick         a fifth of the operations and 3 rounds: to see that it runs, not to quote\n"
         "  --smoke         each program once, as small as it can be: whether messages are lost or come twice\n"
         "  --list          print the rows, measure nothing\n"
         "  --help          print this\n";
}

}  // namespace troupe::bench::actors
