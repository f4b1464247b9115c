#include "bench/matrix/options.hpp"

#include <string_view>

#include "bench/options.hpp"

namespace troupe::bench::matrix {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

Result<std::string> device(std::string_view text) {
  if (text != "host" && text != "cuda")
    return fail(ErrorKind::invalid_argument, "--device needs host or cuda; this is '" + std::string(text) + "'");
  return std::string(text);
}

}  // namespace

Result<Options> parse_options(std::span<char* const> arguments) {
  Options options;
  const Switch switches[] = {
      {"--help", &options.help}, {"--list", &options.list}, {"--quick", &options.quick}, {"--serve", &options.serve}};
  const Valued valued[] = {{"--device",
                            [&](const char* name) -> Result<void> {
                              options.device = TROUPE_TRY(device(name));
                              return {};
                            }},
                           {"--max-bytes",
                            [&](const char* text) -> Result<void> {
                              options.max_bytes = TROUPE_TRY(number("--max-bytes", text, kMostBytes));
                              return {};
                            }},
                           {"--json", text_into(options.json_file)},
                           {"--only", matcher_into(options.selects)}};
  TROUPE_TRY(parse(arguments, switches, valued));
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
