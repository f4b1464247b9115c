#if TROUPE_CUDA_BACKEND

// Iterations: not on a GPU yet. What is said here is what the user reads, so it says what to do instead.
#include <string>

#include "troupe/backend/cuda/sparse/sparse_ops.hpp"
#include "troupe/op/check.hpp"

namespace troupe::cuda {
namespace {

Unexpected refuse_iteration(std::string_view op_name) {
  return op::refuse_unsupported(op_name.substr(op_name.find('.') + 1),
                                "GPUs have no such op yet; solve on a device of the host backend, or write the loop "
                                "with a Scope (examples/41_conjugate_gradients.cpp)");
}

}  // namespace

Result<void> run_op(const op::SparseCg& op, const LaneTools&) { return refuse_iteration(op.kName); }
Result<void> run_op(const op::SparseBicgstab& op, const LaneTools&) { return refuse_iteration(op.kName); }
Result<void> run_op(const op::SparseGmres& op, const LaneTools&) { return refuse_iteration(op.kName); }
Result<void> run_op(const op::SparsePower& op, const LaneTools&) { return refuse_iteration(op.kName); }
Result<void> run_op(const op::SparseLanczos& op, const LaneTools&) { return refuse_iteration(op.kName); }
Result<void> run_op(const op::SparseJacobi& op, const LaneTools&) { return refuse_iteration(op.kName); }
Result<void> run_op(const op::SparseIlu0& op, const LaneTools&) { return refuse_iteration(op.kName); }
Result<void> run_op(const op::SparseIc0& op, const LaneTools&) { return refuse_iteration(op.kName); }

}  // namespace troupe::cuda

#endif
