// The names of the kernels of the dnn family's .cu files. A kernel that is missing here cannot be asked for, and one
// that is missing there is the driver's error when it is.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

TROUPE_KERNELS(DnnPointwiseKernel, dnn_pointwise_kernels, dnn_activate, dnn_activate_gradient)
TROUPE_KERNELS(DnnConvolutionKernel, dnn_convolution_kernels, dnn_product)
TROUPE_KERNELS(DnnPoolingKernel, dnn_pooling_kernels, dnn_max_pool, dnn_max_pool_gradient, dnn_average_pool,
               dnn_average_pool_gradient)
TROUPE_KERNELS(DnnInterpolateKernel, dnn_interpolate_kernels, dnn_interpolate, dnn_interpolate_gradient)
TROUPE_KERNELS(DnnNormKernel, dnn_norm_kernels, dnn_norm, dnn_norm_whole, dnn_norm_gradient, dnn_norm_given,
               dnn_norm_sums)

}  // namespace troupe::cuda
