// Dense solvers as data: factorizations, linear systems, least squares, singular values and eigenvalues.
// Each op writes its verdict, one word for each matrix: 0 when all went well, else where it did not.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::op {

using SolverOps = OpList<>;

}  // namespace troupe::op
