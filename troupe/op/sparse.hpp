// Sparse matrices as data: their parts are arrays like any other, and a format says how to read them.
// Structure is checked where it lies, by an op of its own, before anything computes with it.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::op {

using SparseOps = OpList<>;

}  // namespace troupe::op
