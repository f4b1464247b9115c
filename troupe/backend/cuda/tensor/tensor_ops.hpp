// What the GPU does for the ops of op/tensor.hpp.
// Each function puts its op on the lane's stream and returns; the views lie in mapped memory.
#pragma once

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::cuda {

Result<void> run_op(const op::UnaryOp& op, const LaneTools& on);
Result<void> run_op(const op::BinaryOp& op, const LaneTools& on);
Result<void> run_op(const op::TernaryOp& op, const LaneTools& on);
Result<void> run_op(const op::Reduce& op, const LaneTools& on);
Result<void> run_op(const op::Contract& op, const LaneTools& on);
Result<void> run_op(const op::Evaluate& op, const LaneTools& on);
Result<void> run_op(const op::EvaluateReduce& op, const LaneTools& on);

}  // namespace troupe::cuda
