// A sample alone, or at any place of a batch, and with any team: the same bits.
#include <cstring>

#include "troupe/backend/host/dnn/dnn_layers.test.hpp"

namespace troupe::host {
namespace {

/// One sample of a batch, as a batch of one.
op::View sample_of(const op::View& batch, std::int64_t n) {
  op::View sample = batch;
  sample.address += static_cast<std::uint64_t>(n * batch.strides[0] * size_bytes(batch.dtype));
  sample.shape[0] = 1;
  return sample;
}

class DnnInvariance : public ::testing::Test {
 protected:
  static constexpr std::int64_t kBatch = 5;

  /// `make(x, y)` makes the op of a batch of any size. By a team the whole batch, then each sample by one thread.
  template <class Make>
  void expect_invariant(const std::string& what, const Shape& x_shape, const Shape& y_shape, const Make& make) {
    const op::View x = memory_.random(x_shape), y = memory_.empty(y_shape), alone = memory_.empty(y_shape);
    run_layer(make(x, y), memory_.here(team_));
    for (std::int64_t n = 0; n < kBatch; ++n) run_layer(make(sample_of(x, n), sample_of(alone, n)), memory_.here());
    const auto bytes = static_cast<std::size_t>(op::element_count(y)) * sizeof(float);
    EXPECT_EQ(std::memcmp(memory_.here().data<float>(y), memory_.here().data<float>(alone), bytes), 0) << what;
  }

