// What the host does for the ops of op/matmul.hpp: a product by `gemm`, and its epilogue in a second pass. The team
// takes the matrices of a batch, and of a matrix its tiles and rows. Each function runs
// its op to its end; the views lie in mapped memory.
#pragma once

#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/op/matmul.hpp"

namespace troupe::host {

Result<void> run_op(const op::Matmul& op, const HostViews& here);
Result<void> run_op(const op::MatmulGradient& op, const HostViews& here);

}  // namespace troupe::host
