// What the GPU does for the ops of op/matmul.hpp: cuBLASLt in one pass where it has an algorithm for the types and
// layouts; where not, a product by cuBLAS and its epilogue in a pass of our own. Each function puts its op on the
// lane's stream and returns; the views lie in mapped memory.
#pragma once

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/matmul.hpp"

namespace troupe::cuda {

Result<void> run_op(const op::Matmul& op, const LaneTools& on);
Result<void> run_op(const op::MatmulGradient& op, const LaneTools& on);

}  // namespace troupe::cuda
