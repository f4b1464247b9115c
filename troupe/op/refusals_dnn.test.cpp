// The rows of the table of refusals that are of layers of neural networks. refusals.test.cpp says what a row is.
#include <limits>

#include "troupe/op/dnn.hpp"
#include "troupe/op/dnn.test.hpp"

namespace troupe::op {
namespace {

using enum DType;

constexpr ErrorKind kUnsupported = ErrorKind::unsupported;

std::vector<Refusal> of_convolutions() {
  return {
      {bad<DnnConvolve>([](DnnConvolve& op) { op.window.stride[0] = 0; }),
       "convolution: stride is 0; it must be from 1 to 2147483647"},
      {bad<DnnConvolve>([](DnnConvolve& op) { op.window.after[1] = -1; }),
       "convolution: padding is -1; it must be from 0 to 2147483647"},
      {bad<DnnConvolve>([](DnnConvolve& op) { op.window.dilation[1] = std::int64_t{1} << 40; }),
       "convolution: dilation is 1099511627776; it must be from 1 to 2147483647"},
      {bad<DnnConvolve>([](DnnConvolve& op) { op.window.stride[2] = 2; }),
       "convolution: stride, padding and dilation are for 3 axes; behind the channels there are 2"},
      {bad<DnnConvolve>([](DnnConvolve& op) { reshape(op.x, {1, 4}); }),
       "convolution: x is [1, 4]; it must be [batch, channels, ...] with one to three axes behind the channels, and an "
       "element at least along each"},
      {bad<DnnConvolve>([](DnnConvolve& op) { op.groups = 0; }), "convolution: groups is 0; it must be 1 or more"},
      {bad<DnnConvolve>([](DnnConvolve& op) { op.groups = 3; }),
       "convolution: x is [1, 4, 5, 6] and has 4 channels; 3 groups do not divide them"},
      {bad<DnnConvolve>([](DnnConvolve& op) { op.groups = 4; }),
       "convolution: w is [6, 2, 3, 2] and has 6 filters; 4 groups do not divide them"},
      {bad<DnnConvolve>([](DnnConvolve& op) { op.groups = 1; }),
       "convolution: w is [6, 2, 3, 2]; with 4 channels of x in groups of 4 its second extent must be 4"},
      {bad<DnnConvolve>([](DnnConvolve& op) { reshape(op.w, {6, 2, 3}); }),
       "convolution: w is [6, 2, 3]; it must be [filters, channels / groups, ...] with as many axes as x, which is [1, "
       "4, 5, 6]"},
      {bad<DnnConvolve>([](DnnConvolve& op) { reshape(op.w, {6, 2, 3, 5}); }),
       "convolution: the filters reach over 9 elements along axis 3; x has 6 there, with padding 7"},
      {bad<DnnConvolve>([](DnnConvolve& op) { reshape(op.y, {1, 6, 3, 4}); }),
       "convolution: y is [1, 6, 3, 4]; it must be [1, 6, 3, 5]"},
      {bad<DnnConvolveInput>([](DnnConvolveInput& op) { reshape(op.x, {1, 4, 9, 6}); }),
       "transposed_convolution: y is [1, 4, 9, 6]; it must be [1, 4, 5, 6], or larger by less than the stride"},
      {bad<DnnConvolveInput>([](DnnConvolveInput& op) { reshape(op.y, {1, 5, 3, 5}); }),
       "transposed_convolution: x is [1, 5, 3, 5]; it must have 6 channels, as w has filters, and as many axes as y, "
       "which is [1, 4, 5, 6]"},
  };
}

std::vector<Refusal> of_pools() {
  return {
      {bad<DnnMaxPool>([](DnnMaxPool& op) { op.pool.extent[0] = 0; }),
       "max_pool: window is 0; it must be from 1 to 2147483647"},
      {bad<DnnMaxPool>([](DnnMaxPool& op) { op.pool.extent[2] = 2; }),
       "max_pool: window is for 3 axes; behind the channels there are 2"},
      {bad<DnnMaxPool>([](DnnMaxPool& op) { op.pool.extent[1] = 7; }),
       "max_pool: the window reaches over 7 elements along axis 3; x has 4 there, with padding 4"},
      {bad<DnnMaxPool>([](DnnMaxPool& op) { reshape(op.y, {1, 3, 3, 3}); }),
       "max_pool: y is [1, 3, 3, 3]; it must have as many axes, the batch and the channels of x, which is [1, 2, 6, "
       "4]"},
      {bad<DnnMaxPool>([](DnnMaxPool& op) { op.indices.dtype = f32; }),
       "max_pool: indices is f32; it must be i64 or i32", kUnsupported},
      {bad<DnnMaxPool>([](DnnMaxPool& op) { op.pool.adaptive = 2; }),
       "adaptive_max_pool: adaptive is 2; it must be 0 or 1"},
      {bad<DnnMaxPool>([](DnnMaxPool& op) { op.pool.adaptive = 1; }),
       "adaptive_max_pool: an adaptive pool has windows of its own; it takes no window, stride, padding or dilation"},
      {bad<DnnAveragePoolGradient>([](DnnAveragePoolGradient& op) { reshape(op.dy, {1, 2, 0, 3}); }),
       "adaptive_average_pool_gradient: dx is [1, 2, 6, 4] and dy is [1, 2, 0, 3]; axes behind the channels must have "
       "from 1 to 2147483647 elements"},
  };
}

std::vector<Refusal> of_norms() {
  return {
      {bad<DnnBatchNorm>([](DnnBatchNorm& op) { reshape(op.x, {6}); }),
       "batch_norm: x is [6]; it must be [batch, channels, ...]"},
      {bad<DnnBatchNorm>([](DnnBatchNorm& op) { op.epsilon = -1; }), "batch_norm: epsilon is -1; it must be 0 or more"},
      {bad<DnnBatchNorm>([](DnnBatchNorm& op) { op.variance.dtype = f64; }),
       "batch_norm: variance is f64; it must be f32"},
      {bad<DnnBatchNorm>([](DnnBatchNorm& op) {
         retype(f16, op.x, op.y);
         op.shift.dtype = f16;
       }),
       "batch_norm: mean is f32 and shift is f16; they must have the same type"},
      {bad<DnnBatchNorm>([](DnnBatchNorm& op) {
         retype(bf16, op.x, op.y);
         op.mean.dtype = f16;
       }),
       "batch_norm: mean is f16; it must be bf16 or f32"},
      {bad<DnnBatchNormTraining>([](DnnBatchNormTraining& op) { op.momentum = 1.5; }),
       "batch_norm_training: momentum is 1.5; it must be from 0 to 1"},
      {bad<DnnGroupNorm>([](DnnGroupNorm& op) { op.groups = 4; }),
       "group_norm: x is [2, 6, 3] and has 6 channels; 4 groups do not divide them"},
      {bad<DnnGroupNorm>([](DnnGroupNorm& op) { op.groups = -1; }), "group_norm: groups is -1; it must be 1 or more"},
      {bad<DnnLayerNorm>([](DnnLayerNorm& op) { op.axes = 4; }),
       "layer_norm: x is [2, 6, 3]; its last 4 axes cannot be normalized: there must be one at least, and as many in "
       "x"},
      {bad<DnnLayerNormGradient>([](DnnLayerNormGradient& op) { reshape(op.dscale, {6}); }),
       "rms_norm_gradient: dscale is [6]; it must be [3]"},
  };
}

std::vector<Refusal> of_elements() {
  return {
      {bad<DnnActivate>([](DnnActivate& op) { retype(i32, op.x, op.y); }),
       "leaky_relu: x is i32; it must be f32, f64, f16 or bf16", kUnsupported},
      {bad<DnnActivate>([](DnnActivate& op) { op.alpha = std::numeric_limits<double>::quiet_NaN(); }),
       "leaky_relu: alpha is NaN; it must be finite"},
      {bad<DnnActivateGradient>([](DnnActivateGradient& op) { op.dy.dtype = f64; }),
       "elu gradient: dy is f64; it must be f32"},
      {bad<DnnInterpolate>([](DnnInterpolate& op) { op.way = DnnInterpolation::nearest; }),
       "interpolate: aligns_corners is for linear and cubic; nearest has no corners"},
  };
}

}  // namespace

std::vector<Refusal> dnn_layer_refusals() {
  std::vector<Refusal> all;
  for (const std::vector<Refusal>& some : {of_convolutions(), of_pools(), of_norms(), of_elements()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace troupe::op
