// What the host does for the ops of op/blas.hpp.
// Each function runs its op to its end; the views lie in mapped memory.
#pragma once

#include "troupe/backend/host/blas_kernels.hpp"
#include "troupe/backend/host/host_places.hpp"
#include "troupe/op/blas.hpp"

namespace troupe::host {

inline Result<void> run_op(const op::Axpy& op, const HostPlaces& here) {
  return axpy(op.alpha, here(op.x), here(op.y));
}
inline Result<void> run_op(const op::Gemm& op, const HostPlaces& here) {
  return gemm(op.alpha, op.beta, here(op.a), here(op.b), here(op.c));
}

}  // namespace troupe::host
