// What the host does for the ops of op/solver.hpp, by LAPACK: the matrices of a batch are shared out, see batches.hpp.
// `unsupported` when there is no LAPACK.
// Each function runs its op to its end; the views lie in mapped memory.
#pragma once

#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/op/solver.hpp"

namespace troupe::host {

// linear_systems.cpp
Result<void> run_op(const op::Solve& op, const HostViews& here);
Result<void> run_op(const op::Inverse& op, const HostViews& here);
Result<void> run_op(const op::Determinant& op, const HostViews& here);
Result<void> run_op(const op::Lu& op, const HostViews& here);
Result<void> run_op(const op::LuSolve& op, const HostViews& here);
Result<void> run_op(const op::Cholesky& op, const HostViews& here);
Result<void> run_op(const op::CholeskySolve& op, const HostViews& here);
// qr_and_spectra.cpp
Result<void> run_op(const op::Qr& op, const HostViews& here);
Result<void> run_op(const op::LeastSquares& op, const HostViews& here);
Result<void> run_op(const op::Svd& op, const HostViews& here);
Result<void> run_op(const op::Eigh& op, const HostViews& here);

}  // namespace troupe::host
