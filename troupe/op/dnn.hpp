// The ops of the dnn family, all topics. An op says what to compute on which memory, and nothing about how: the
// backends know that.
#pragma once

#include "troupe/op/dnn_attention.hpp"
#include "troupe/op/dnn_convolution.hpp"
#include "troupe/op/dnn_interpolate.hpp"
#include "troupe/op/dnn_lookup.hpp"
#include "troupe/op/dnn_loss.hpp"
#include "troupe/op/dnn_norm.hpp"
#include "troupe/op/dnn_optimizer.hpp"
#include "troupe/op/dnn_pointwise.hpp"
#include "troupe/op/dnn_pooling.hpp"
#include "troupe/op/dnn_recurrent.hpp"
#include "troupe/op/dnn_softmax.hpp"

namespace troupe::inline v0::op {

/// In the order of op/dnn_training.hpp.
using DnnTrainingOps =
    JoinedOps<DnnSoftmaxOps, DnnLossOps, DnnOptimizerOps, DnnLookupOps, DnnAttentionOps, DnnRecurrentOps>::type;
/// In the order of op/dnn_family.hpp.
using DnnOps =
    JoinedOps<DnnPointwiseOps, DnnConvolutionOps, DnnPoolingOps, DnnNormOps, DnnInterpolateOps, DnnTrainingOps>::type;

}  // namespace troupe::inline v0::op
