// Multiplication with an epilogue as data: d = epilogue(alpha a b + beta c), in one pass over the result.
// Nothing about how it is done is in the op: which of a library's algorithms runs is a worker's own business.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::op {

using MatmulOps = OpList<>;

}  // namespace troupe::op
