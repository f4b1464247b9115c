// The command line of `./dev bench`. Every file of rows gets these options, so that a quick run is quick everywhere and
// nobody invents a second way to say it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "troupe/core/result.hpp"

namespace troupe::bench {

struct Options {
  bool help = false;
  bool list = false;
  bool check = false;
  bool quick = false;
  /// The rows of a GPU, and no others.
  bool gpu = false;
  /// Whether the row of this name is wanted.
  std::function<bool(const std::string& name)> selects = [](const std::string&) { return true; };
  /// Where the JSON goes; empty for nowhere.
  std::string json_file;
  /// Set in the process that this program starts to see raw CUDA fail: on which GPU (see raw_fault.hpp).
  std::string raw_fault_gpu;

  /// How many operations a measurement makes: `count`, or a tenth of it in a quick run.
  int count(int full_count) const { return quick ? (full_count + 9) / 10 : full_count; }
  int rounds(int full_rounds = 7) const { return quick && full_rounds > 3 ? 3 : full_rounds; }
};

/// The options in `arguments` (without the program's name). Fails with `invalid_argument` and a sentence.
Result<Options> parse_options(std::span<char* const> arguments);

/// An option without a value, and one with a value: who takes it may refuse it.
struct Switch {
  std::string_view name;
  bool* value;
};
struct Valued {
  std::string_view name;
  std::function<Result<void>(const char* value)> take;
};
/// For every program here that has a command line. Fails with `invalid_argument` and a sentence.
Result<void> parse(std::span<char* const> arguments, std::span<const Switch> switches, std::span<const Valued> valued);

/// Takes a value as it is.
std::function<Result<void>(const char*)> text_into(std::string& text);
/// A whole number from 1 to `at_most`. Fails with `invalid_argument` and a sentence.
Result<std::int64_t> number(std::string_view option, std::string_view text, std::int64_t at_most);
/// A function that says whether a name has a match for the POSIX extended regular expression `pattern`, which was given
/// with --only. Fails with `invalid_argument` and a sentence.
Result<std::function<bool(const std::string&)>> matcher(const char* pattern);
/// Takes such a pattern.
std::function<Result<void>(const char*)> matcher_into(std::function<bool(const std::string&)>& selects);

/// What `--help` prints.
std::string help_text();

}  // namespace troupe::bench
