// What the host does for the ops of op/blas.hpp: a BLAS where it is there and takes the layout, loops of our own, or a
// copy that it takes, where not. Each function runs its op to its end; the views lie in mapped memory. The app has
// checked the op; what could corrupt memory is checked once more and answers `invalid_argument`.
#pragma once

#include "troupe/backend/four_types.hpp"
#include "troupe/backend/host/blas/blas_kernels.hpp"
#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/op/blas.hpp"

namespace troupe::host {

inline Result<void> run_op(const op::Axpy& op, const HostViews& here) {
  return axpy(op.alpha, here(op.x), here(op.y), here.team());
}
Result<void> run_op(const op::Scal& op, const HostViews& here);
Result<void> run_op(const op::Rot& op, const HostViews& here);
Result<void> run_op(const op::Dot& op, const HostViews& here);
Result<void> run_op(const op::Measure& op, const HostViews& here);
Result<void> run_op(const op::Geam& op, const HostViews& here);
Result<void> run_op(const op::Gemm& op, const HostViews& here);
Result<void> run_op(const op::GemmGroup& op, const HostViews& here);
Result<void> run_op(const op::Symm& op, const HostViews& here);
Result<void> run_op(const op::Syrk& op, const HostViews& here);
Result<void> run_op(const op::Triangular& op, const HostViews& here);

using backend::visit_four;

}  // namespace troupe::host
