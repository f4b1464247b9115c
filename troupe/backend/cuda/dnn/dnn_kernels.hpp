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
TROUPE_KERNELS(DnnSoftmaxKernel, dnn_softmax_kernels, dnn_softmax, dnn_softmax_short, dnn_softmax_gradient,
               dnn_softmax_gradient_short, dnn_cross_entropy, dnn_cross_entropy_short, dnn_cross_entropy_gradient,
               dnn_cross_entropy_gradient_short, dnn_entropy_shares)
TROUPE_KERNELS(DnnTrainingKernel, dnn_training_kernels, dnn_check_probabilities, dnn_loss, dnn_loss_gradient, dnn_sum,
               dnn_step, dnn_squares, dnn_embedding_gradient, dnn_dropout, dnn_small_step, dnn_embedding,
               dnn_check_indices, dnn_tell, dnn_measure, dnn_adjust_loss_scale)
TROUPE_KERNELS(DnnAttentionKernel, dnn_attention_kernels, dnn_attention, dnn_attention_products,
               dnn_attention_query_slopes, dnn_attention_key_slopes, dnn_rotary, dnn_append_tokens, dnn_check_offsets,
               dnn_check_table)
TROUPE_KERNELS(DnnRecurrentKernel, dnn_recurrent_kernels, dnn_recurrent_step, dnn_recurrent_slopes,
               dnn_recurrent_inputs, dnn_recurrent_sum)

}  // namespace troupe::cuda
