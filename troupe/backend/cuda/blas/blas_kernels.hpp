// The names of the kernels in blas_kernels.cu. A kernel that is missing here cannot be asked for, and one that is
// missing there is the driver's error when it is.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

TROUPE_KERNELS(BlasKernel, blas_kernels, scale, rotate, write_out, keep_half, find_zero, from_zero, put_pointers,
               gemm_i8)

}  // namespace troupe::cuda
