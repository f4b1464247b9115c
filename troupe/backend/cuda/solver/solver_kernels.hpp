// The names of the kernels in solver_kernels.cu. A kernel that is missing here cannot be asked for, and one that is
// missing there is the driver's error when it is.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

TROUPE_KERNELS(SolverKernel, solver_kernels, identity, keep_triangle, fail_matrices, check_diagonal, check_rank,
               check_finite, find_not_finite, determinant, form_q, conjugate, addresses, give_pivots, take_pivots,
               give_verdict)

}  // namespace troupe::cuda
