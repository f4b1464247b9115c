// All rows of the comparison with PyTorch. rows.cpp is the one place that says which there are; PyTorch's side reads
// them as `--list` prints them.
#pragma once

#include <vector>

#include "bench/matrix/row.hpp"

namespace troupe::bench::matrix {

/// What the rows are for: a CPU gets no products that would take it minutes.
enum class Hardware { cpu, gpu };

std::vector<Row> all_rows(Hardware hardware);

}  // namespace troupe::bench::matrix
