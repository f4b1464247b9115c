// What `./dev bench actors` prints, with the rows that we lose at the head, where nobody overlooks them; and the same
// as JSON, for those who draw it.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "bench/actors/measure.hpp"

namespace troupe::bench::actors {

/// "112 ns", "70.3 ms": three digits or four, in the unit that fits.
std::string to_string(double value, const std::string& unit);

/// The table, with those that we lose first. `lines` are in that order.
void print_table(std::ostream& out, std::span<const Line> lines, const Sides& sides);

void write_json(std::ostream& out, std::span<const Line> lines, const Sides& sides, bool is_quick);

}  // namespace troupe::bench::actors
