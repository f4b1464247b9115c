// Tensors as data: contraction, reduction, permutation and arithmetic element by element, of any rank.
// Views carry their strides, so permuting and broadcasting need no copies.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::op {

using TensorOps = OpList<>;

}  // namespace troupe::op
