// The names of the kernels in sparse_kernels.cu. A kernel that is missing here cannot be asked for, and one that is
// missing there is the driver's error when it is.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

TROUPE_KERNELS(SparseKernel, sparse_kernels, check_lines, report_lines, check_elements, report_elements, compress_rows,
               expand_rows, sum_up, count_blocks, check_diagonals, report_diagonal, fill_blocks, unblock_rows,
               count_dense, fill_dense, report_dense, to_dense, multiply_blocks, multiply_conjugated_blocks,
               sample_blocks, sort_lines, scale, conjugate)

}  // namespace troupe::cuda
