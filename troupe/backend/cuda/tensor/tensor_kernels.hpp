// The names of the kernels in tensor_kernels.cu, tensor_expression_kernels.cu and tensor_reduce_kernels.cu. A kernel
// that is missing here cannot be asked for, and one that is missing there is the driver's error when it is.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

TROUPE_KERNELS(TensorKernel, tensor_kernels, unary, binary, ternary, permute)
TROUPE_KERNELS(ExpressionKernel, tensor_expression_kernels, evaluate)
TROUPE_KERNELS(ReduceKernel, tensor_reduce_kernels, reduce_threads, reduce_blocks, reduce_chunks, contract_threads,
               contract_blocks)

}  // namespace troupe::cuda
