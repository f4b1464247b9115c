// What the outcomes look like: a table for people, printed row by row as the figures come in, and JSON for programs.
// Both name the limit beside the figure, and every reference with its own figure, not only the best one.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "bench/bench.hpp"

namespace troupe::bench {

/// Prints the table's head; needs the names to come at most 48 columns wide.
void print_head(std::ostream& out);
/// Prints one row and a line for each of its references; flushes, because the next row takes seconds.
void print_outcome(std::ostream& out, const Outcome& outcome);
/// Prints how many rows were ok, missed, skipped and without a limit.
void print_summary(std::ostream& out, std::span<const Outcome> outcomes);

/// One JSON object: the machine, the compiler, whether it was a quick run, and the rows.
void write_json(std::ostream& out, std::span<const Outcome> outcomes, bool quick);

/// `ok`, `MISSED`, `skipped`, `printed`.
std::string to_string(Status status);
/// How we compare with that reference, in the words of the row's limit: `4.07x`, or `+2.1 us` for a distance.
std::string to_string_compared(const Outcome& outcome, int reference);
/// Three digits that matter: `1530`, `53.1`, `4.07`.
std::string to_string_rounded(double value);

}  // namespace troupe::bench
