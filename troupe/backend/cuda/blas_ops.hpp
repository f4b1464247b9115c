// What the GPU does for the ops of op/blas.hpp: cuBLAS where it can, kernels of our own for the rest.
// Each function puts its op on the lane's stream and returns; the views lie in mapped memory.
#pragma once

#include "troupe/backend/cuda/op_tools.hpp"
#include "troupe/op/blas.hpp"

namespace troupe::cuda {

Result<void> run_op(const op::Axpy& op, const LaneTools& on);
Result<void> run_op(const op::Gemm& op, const LaneTools& on);

}  // namespace troupe::cuda
