// What the GPU does for the ops of op/dnn.hpp. Each function puts its op on the lane's stream and returns; the views
// lie in mapped memory.
#pragma once

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/dnn.hpp"

namespace troupe::cuda {

Result<void> run_op(const op::DnnActivate& op, const LaneTools& on);
Result<void> run_op(const op::DnnActivateGradient& op, const LaneTools& on);

}  // namespace troupe::cuda
