// A row made ready on a device: its arrays are there, with numbers in them, and its op can be submitted again and
// again.
#pragma once

#include <functional>

#include "bench/matrix/row.hpp"

namespace troupe::bench::matrix {

/// Submits the op once more, or, when `is_last`, submits it and waits for its end and thereby for those before it.
using Prepared = std::function<Result<void>(bool is_last)>;

/// Fails when the device has not enough memory or does not do this op.
Result<Prepared> prepare(const Device& device, const Row& row);

}  // namespace troupe::bench::matrix