  Team team_{3};
  LayerMemory memory_{DType::f32};
};

TEST_F(DnnInvariance, of_convolutions) {
  const op::View w = memory_.random({70, 20, 3, 3}), bias = memory_.random({70});
  const op::DnnWindow window{.stride = {1, 1, 1}, .before = {1, 1, 0}, .after = {1, 1, 0}, .dilation = {1, 1, 1}};
  expect_invariant("convolution", {kBatch, 40, 25, 23}, {kBatch, 70, 25, 23},
                   [&](const op::View& x, const op::View& y) {
                     op::DnnConvolve op;
                     op.window = window;
                     op.groups = 2;
                     op.has_bias = true;
                     op.activation = DnnActivation::gelu;
                     op.x = x;
                     op.w = w;
                     op.bias = bias;
                     op.y = y;
                     return op;
                   });
  expect_invariant("convolution_input", {kBatch, 70, 25, 23}, {kBatch, 40, 25, 23},
                   [&](const op::View& dy, const op::View& dx) {
                     op::DnnConvolveInput op;
                     op.window = window;
                     op.groups = 2;
                     op.y = dy;
                     op.w = w;
                     op.x = dx;
                     return op;
                   });
}

TEST_F(DnnInvariance, of_norms_pools_and_interpolation) {
  const Shape x_shape{kBatch, 6, 31, 37};
  const op::View mean = memory_.random({6}), scale = memory_.random({6}), line = memory_.random({37});
  expect_invariant("layer_norm", x_shape, x_shape, [&](const op::View& x, const op::View& y) {
    op::DnnLayerNorm op;
    op.has_scale = true;
    op.x = x;
    op.scale = line;
    op.y = y;
    return op;
  });
  expect_invariant("group_norm", x_shape, x_shape, [&](const op::View& x, const op::View& y) {
    op::DnnGroupNorm op;
    op.groups = 3;
    op.has_scale = true;
    op.x = x;
    op.scale = scale;
    op.y = y;
    return op;
  });
  expect_invariant("batch_norm", x_shape, x_shape, [&](const op::View& x, const op::View& y) {
    op::DnnBatchNorm op;
    op.epsilon = 2;
    op.x = x;
    op.mean = mean;
    op.variance = scale;
    op.y = y;
    return op;
  });
  op::DnnPool pool;
  pool.adaptive = 1;
  expect_invariant("average_pool", x_shape, {kBatch, 6, 7, 5}, [&](const op::View& x, const op::View& y) {
    return op::DnnAveragePool{.pool = pool, .counts_padding = true, .x = x, .y = y};
  });
  expect_invariant("max_pool", x_shape, {kBatch, 6, 7, 5}, [&](const op::View& x, const op::View& y) {
    return op::DnnMaxPool{.pool = pool, .has_indices = false, .x = x, .y = y, .indices = {}};
  });
  expect_invariant("interpolate", x_shape, {kBatch, 6, 50, 60}, [&](const op::View& x, const op::View& y) {
    return op::DnnInterpolate{.way = DnnInterpolation::cubic, .aligns_corners = false, .x = x, .y = y};
  });
}

TEST_F(DnnInvariance, of_recurrent_layers) {
  // A GRU of one layer: x and y are [tokens, batch, ...], so samples are seen by permuted views.
  constexpr std::int64_t kTokens = 9, kFeatures = 21, kHidden = 35;
  std::vector<op::Argument> weights;
  for (const Shape& shape : {Shape{3 * kHidden, kFeatures}, Shape{3 * kHidden, kHidden}})
    weights.push_back({op::Access::read, memory_.random(shape)});
  const auto by_tokens = [](op::View view) {
    std::swap(view.shape[0], view.shape[1]);
    std::swap(view.strides[0], view.strides[1]);
    return view;
  };
  op::RecurrentTerms terms;
  terms.cell = detail::Recurrent::gru;
  const op::View kept = memory_.empty({1, kTokens, kBatch, 5 * kHidden});
  expect_invariant("gru", {kBatch, kTokens, kFeatures}, {kBatch, kTokens, kHidden},
                   [&](const op::View& x, const op::View& y) {
                     op::DnnRecurrent op;
                     op.terms = terms;
                     op.x = by_tokens(x);
                     op.weights = weights;
                     op.y = by_tokens(y);
                     return op;
                   });
  // What is kept of a sample is told by the batch's axis.
  op::DnnRecurrent keep;
  keep.terms = terms;
  keep.keeps = true;
  keep.x = memory_.random({kTokens, kBatch, kFeatures});
  keep.weights = weights;
  keep.y = memory_.empty({kTokens, kBatch, kHidden});
  keep.kept = kept;
  run_layer(keep, memory_.here(team_));
  std::int64_t sample = 0;
  expect_invariant("gru_gradient", {kBatch, kTokens, kHidden}, {kBatch, kTokens, kFeatures},
                   [&](const op::View& dy, const op::View& dx) {
                     op::DnnRecurrentGradient op;
                     op.terms = terms;
                     op.dy = by_tokens(dy);
                     op.dx = by_tokens(dx);
                     op.x = keep.x;
                     op.weights = weights;
                     op.kept = kept;
                     if (dy.shape[0] == 1) {
                       const auto at = static_cast<std::uint64_t>(sample++) * sizeof(float);
                       op.x.address += at * kFeatures;
                       op.kept.address += at * 5 * kHidden;
                       op.x.shape[1] = op.kept.shape[2] = 1;
                     }
                     return op;
                   });
}

TEST_F(DnnInvariance, of_the_gradient_of_recurrent_weights_to_the_team) {
  op::DnnRecurrent forward;
  forward.keeps = true;
  forward.x = memory_.random({11, 6, 21});
  forward.weights = {{op::Access::read, memory_.random({140, 21})}, {op::Access::read, memory_.random({140, 35})}};
  forward.y = memory_.empty({11, 6, 35});
  forward.kept = memory_.empty({1, 11, 6, 175});
  run_layer(forward, memory_.here(team_));
  op::DnnRecurrentGradient backward;
  backward.dy = memory_.random({11, 6, 35});
  backward.x = forward.x;
  backward.weights = forward.weights;
  backward.kept = forward.kept;
  backward.dx = memory_.empty({11, 6, 21});
  std::vector<op::View> by_team, by_one;
  for (const op::Argument& of : forward.weights) {
    by_team.push_back(memory_.empty(of.view.shape));
    by_one.push_back(memory_.empty(of.view.shape));
  }
  for (auto* const made : {&by_team, &by_one}) {
    backward.dweights = {{op::Access::write, made->front()}, {op::Access::write, made->back()}};
    run_layer(backward, made == &by_team ? memory_.here(team_) : memory_.here());
  }
  for (std::size_t i = 0; i < by_one.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(op::element_count(by_one[i])) * sizeof(float);
    EXPECT_EQ(std::memcmp(memory_.here().data<float>(by_team[i]), memory_.here().data<float>(by_one[i]), bytes), 0);
  }
}

TEST_F(DnnInvariance, of_the_gradient_of_filters_to_the_team) {
  const op::View x = memory_.random({kBatch, 40, 15, 13}), dy = memory_.random({kBatch, 70, 15, 13});
  const op::View by_team = memory_.empty({70, 40, 3, 3}), by_one = memory_.empty({70, 40, 3, 3});
  op::DnnConvolveFilter op;
  op.window = {{1, 1, 1}, {1, 1, 0}, {1, 1, 0}, {1, 1, 1}};
  op.x = x;
  op.y = dy;
  op.w = by_team;
  run_layer(op, memory_.here(team_));
  op.w = by_one;
  run_layer(op, memory_.here());
  const auto bytes = static_cast<std::size_t>(op::element_count(by_one)) * sizeof(float);
  EXPECT_EQ(std::memcmp(memory_.here().data<float>(by_team), memory_.here().data<float>(by_one), bytes), 0);
}

}  // namespace
}  // namespace troupe::host
