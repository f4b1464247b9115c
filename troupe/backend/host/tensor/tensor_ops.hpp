// What the host does for the ops of op/tensor.hpp.
// Each function runs its op to its end; the views lie in mapped memory.
#pragma once

#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::host {

Result<void> run_op(const op::UnaryOp& op, const HostViews& here);
Result<void> run_op(const op::BinaryOp& op, const HostViews& here);
Result<void> run_op(const op::TernaryOp& op, const HostViews& here);
Result<void> run_op(const op::Reduce& op, const HostViews& here);
Result<void> run_op(const op::Contract& op, const HostViews& here);
Result<void> run_op(const op::Evaluate& op, const HostViews& here);
Result<void> run_op(const op::EvaluateReduce& op, const HostViews& here);

}  // namespace troupe::host
