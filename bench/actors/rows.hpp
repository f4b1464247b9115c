// The rows of the benchmark: which program, how large, and what it shows. docs/bench-actors.md says what each one
// means.
#pragma once

#include <string>
#include <vector>

#include "bench/actors/programs.hpp"

namespace troupe::bench::actors {

/// One of the figures that a program returns; in all of them, less is better.
struct Shown {
  /// Empty where the row has only one.
  std::string name;
  std::string unit;
};

struct Row {
  std::string name;
  Program Programs::* program = nullptr;
  std::vector<Shown> figures;
  int count = 0;
  /// Just enough to see that nothing is lost and nothing comes twice.
  int smoke_count = 0;
  /// Not 0: with so many threads, whatever was asked for.
  int threads = 0;
};

std::vector<Row> all_rows();

}  // namespace troupe::bench::actors
