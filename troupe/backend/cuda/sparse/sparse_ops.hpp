// What the GPU does for the ops of op/sparse.hpp: cuSPARSE for what computes, kernels of our own for structures.
// Each function puts its op on the lane's stream and returns; the views lie in mapped memory.
#pragma once

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::cuda {

Result<void> run_op(const op::SparseAdopt& op, const LaneTools& on);
Result<void> run_op(const op::SparseMultiply& op, const LaneTools& on);
Result<void> run_op(const op::SparseSolve& op, const LaneTools& on);
Result<void> run_op(const op::SparseSddmm& op, const LaneTools& on);
Result<void> run_op(const op::SparseConvert& op, const LaneTools& on);
Result<void> run_op(const op::SparseToDense& op, const LaneTools& on);
Result<void> run_op(const op::SparseCountDense& op, const LaneTools& on);
Result<void> run_op(const op::SparseFillDense& op, const LaneTools& on);
Result<void> run_op(const op::SparseCountBlocks& op, const LaneTools& on);
Result<void> run_op(const op::SparseFillBlocks& op, const LaneTools& on);
Result<void> run_op(const op::SparseCountProduct& op, const LaneTools& on);
Result<void> run_op(const op::SparseFillProduct& op, const LaneTools& on);
Result<void> run_op(const op::SparseCg& op, const LaneTools& on);
Result<void> run_op(const op::SparseBicgstab& op, const LaneTools& on);
Result<void> run_op(const op::SparseGmres& op, const LaneTools& on);
Result<void> run_op(const op::SparsePower& op, const LaneTools& on);
Result<void> run_op(const op::SparseLanczos& op, const LaneTools& on);
Result<void> run_op(const op::SparseJacobi& op, const LaneTools& on);
Result<void> run_op(const op::SparseIlu0& op, const LaneTools& on);
Result<void> run_op(const op::SparseIc0& op, const LaneTools& on);

}  // namespace troupe::cuda
