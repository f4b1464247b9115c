// The ops of the dnn family on their way to a GPU, without one: each must end well and launch what it is meant to.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

TEST_F(FakeGpu, an_activation_and_its_gradient_are_one_launch_each) {
  Device gpu = open_gpu();
  const Array<float> x = value(gpu.array<float>({4, 6}));
  const Array<float> y = value(gpu.array<float>({6, 4}));
  value(gpu.fill(x, 1.0F).get());
  value(gpu.fill(y, 1.0F).get());
  const std::uint64_t before = calls("cuLaunchKernel");
  EXPECT_TRUE(gpu.dnn().activation(DnnActivation::mish, x, y.transpose()).get());
  EXPECT_TRUE(gpu.dnn().activation_gradient(DnnActivation::mish, y.transpose(), x, x).get());
  EXPECT_EQ(calls("cuLaunchKernel"), before + 2);
}

}  // namespace
}  // namespace troupe
