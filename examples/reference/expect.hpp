// For the programs that show the public names one by one: what they say must hold, or the program fails and says which
// line does not. It needs no framework, so that a reader sees nothing but the names.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

inline void expect(bool holds, std::source_location at = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: this does not hold\n", at.file_name(), at.line());
  std::exit(1);  // NOLINT(concurrency-mt-unsafe): the examples are over
}
