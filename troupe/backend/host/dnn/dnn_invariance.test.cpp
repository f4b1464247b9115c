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
