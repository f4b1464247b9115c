// What the GPU does for the ops of op/solver.hpp, by cuSOLVER and cuBLAS. `unsupported` when one is not there.
// Each function puts its op on the lane's stream and returns; the views lie in mapped memory.
#pragma once

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/solver.hpp"

namespace troupe::cuda {

Result<void> run_op(const op::Solve& op, const LaneTools& on);
Result<void> run_op(const op::Inverse& op, const LaneTools& on);
Result<void> run_op(const op::Determinant& op, const LaneTools& on);
Result<void> run_op(const op::Lu& op, const LaneTools& on);
Result<void> run_op(const op::LuSolve& op, const LaneTools& on);
Result<void> run_op(const op::Cholesky& op, const LaneTools& on);
Result<void> run_op(const op::CholeskySolve& op, const LaneTools& on);
Result<void> run_op(const op::Qr& op, const LaneTools& on);
Result<void> run_op(const op::LeastSquares& op, const LaneTools& on);
Result<void> run_op(const op::Svd& op, const LaneTools& on);
Result<void> run_op(const op::Eigh& op, const LaneTools& on);

}  // namespace troupe::cuda
