// Faults on a real GPU: contexts are poisoned, kernels hang, workers are killed, and everybody but the culprit goes on.
#include <cstdio>

#include "troupe/device/gpu_fixture.test.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

class GpuRecovery : public GpuTest {
 protected:
  void SetUp() override {
    open_gpu();
    if (is_thread) GTEST_SKIP() << "needs worker processes";
  }
};

struct Fault {
  const char* kernel;
  int code;
};
class EveryGpuFault : public GpuRecovery, public ::testing::WithParamInterface<Fault> {};
INSTANTIATE_TEST_SUITE_P(Recovery, EveryGpuFault,
                         ::testing::Values(Fault{"illegal", 700}, Fault{"misaligned", 716}, Fault{"trap", 719},
                                           Fault{"failed_assert", 710}),
                         [](const auto& param) { return param.param.kernel; });

TEST_P(EveryGpuFault, costs_its_own_caller_and_nobody_else) {
  const Fault& fault = GetParam();
  const Program kernels = program();
  const Array<float> kept = filled(*gpu, {1000}, 4.0f);
  const Array<float> written = filled(*gpu, {10}, 1.0f);
  std::vector<Array<float>> others;
  for (int i = 0; i < 40; ++i) {  // others have ops before, beside and after it
    others.push_back(value(gpu->array<float>({1000})));
    ASSERT_TRUE(gpu->copy(kept, others.back()).submit());
    if (i != 20) continue;
    const auto began = Clock::now();
    const Result<void> end = gpu->jit().launch(kernels, fault.kernel, {}, writes(written)).get();
    std::printf("%s: its caller knows after %.1f ms\n", fault.kernel, ms_since(began));
    ASSERT_EQ(kind_of(end), ErrorKind::context_poisoned) << (end ? "it succeeded" : end.error().to_string());
    EXPECT_EQ(end.error().origin().native_code, fault.code) << end.error().to_string();
    EXPECT_EQ(end.error().origin().op, "jit.launch " + std::string(fault.kernel));
  }
  for (const Array<float>& other : others) EXPECT_TRUE(all_equal(*gpu, other, 4.0f));
  EXPECT_TRUE(all_equal(*gpu, kept, 4.0f));
  EXPECT_EQ(kind_of(gpu->read(written).get()), ErrorKind::buffer_tainted);
  ASSERT_TRUE(gpu->fill(written, 2.0f).get());
  EXPECT_TRUE(all_equal(*gpu, written, 2.0f));
  EXPECT_EQ(gpu->generation(), 2) << "a culprit costs one generation, though it is tried twice";
}

TEST_F(GpuRecovery, gives_every_op_around_a_fault_its_right_end) {
  const Program kernels = program();
  const Array<float> one = filled(*gpu, {4096}, 1.0f);
  constexpr int kOps = 300;
  std::vector<Array<float>> sums;
  std::vector<Task<Result<void>>> calls;
  for (int i = 0; i < kOps; ++i) sums.push_back(filled(*gpu, {4096}, 0.0f));
  for (int i = 0; i < kOps; ++i) {
    if (i == kOps / 2)
      calls.push_back(gpu->jit().launch(kernels, "illegal", {}, reads(one)));
    else if (i % 2 == 0)
      calls.push_back(gpu->copy(one, sums[static_cast<std::size_t>(i)]));
    else
      calls.push_back(gpu->jit().launch(kernels, "set", {.blocks = 4, .threads = 256}, 4096LL, 1.0f,
                                        writes(sums[static_cast<std::size_t>(i)])));
  }
  const std::vector<Result<void>> ends = value(system.run([](auto tasks) -> Task<Result<std::vector<Result<void>>>> {
    co_return co_await when_all(std::move(tasks));
  }(std::move(calls))));
  for (int i = 0; i < kOps; ++i) {
    const Result<void>& end = ends[static_cast<std::size_t>(i)];
    if (i == kOps / 2) {
      EXPECT_EQ(kind_of(end), ErrorKind::context_poisoned);
    } else {
      EXPECT_TRUE(end) << i << ": " << end.error().to_string();
      EXPECT_TRUE(all_equal(*gpu, sums[static_cast<std::size_t>(i)], 1.0f)) << i;
    }
  }
}

