// One good normalization of each kind.
#include "troupe/op/dnn_norm.hpp"

#include "troupe/op/dnn.test.hpp"

namespace troupe::op {
namespace {

/// What the gradients have alike; `of` is the shape of the parameters.
template <class Op>
Op norm_gradient(Samples& add, const Shape& x, const Shape& of) {
  Op op;
  op.has_scale = op.gives_scale = op.gives_shift = true;
  op.dy = add.view(x);
  op.x = add.view(x);
  op.scale = add.view(of);
  op.dx = add.view(x);
  op.dscale = add.view(of);
  op.dshift = add.view(of);
  return op;
}

}  // namespace

void add_dnn_norm_samples(Samples& add) {
  const Shape x{2, 6, 3};
  const Shape channels{6};
  add(DnnBatchNorm{.epsilon = 1e-5,
                   .has_scale = true,
                   .has_shift = true,
                   .x = add.view(x),
                   .mean = add.view(channels),
                   .variance = add.view(channels),
                   .scale = add.view(channels),
                   .shift = add.view(channels),
                   .y = add.view(x)});
  add(DnnBatchNormTraining{.epsilon = 1e-5,
                           .momentum = 0.1,
                           .has_scale = true,
                           .has_shift = true,
                           .has_running = true,
                           .x = add.view(x),
                           .scale = add.view(channels),
                           .shift = add.view(channels),
                           .running_mean = add.view(channels),
                           .running_variance = add.view(channels),
                           .y = add.view(x)});
  add(norm_gradient<DnnBatchNormGradient>(add, x, channels));
  add(DnnGroupNorm{.groups = 2,
                   .epsilon = 1e-5,
                   .has_scale = true,
                   .has_shift = true,
                   .x = add.view(x),
                   .scale = add.view(channels),
                   .shift = add.view(channels),
                   .y = add.view(x)});
  auto group = norm_gradient<DnnGroupNormGradient>(add, x, channels);
  group.groups = 3;
  add(group);
  add(DnnLayerNorm{.axes = 2,
                   .centred = true,
                   .epsilon = 1e-5,
                   .has_scale = true,
                   .has_shift = true,
                   .x = add.view(x),
                   .scale = add.view({6, 3}),
                   .shift = add.view({6, 3}),
                   .y = add.view(x)});
  auto layer = norm_gradient<DnnLayerNormGradient>(add, x, {3});
  layer.centred = false;
  add(layer);
}

}  // namespace troupe::op
