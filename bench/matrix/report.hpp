// The rows as JSON: what they are, for whoever does the same with another library, and how long they took. A row is one
// line, so that it can be sent as soon as it is measured.
#pragma once

#include <string>

#include "bench/matrix/measure.hpp"
#include "bench/matrix/row.hpp"

namespace troupe::bench::matrix {

/// One line: all that another program needs to do the same.
std::string json_of(const Row& row);
/// One line: the row in short, and its figures; or why it has none.
std::string json_of(const Row& row, const Result<Measured>& measured);

}  // namespace troupe::bench::matrix
