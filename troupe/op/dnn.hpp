// The ops of the dnn family, all topics. An op says what to compute on which memory, and nothing about how: the
// backends know that.
#pragma once

#include "troupe/op/dnn_pointwise.hpp"

namespace troupe::inline v0::op {

/// In the order of op/dnn_family.hpp.
using DnnOps = JoinedOps<DnnPointwiseOps>::type;

}  // namespace troupe::inline v0::op
