#include "tests/chaos/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

namespace troupe::chaos {
namespace {

constexpr const char* kHelp =
    "troupe_chaos: callers do checked work on a device while its workers are killed and crash.\n"
    "\n"
    "  --device D    host or cuda (host)\n"
    "  --seed S      the plan comes from it (1)\n"
    "  --faults N    how many faults (100)\n"
    "  --seconds T   stop after that time, whatever is left of the plan (no limit)\n"
    "  --callers C   callers that do nothing wrong (8)\n"
    "  --lanes L     family, dependency or single (as a device has them unless told)\n"
    "  --sandbox L   of the workers: none, standard or strict (as the device has it)\n"
    "  --verbose     show the log\n"
    "  --help        this\n"
    "\n"
    "Ends in 0 when every fault was injected and every count that must be 0 is 0.\n";

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

constexpr std::array<std::string_view, 3> kSandboxes{"none", "standard", "strict"};

bool read_sandbox(std::string_view text, std::optional<Sandbox>& sandbox) {
  const auto found = std::ranges::find(kSandboxes, text);
  if (found == kSandboxes.end()) return false;
  sandbox = static_cast<Sandbox>(found - kSandboxes.begin());
  return true;
}

constexpr std::array kLanes{std::pair<std::string_view, Lanes>("family", Lanes::per_family()),
                            std::pair<std::string_view, Lanes>("dependency", Lanes::by_dependency()),
                            std::pair<std::string_view, Lanes>("single", Lanes::single())};

bool read_lanes(std::string_view text, Lanes& lanes) {
  const auto found = std::ranges::find(kLanes, text, &std::pair<std::string_view, Lanes>::first);
  if (found == kLanes.end()) return false;
  lanes = found->second;
  return true;
}

std::string_view name_of(const Lanes& lanes) {
  for (const auto& [name, known] : kLanes)
    if (known.policy == lanes.policy) return name;
  return "";
}

bool read_option(std::string_view name, std::string_view text, Options& options) {
  if (name == "--device") return text == "host" || text == "cuda" ? (options.device = text, true) : false;
  if (name == "--seed") return read_number(text, options.seed);
  if (name == "--faults") return read_number(text, options.faults);
  if (name == "--seconds") return read_number(text, options.seconds);
  if (name == "--callers") return read_number(text, options.callers) && 1 <= options.callers && options.callers <= 64;
  if (name == "--lanes") return read_lanes(text, options.lanes);
  if (name == "--sandbox") return read_sandbox(text, options.sandbox);
  return false;
}

}  // namespace

std::optional<Options> read_options(int count, char** words, int& exit_code) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--help") {
      std::fputs(kHelp, stdout);
      exit_code = 0;
      return std::nullopt;
    }
    if (word == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (i + 1 >= count || !read_option(word, words[i + 1], options)) {
      std::fprintf(stderr, "%s: what is wanted there? See --help.\n", words[i]);
      exit_code = 2;
      return std::nullopt;
    }
    ++i;
  }
  return options;
}

std::string command_line(const Options& options) {
  std::string line = "troupe_chaos";
  if (options.device != "host") line += " --device " + options.device;
  line += " --seed " + std::to_string(options.seed) + " --faults " + std::to_string(options.faults) + " --callers " +
          std::to_string(options.callers);
  if (options.lanes.policy != Lanes().policy) line += " --lanes " + std::string(name_of(options.lanes));
  if (options.sandbox) line += " --sandbox " + std::string(kSandboxes[static_cast<std::size_t>(*options.sandbox)]);
  if (options.seconds != 0) line += " --seconds " + std::to_string(options.seconds);
  return line;
}

}  // namespace troupe::chaos
