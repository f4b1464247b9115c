// Sealed arrays on a real GPU: a kernel that writes there faults, and nothing is changed.
#include <thread>

#include "troupe/device/gpu_fixture.test.hpp"

namespace troupe {
namespace {

class GpuSeal : public GpuTest {
 protected:
  void SetUp() override {
    open_gpu();
    if (is_thread) GTEST_SKIP() << "needs worker processes";
  }
  Array<float> sealable(std::int64_t count, float with) {
    Array<float> array = value(gpu->sealable_array<float>({count}));
    value(gpu->fill(array, with).get());
    return array;
  }
  /// A kernel that writes what it should only read.
  Result<void> scribble(const Program& kernels, const Array<float>& over) {
    const auto count = static_cast<long long>(over.element_count());
    return gpu->jit().launch(kernels, "set", {.blocks = 4, .threads = 256}, count, 666.0f, reads(over)).get();
  }
};

TEST_F(GpuSeal, a_kernel_that_writes_there_faults_and_changes_nothing) {
  const Program kernels = program();
  const Array<float> other = filled(*gpu, {1000}, 5.0f);
  std::vector<Array<float>> weights;
  for (int i = 0; i < 7; ++i) {
    weights.push_back(sealable(100'000, static_cast<float>(i)));
    value(gpu->seal(weights.back()).get());
  }
  for (const Array<float>& array : weights) {
    const Result<void> end = scribble(kernels, array);
    ASSERT_EQ(kind_of(end), ErrorKind::context_poisoned) << (end ? "it succeeded" : end.error().to_string());
    EXPECT_EQ(end.error().origin().native_code, 700) << end.error().to_string();
  }
  for (int i = 0; i < 7; ++i)
    EXPECT_TRUE(all_equal(*gpu, weights[static_cast<std::size_t>(i)], static_cast<float>(i))) << i;
  EXPECT_TRUE(all_equal(*gpu, other, 5.0f)) << "everything else goes on";
  ASSERT_TRUE(scribble(kernels, other)) << "what is not sealed is written, and nobody notices";
  EXPECT_TRUE(all_equal(*gpu, other, 666.0f));
}

TEST_F(GpuSeal, can_be_broken_and_set_again_and_survives_workers) {
  const Program kernels = program();
  const Array<float> weights = sealable(100'000, 0.0f);
  for (int i = 1; i < 4; ++i) {
    value(gpu->seal(weights).get());
    EXPECT_EQ(kind_of(gpu->fill(weights, 9.0f).get()), ErrorKind::invalid_argument);
    kill_worker(*gpu);
    EXPECT_EQ(kind_of(scribble(kernels, weights)), ErrorKind::context_poisoned);
    value(gpu->unseal(weights).get());
    value(gpu->fill(weights, static_cast<float>(i)).get());
    EXPECT_TRUE(all_equal(*gpu, weights, static_cast<float>(i)));
  }
}

TEST_F(GpuSeal, does_not_disturb_ops_that_read_meanwhile) {
  constexpr std::int64_t kCount = 64 << 20;
  const Array<float> weights = sealable(kCount, 3.0f);
  const Array<float> to = value(gpu->array<float>({kCount}));
  std::jthread reader([&](const std::stop_token& stop) {  // on another lane, and without a break
    while (!stop.stop_requested()) ASSERT_TRUE(gpu->blas().dot(weights, weights).get());
  });
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(gpu->copy(weights, to).submit());
    value((round % 2 == 0 ? gpu->seal(weights) : gpu->unseal(weights)).get());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(gpu->copy(weights, to).submit());
  }
  reader.request_stop();
  reader.join();
  EXPECT_TRUE(all_equal(*gpu, to, 3.0f));
  EXPECT_EQ(gpu->generation(), 1);
}

}  // namespace
}  // namespace troupe
