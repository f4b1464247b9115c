// The command line of `./dev bench actors`: which rows, with how many threads, and where the figures go. It differs
// from that of `./dev bench`, whose rows have limits to keep and one number of threads.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "troupe/troupe.hpp"

namespace troupe::bench::actors {

struct Options {
  bool help = false;
  bool list = false;
  bool quick = false;
  bool smoke = false;
  /// 0: as many as usual.
  int rounds = 0;
  /// Those of 1, 2, 4, 8 and 16 that this machine has cores for, unless told.
  std::vector<int> threads;
  std::string json_file;
  /// Whether the row of this name is wanted.
  std::function<bool(const std::string& name)> selects = [](const std::string&) { return true; };
};

/// The options in `arguments` (without the program's name). Fails with `invalid_argument` and a sentence.
Result<Options> parse_options(std::span<char* const> arguments, int cores);

/// What `--help` prints.
std::string help_text();

}  // namespace troupe::bench::actors
