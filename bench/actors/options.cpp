#include "bench/actors/options.hpp"

#include <string_view>

#include "bench/options.hpp"

namespace troupe::bench::actors {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kMaxRounds = 1000;

Result<std::vector<int>> numbers(std::string_view option, std::string_view text, int at_most) {
  std::vector<int> all;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    all.push_back(static_cast<int>(TROUPE_TRY(number(option, text.substr(0, comma), at_most))));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return all;
}

}  // namespace

Result<Options> parse_options(std::span<char* const> arguments, int cores) {
  Options options;
  const Switch switches[] = {
      {"--help", &options.help}, {"--list", &options.list}, {"--quick", &options.quick}, {"--smoke", &options.smoke}};
  const Valued valued[] = {{"--threads",
                            [&](const char* text) -> Result<void> {
                              options.threads = TROUPE_TRY(numbers("--threads", text, kMaxThreads));
                              return {};
                            }},
                           {"--rounds",
                            [&](const char* text) -> Result<void> {
                              options.rounds = static_cast<int>(TROUPE_TRY(number("--rounds", text, kMaxRounds)));
                              return {};
                            }},
                           {"--json", text_into(options.json_file)},
                           {"--only", matcher_into(options.selects)}};
  TROUPE_TRY(parse(arguments, switches, valued));
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
