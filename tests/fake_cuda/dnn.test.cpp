// The ops of the dnn family on their way to a GPU, without one: each must end well and launch what it is meant to.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

class DnnOnFakeGpu : public FakeGpu {
 protected:
  Array<float> zeros(const Shape& shape) {
    Array<float> array = value(gpu_.array<float>(shape));
    value(gpu_.fill(array, 0.0F).get());
    return array;
  }
  /// How many kernels are launched by the call.
  std::uint64_t launches_of(Call<void> call) {
    const std::uint64_t before = calls("cuLaunchKernel");
    const Result<void> end = std::move(call).get();
    EXPECT_TRUE(end) << end.error().to_string();
    return calls("cuLaunchKernel") - before;
  }

  Device gpu_ = open_gpu();
  Dnn dnn_ = gpu_.dnn();
};

TEST_F(DnnOnFakeGpu, an_activation_and_its_gradient_are_one_launch_each) {
  const Array<float> x = zeros({4, 6}), y = zeros({6, 4});
  EXPECT_EQ(launches_of(dnn_.activation(DnnActivation::mish, x, y.transpose())), 1U);
  EXPECT_EQ(launches_of(dnn_.activation_gradient(DnnActivation::mish, y.transpose(), x, x)), 1U);
}

TEST_F(DnnOnFakeGpu, a_convolution_and_its_gradients_are_one_launch_each_for_all_groups) {
  const Array<float> x = zeros({2, 4, 9, 9}), w = zeros({6, 2, 3, 3}), y = zeros({2, 6, 5, 5}), bias = zeros({6});
  const ConvolutionOptions steps{.stride = 2, .padding = 1, .groups = 2};
  ConvolutionOptions fused = steps;
  fused.bias = &bias;
  fused.addend = &y;
  const Array<float> sum = zeros({2, 6, 5, 5});
  EXPECT_EQ(launches_of(dnn_.convolution(x, w, sum, fused)), 1U);
  EXPECT_EQ(launches_of(dnn_.convolution_input_gradient(y, w, x, steps)), 1U);
  EXPECT_EQ(launches_of(dnn_.convolution_filter_gradient(x, y, w, steps)), 1U);
}

TEST_F(DnnOnFakeGpu, more_groups_than_a_launch_has_layers_are_several_launches) {
  const Array<float> x = zeros({1, 70'000, 1}), w = zeros({70'000, 1, 1}), y = zeros({1, 70'000, 1});
  EXPECT_EQ(launches_of(dnn_.convolution(x, w, y, {.groups = 70'000})), 2U);
}

TEST_F(DnnOnFakeGpu, pools_and_interpolation_are_one_launch_each) {
  const Array<float> x = zeros({2, 3, 8, 8}), y = zeros({2, 3, 4, 4});
  const Array<std::int64_t> indices = value(gpu_.array<std::int64_t>({2, 3, 4, 4}));
  EXPECT_EQ(launches_of(dnn_.max_pool(x, 2, y, {.indices = &indices})), 1U);
  EXPECT_EQ(launches_of(dnn_.max_pool_gradient(y, indices, 2, x)), 1U);
  EXPECT_EQ(launches_of(dnn_.adaptive_average_pool(x, y)), 1U);
  EXPECT_EQ(launches_of(dnn_.average_pool_gradient(y, 2, x)), 1U);
  EXPECT_EQ(launches_of(dnn_.interpolate(x, y, {.way = DnnInterpolation::cubic})), 1U);
  EXPECT_EQ(launches_of(dnn_.interpolate_gradient(y, x)), 1U);
}

TEST_F(DnnOnFakeGpu, norms_are_one_launch_and_their_gradients_one_more_for_the_parameters) {
  const Array<float> x = zeros({8, 6, 64}), y = zeros({8, 6, 64}), dx = zeros({8, 6, 64});
  const Array<float> scale = zeros({64}), dscale = zeros({64}), channels = zeros({6}), variance = zeros({6});
  EXPECT_EQ(launches_of(dnn_.layer_norm(x, y, {.scale = &scale})), 1U);
  EXPECT_EQ(launches_of(dnn_.layer_norm_gradient(y, x, dx, {.scale = &scale})), 1U);
  EXPECT_EQ(launches_of(dnn_.layer_norm_gradient(y, x, dx, {.scale = &scale, .dscale = &dscale})), 2U);
  EXPECT_EQ(launches_of(dnn_.group_norm(x, 2, y, {.scale = &channels})), 1U);
  EXPECT_EQ(launches_of(dnn_.batch_norm(x, channels, variance, y)), 1U);
  EXPECT_EQ(launches_of(dnn_.batch_norm_training(x, y, {.running_mean = &channels, .running_variance = &variance})),
            1U);
}

TEST_F(DnnOnFakeGpu, an_empty_batch_is_no_launch) {
  const Array<float> x = value(gpu_.array<float>({0, 3, 8, 8})), w = zeros({4, 3, 3, 3});
  const Array<float> y = value(gpu_.array<float>({0, 4, 6, 6}));
  EXPECT_EQ(launches_of(dnn_.convolution(x, w, y)), 0U);
  const Array<float> normal = value(gpu_.array<float>({0, 3, 8, 8}));
  EXPECT_EQ(launches_of(dnn_.layer_norm(x, normal)), 0U);
}

}  // namespace
}  // namespace troupe
