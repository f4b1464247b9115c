// The names of the kernels of the dnn family's .cu files. A kernel that is missing here cannot be asked for, and one
// that is missing there is the driver's error when it is.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

TROUPE_KERNELS(DnnPointwiseKernel, dnn_pointwise_kernels, dnn_activate, dnn_activate_gradient)

}  // namespace troupe::cuda
