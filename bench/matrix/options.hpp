// The command line of `troupe_bench_matrix`, our side of `./dev bench --torch`: which rows, on which device, and where
// the figures go.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "troupe/troupe.hpp"

namespace troupe::bench::matrix {

struct Options {
  bool help = false;
  bool list = false;
  bool quick = false;
  /// Measure the rows whose ids come in, line by line, and answer each at once.
  bool serve = false;
  std::string device = "host";
  std::string json_file;
  std::int64_t max_bytes = std::int64_t{256} << 20;
  /// Whether the row of this id is wanted.
  std::function<bool(const std::string& id)> selects = [](const std::string&) { return true; };
};

/// The options in `arguments` (without the program's name). Fails with `invalid_argument` and a sentence.
Result<Options> parse_options(std::span<char* const> arguments);

/// What `--help` prints.
std::string help_text();

}  // namespace troupe::bench::matrix
