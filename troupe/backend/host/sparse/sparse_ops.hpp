// What the host does for the ops of op/sparse.hpp.
// Each function runs its op to its end; the views lie in mapped memory.
#pragma once

#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::host {

Result<void> run_op(const op::SparseAdopt& op, const HostViews& here);
Result<void> run_op(const op::SparseMultiply& op, const HostViews& here);
Result<void> run_op(const op::SparseSolve& op, const HostViews& here);
Result<void> run_op(const op::SparseSddmm& op, const HostViews& here);
Result<void> run_op(const op::SparseConvert& op, const HostViews& here);
Result<void> run_op(const op::SparseToDense& op, const HostViews& here);
Result<void> run_op(const op::SparseCountDense& op, const HostViews& here);
Result<void> run_op(const op::SparseFillDense& op, const HostViews& here);
Result<void> run_op(const op::SparseCountBlocks& op, const HostViews& here);
Result<void> run_op(const op::SparseFillBlocks& op, const HostViews& here);
Result<void> run_op(const op::SparseCountProduct& op, const HostViews& here);
Result<void> run_op(const op::SparseFillProduct& op, const HostViews& here);
Result<void> run_op(const op::SparseCg& op, const HostViews& here);
Result<void> run_op(const op::SparseBicgstab& op, const HostViews& here);
Result<void> run_op(const op::SparseGmres& op, const HostViews& here);
Result<void> run_op(const op::SparsePower& op, const HostViews& here);
Result<void> run_op(const op::SparseLanczos& op, const HostViews& here);
Result<void> run_op(const op::SparseJacobi& op, const HostViews& here);
Result<void> run_op(const op::SparseIlu0& op, const HostViews& here);
Result<void> run_op(const op::SparseIc0& op, const HostViews& here);

}  // namespace troupe::host
