// The four ways to learn that an op is done: all of them pass the same tests.
#include "troupe/device/gpu_fixture.test.hpp"

namespace troupe {
namespace {

std::string name_of(CompletionPolicy policy) {
  constexpr std::array<const char*, 4> kNames{"timeline", "polled", "host_fn", "blocking"};
  return kNames[static_cast<std::size_t>(policy)];
}

class EveryCompletion : public GpuTest, public ::testing::WithParamInterface<CompletionPolicy> {
 protected:
  void SetUp() override {
    DeviceOptions options = patient();
    options.completion = GetParam();
    options.lanes = Lanes::per_family().prefer(op::Family::memory, 1);
    open_gpu(options);
  }
};
INSTANTIATE_TEST_SUITE_P(Gpu, EveryCompletion,
                         ::testing::Values(CompletionPolicy::timeline, CompletionPolicy::polled,
                                           CompletionPolicy::host_fn, CompletionPolicy::blocking),
                         [](const auto& param) { return name_of(param.param); });

TEST_P(EveryCompletion, answers_each_of_many_ops) {
  const Program kernels = program();
  const Array<float> sum = filled(*gpu, {100}, 0.0f);
  constexpr int kOps = 2000;
  for (int i = 0; i < kOps; ++i)
    ASSERT_TRUE(gpu->jit().launch(kernels, "add", {.blocks = 1, .threads = 128}, 100LL, 1.0f, updates(sum)).submit());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(gpu->nop().get());
  EXPECT_TRUE(all_equal(*gpu, sum, static_cast<float>(kOps)));
}

TEST_P(EveryCompletion, keeps_the_order_across_lanes) {
  const Array<float> a = filled(*gpu, {256, 256}, 0.0f);
  const Array<float> one = filled(*gpu, {256, 256}, 1.0f);
  const Array<float> b = filled(*gpu, {256, 256}, 0.0f);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(gpu->fill(a, static_cast<float>(i)).submit());
    ASSERT_TRUE(gpu->blas().axpy(1.0, one, a).submit());
    ASSERT_TRUE(gpu->copy(a, b).submit());
  }
  EXPECT_TRUE(all_equal(*gpu, b, 200.0f));
}

TEST_P(EveryCompletion, answers_with_an_error_after_a_fault) {
  if (is_thread) GTEST_SKIP() << "a thread's device is lost after a fault";
  const Program kernels = program();
  const Array<float> kept = filled(*gpu, {1000}, 4.0f);
  EXPECT_EQ(kind_of(gpu->jit().launch(kernels, "illegal", {}, reads(kept)).get()), ErrorKind::context_poisoned);
  EXPECT_TRUE(all_equal(*gpu, kept, 4.0f));
}

TEST_P(EveryCompletion, keeps_arrays_when_its_worker_is_killed) {
  if (is_thread) GTEST_SKIP() << "needs worker processes";
  const Array<float> kept = filled(*gpu, {1000}, 4.0f);
  kill_worker(*gpu);
  EXPECT_TRUE(all_equal(*gpu, kept, 4.0f));
}

}  // namespace
}  // namespace troupe