TEST_F(GpuRecovery, stops_a_kernel_that_hangs_when_its_deadline_has_passed) {
  const Program kernels = program();
  const Array<float> flag = filled(*gpu, {4}, 0.0f);
  const Array<float> untouched = filled(*gpu, {100}, 3.0f);
  const auto began = Clock::now();
  const Result<void> end = gpu->jit().launch(kernels, "hang", {}, updates(flag)).deadline(50ms).get();
  std::printf("a kernel that hangs, with a deadline of 50 ms: its caller knows after %.1f ms\n", ms_since(began));
  EXPECT_EQ(kind_of(end), ErrorKind::deadline_exceeded);
  EXPECT_TRUE(all_equal(*gpu, untouched, 3.0f));
  EXPECT_EQ(kind_of(gpu->read(flag).get()), ErrorKind::buffer_tainted);
}

TEST_F(GpuRecovery, lets_no_later_result_see_what_a_killed_kernel_still_writes) {
  const Program kernels = program();
  constexpr std::int64_t kCount = 1 << 24;
  const Array<float> array = filled(*gpu, {kCount}, 0.0f);
  const Array<float> other = filled(*gpu, {kCount}, 5.0f);
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(gpu->fill(array, 0.0f).get());
    ASSERT_TRUE(
        gpu->jit().launch(kernels, "empty", {}).get());  // a new worker loads the program, however long it takes
    const std::int64_t generation = gpu->generation();
    // The one that kills it is the device itself, so that the standby takes over before the kernel has stopped.
    std::jthread writer([&] {
      const Result<void> end =
          gpu->jit()
              .launch(kernels, "write_for_ever", {.blocks = 512, .threads = 256}, kCount, updates(array))
              .deadline(50ms)
              .get();
      EXPECT_EQ(kind_of(end), ErrorKind::deadline_exceeded);
    });
    eventually([&] { return gpu->generation() > generation; });
    const auto taken_over = Clock::now();
    ASSERT_TRUE(all_equal(*gpu, value(other.slice(0, 0, 1000)), 5.0f));
    const double standby_ms = ms_since(taken_over);
    ASSERT_TRUE(gpu->fill(array, 7.0f).get());
    const double fence_ms = ms_since(taken_over);
    const auto until = Clock::now() + 100ms;
    while (Clock::now() < until) ASSERT_TRUE(all_equal(*gpu, array, 7.0f)) << "something wrote after the fence";
    std::printf("killed while it writes: the standby works after %.2f ms, the array is writable after %.1f ms\n",
                standby_ms, fence_ms);
    EXPECT_LT(standby_ms, fence_ms);
  }
}

TEST_F(GpuRecovery, survives_a_worker_without_host_memory) {
  DeviceOptions small = patient();
  small.worker_memory_limit_bytes = std::uint64_t{8} << 30;
  const Device device = value(system.device("cuda", small));
  const Array<float> kept = filled(device, {1000}, 4.0f);
  const std::int64_t bytes = std::int64_t{64} << 20;
  const Result<void> end = bad(device, "memory_null", {}, std::as_bytes(std::span(&bytes, 1))).get();
  EXPECT_EQ(kind_of(end), ErrorKind::worker_crashed) << (end ? "it succeeded" : end.error().to_string());
  EXPECT_TRUE(all_equal(device, kept, 4.0f));
}

TEST_F(GpuRecovery, has_the_first_library_call_after_a_take_over_as_fast_as_before) {
  const Array<float> a = filled(*gpu, {64, 64}, 1.0f);
  const Array<float> c = filled(*gpu, {64, 64}, 0.0f);
  for (int i = 0; i < 10; ++i) value(gpu->blas().gemm(a, a, c).get());
  const auto until = Clock::now() + 3s;  // the standby is made meanwhile
  while (Clock::now() < until) value(gpu->nop().get());
  kill_worker(*gpu);
  const Array<float> fresh = value(gpu->array<float>({64, 64}));
  const auto taken_over = Clock::now();
  value(gpu->blas().gemm(a, a, fresh).get());
  const double ms = ms_since(taken_over);
  std::printf("the first gemm of a standby that has taken over: %.3f ms\n", ms);
  EXPECT_LT(ms, 5.0);
  EXPECT_TRUE(all_equal(*gpu, fresh, 64.0f));
}

}  // namespace
}  // namespace troupe
