// The names of the kernels of the tensor family's .cu files. A kernel that is missing here cannot be asked for, and one
// that is missing there is the driver's error when it is. Functions of elements have a kernel each.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_names.hpp"
#include "troupe/core/kinds.hpp"

namespace troupe::cuda {

/// In the order of `Unary`, up to the first that floats have not.
TROUPE_KERNELS(UnaryKernel, tensor_unary_kernels, identity, neg, conj, square, sqrt, rsqrt, reciprocal, exp, log, sin,
               cos, tanh, abs, sign, expm1, log1p, tan, erf, relu, sigmoid, silu, gelu, softplus, floor, ceil, round,
               gelu_tanh)
/// In the order of `Binary`, up to the first that floats have not, and then of `Ternary`.
TROUPE_KERNELS(BinaryKernel, tensor_binary_kernels, add, sub, mul, div, min, max, pow, fma, clamp, select)
TROUPE_KERNELS(WholeKernel, tensor_whole_kernels, whole_unary, whole_binary, compare)
/// In the order of their operands.
TROUPE_KERNELS(MixedKernel, tensor_mixed_kernels, mixed_unary, mixed_binary, mixed_ternary, mixed_compare)
TROUPE_KERNELS(ExpressionKernel, tensor_expression_kernels, evaluate)
TROUPE_KERNELS(ExpressionReduceKernel, expression_reduce_kernels, interpret_rows, interpret_columns, finish_reduce)
TROUPE_KERNELS(ReduceKernel, tensor_reduce_kernels, reduce_rows, reduce_columns, reduce_chunks)
TROUPE_KERNELS(WholeReduceKernel, tensor_whole_reduce_kernels, reduce_rows, reduce_columns, reduce_chunks)
TROUPE_KERNELS(ContractKernel, tensor_contract_kernels, contract_threads, contract_blocks)

/// Needs one that floats have.
constexpr UnaryKernel kernel_of(Unary function) noexcept { return static_cast<UnaryKernel>(function); }
constexpr BinaryKernel kernel_of(Binary function) noexcept { return static_cast<BinaryKernel>(function); }
constexpr BinaryKernel kernel_of(Ternary function) noexcept {
  return static_cast<BinaryKernel>(static_cast<int>(BinaryKernel::fma) + static_cast<int>(function));
}

}  // namespace troupe::cuda
