#include "bench/matrix/options.hpp"

#include <charconv>
#include <string_view>
#include <utility>

#include "bench/options.hpp"

namespace troupe::bench::matrix {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

Result<std::int64_t> bytes(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 1 || value > kMostBytes)
    return fail(ErrorKind::invalid_argument, "--max-bytes needs a number from 1 to " + std::to_string(kMostBytes) +
                                                 "; this is '" + std::string(text) + "'");
  return value;
}

Result<std::string> device(std::string_view text) {
  if (text != "host" && text != "cuda")
    return fail(ErrorKind::invalid_argument, "--device needs host or cuda; this is '" + std::string(text) + "'");
  return std::string(text);
}

}  // namespace

Result<Options> parse_options(std::span<char* const> arguments) {
  Options options;
  const std::pair<std::string_view, bool*> switches[] = {
      {"--help", &options.help}, {"--list", &options.list}, {"--quick", &options.quick}, {"--serve", &options.serve}};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    bool is_switch = false;
    for (const auto& [name, value] : switches)
      if (name == argument) is_switch = *value = true;
    if (is_switch) continue;
    if (argument != "--device" && argument != "--json" && argument != "--only" && argument != "--max-bytes")
      return fail(ErrorKind::invalid_argument, "unknown option " + std::string(argument) + "; --help lists all");
    if (++i == arguments.size()) return fail(ErrorKind::invalid_argument, std::string(argument) + " needs a value");
    if (argument == "--device") options.device = TROUPE_TRY(device(arguments[i]));
    if (argument == "--json") options.json_file = arguments[i];
    if (argument == "--only") options.selects = TROUPE_TRY(matcher(arguments[i]));
    if (argument == "--max-bytes") options.max_bytes = TROUPE_TRY(bytes(arguments[i]));
  }
  return options;
}

std::string help_text() {
  return "Measures our ops over types, layouts and sizes: our side of `./dev bench --torch`.\n"
         "\n"
         "  --device NAME    host (the default) or cuda\n"
         "  --only REGEX     only the rows whose id has a match, such as '^exp/f32' or '16MiB$'\n"
         "  --max-bytes N    no rows with arrays larger than this; 268435456 unless given, at most 1073741824\n"
         "  --json FILE      write the figures to FILE instead of printing them\n"
         "  --quick          3 short rounds: to see that it runs, not to quote\n"
         "  --serve          measure the rows whose ids come in on standard input, and answer each with a line\n"
         "  --list           print the rows as JSON, measure nothing\n"
         "  --help           print this\n";
}

}  // namespace troupe::bench::matrix
