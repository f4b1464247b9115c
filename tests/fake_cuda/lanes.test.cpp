// Lanes over streams: the order between them, the four ways to learn that an op is done, lanes that are full.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

class FakeLanes : public FakeGpu, public ::testing::WithParamInterface<CompletionPolicy> {
 protected:
  static DeviceOptions with_policy(DeviceOptions options) {
    options.completion = GetParam();
    options.lanes = Lanes::per_family().prefer(op::Family::memory, 1);
    return options;
  }
};
std::string name_of(const ::testing::TestParamInfo<CompletionPolicy>& policy) {
  constexpr std::array kNames{"timeline", "polled", "host_fn", "blocking"};
  return kNames[static_cast<std::size_t>(policy.param)];
}
INSTANTIATE_TEST_SUITE_P(Fake, FakeLanes,
                         ::testing::Values(CompletionPolicy::timeline, CompletionPolicy::polled,
                                           CompletionPolicy::host_fn, CompletionPolicy::blocking),
                         name_of);

TEST_P(FakeLanes, answer_each_of_many_ops_and_keep_their_order) {
  {
    const Device gpu = open_gpu(with_policy(in_thread()));
    const Array<float> a = filled(gpu, {256}, 0.0f);
    const Array<float> b = filled(gpu, {256}, 0.0f);
    const Array<float> c = filled(gpu, {16, 16}, 0.0f);
    for (int i = 1; i <= 300; ++i) {
      ASSERT_TRUE(gpu.fill(a, static_cast<float>(i)).submit());
      ASSERT_TRUE(gpu.blas().scal(1.0, a).submit());  // another lane
      ASSERT_TRUE(gpu.copy(a, b).submit());
      ASSERT_TRUE(gpu.blas().gemm(c, c, value(gpu.array<float>({16, 16}))).submit());
    }
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(gpu.nop().get());
    EXPECT_TRUE(all_equal(gpu, b, 300.0f));
    EXPECT_GT(calls("cuStreamWaitValue32"), 0);
  }
  expect_all_gone();
}

TEST_P(FakeLanes, wait_for_what_they_read) {
  const Device gpu = open_gpu(with_policy(in_thread()));
  const Array<float> a = filled(gpu, {64}, 1.0f);
  const Array<float> b = filled(gpu, {64}, 1.0f);
  value(gpu.blas().axpy(1.0, a, b).get());  // all that is made on the way is made
  Held held;
  ASSERT_TRUE(gpu.fill(a, 5.0f).submit());
  ASSERT_TRUE(gpu.blas().scal(1.0, a).submit());
  ASSERT_TRUE(gpu.copy(a, b).submit());
  eventually([&] { return calls("cuStreamWaitValue32") >= 2 || calls("cuMemcpyAsync") > 1; });
  held.release();
  EXPECT_TRUE(all_equal(gpu, b, 5.0f));
}

TEST_P(FakeLanes, take_more_than_fits_on_them) {
  const Device gpu = open_gpu(with_policy(in_thread()));
  const Array<float> a = filled(gpu, {64}, 0.0f);
  Held held;
  const std::uint64_t before = calls("cuMemsetD32Async");
  for (int i = 1; i <= 400; ++i) ASSERT_TRUE(gpu.fill(a, static_cast<float>(i)).submit());
  eventually([&] { return calls("cuMemsetD32Async") - before >= 128; });
  EXPECT_LT(calls("cuMemsetD32Async") - before, 400) << "a lane takes no more than it has room for";
  held.release();
  EXPECT_TRUE(all_equal(gpu, a, 400.0f));
}

TEST_P(FakeLanes, end_what_is_under_way_when_the_device_is_closed) {
  Device gpu = open_gpu(with_policy(in_process()));
  const Array<float> a = filled(gpu, {64}, 0.0f);
  Held held;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(gpu.fill(a, 1.0f).submit());
  std::jthread caller([&] { EXPECT_EQ(kind_of(gpu.fill(a, 2.0f).get()), ErrorKind::stopped); });
  eventually([&] { return calls("cuMemsetD32Async") >= 12; });
  gpu.close();
  caller.join();
}

TEST_P(FakeLanes, skip_what_was_cancelled_before_it_began) {
  const Device gpu = open_gpu(with_policy(in_thread()));
  const Array<float> a = filled(gpu, {64}, 0.0f);
  Held held;
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(gpu.fill(a, 1.0f).submit());  // more than a lane takes
  std::stop_source nobody_wants_it;
  std::jthread caller([&] {
    EXPECT_EQ(kind_of(gpu.fill(a, 2.0f).cancel_on(nobody_wants_it.get_token()).get()), ErrorKind::cancelled);
  });
  nobody_wants_it.request_stop();
  caller.join();
  held.release();
  EXPECT_TRUE(all_equal(gpu, a, 1.0f));
}

TEST_P(FakeLanes, answer_with_an_error_after_a_fault_and_keep_the_memory) {
  const Device gpu = open_gpu(with_policy(in_process(Standby::warm)));
  const Array<float> kept = ramp(gpu, 1000);
  const Array<float> written = filled(gpu, {8}, 1.0f);
  const Program program = value(gpu.jit().compile(R"(extern "C" __global__ void illegal(float* a) {})").get());
  const Result<void> end = gpu.jit().launch(program, "illegal", {}, writes(written)).get();
  ASSERT_EQ(kind_of(end), ErrorKind::context_poisoned) << (end ? "it succeeded" : end.error().to_string());
  EXPECT_EQ(end.error().origin().native_code, 700);
  EXPECT_TRUE(is_ramp(gpu, kept));
  EXPECT_EQ(kind_of(gpu.read(written).get()), ErrorKind::buffer_tainted);
  EXPECT_GE(gpu.generation(), 2);
}

TEST_P(FakeLanes, do_what_was_behind_a_fault_in_another_worker) {
  DeviceOptions options = with_policy(in_process(Standby::warm));
  options.standbys = 2;
  const Device gpu = open_gpu(options);
  const Array<float> written = filled(gpu, {8}, 1.0f), copied = filled(gpu, {8}, 1.0f);
  const Program program = value(
      gpu.jit()
          .compile(R"(extern "C" __global__ void illegal(float* a) {} extern "C" __global__ void copy(float* a) {})")
          .get());
  for (int round = 0; round < 10; ++round) {
    (void)gpu.jit().launch(program, "illegal", {}, writes(written)).submit();  // it may have failed already
    const Result<void> end =
        gpu.jit().launch(program, "copy", {}, writes(copied)).wait_at_most(std::chrono::seconds(20)).get();
    EXPECT_TRUE(end) << end.error().to_string();
  }
}

TEST_P(FakeLanes, keep_the_memory_when_a_worker_is_killed) {
  const Device gpu = open_gpu(with_policy(in_process(Standby::warm)));
  const Array<float> kept = ramp(gpu, 1000);
  kill_worker(gpu);
  EXPECT_TRUE(is_ramp(gpu, kept));
}

}  // namespace
}  // namespace troupe
