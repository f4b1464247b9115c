// The names of the kernels in memory_kernels.cu, for elements of a size, and cast_kernels.cu, for the type of the
// input; the name says that of the output.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

TROUPE_KERNELS(MemoryKernel, memory_kernels, copy, permute, permute_words)
/// In the order of `DType`.
TROUPE_KERNELS(CastKernel, cast_kernels, to_f64, to_f32, to_f16, to_bf16, to_f8e4m3, to_f8e5m2, to_i8, to_u8, to_i16,
               to_i32, to_u32, to_i64, to_u64, to_bool, to_c64, to_c128, to_u16)
static_assert(kKernelsIn<CastKernel> == kDTypes);

}  // namespace troupe::cuda
