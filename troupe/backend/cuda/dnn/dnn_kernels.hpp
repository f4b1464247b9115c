// The names of the kernels in dnn_kernels.cu. A kernel that is missing here cannot be asked for, and one that is
// missing there is the driver's error when it is.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

TROUPE_KERNELS(DnnKernel, dnn_kernels, scale)

}  // namespace troupe::cuda
