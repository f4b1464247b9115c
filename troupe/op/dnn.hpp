// The ops of the dnn family, all topics. An op says what to compute on which memory, and nothing about how: the
// backends know that.
#pragma once

#include "troupe/op/dnn_convolution.hpp"
#include "troupe/op/dnn_interpolate.hpp"
#include "troupe/op/dnn_norm.hpp"
#include "troupe/op/dnn_pointwise.hpp"
#include "troupe/op/dnn_pooling.hpp"

namespace troupe::inline v0::op {

/// In the order of op/dnn_family.hpp.
using DnnOps = JoinedOps<DnnPointwiseOps, DnnConvolutionOps, DnnPoolingOps, DnnNormOps, DnnInterpolateOps>::type;

}  // namespace troupe::inline v0::op
