// The ops of the dnn family on their way to a GPU, without one: each must end well and launch what it is meant to.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

TEST_F(FakeGpu, scale_of_dnn_is_one_launch) {
  Device gpu = open_gpu();
  const Array<float> x = value(gpu.array<float>({4, 6}));
  const Array<float> y = value(gpu.array<float>({6, 4}));
  value(gpu.fill(x, 1.0F).get());
  const std::uint64_t before = calls("cuLaunchKernel");
  const Result<void> end = gpu.dnn().scale(2.0, x, 1.0, y.transpose()).get();
  EXPECT_TRUE(end) << end.error().to_string();
  EXPECT_EQ(calls("cuLaunchKernel"), before + 1);
}

}  // namespace
}  // namespace troupe
