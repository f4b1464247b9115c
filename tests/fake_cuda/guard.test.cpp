// Guard mode on a GPU: the worker fills the fences in the GPU's memory, and copies them to itself after each op.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

constexpr const char* kOverrun = R"(extern "C" __global__ void overrun(float* a, long long elements) {})";

class FakeGuard : public FakeGpu, public ::testing::WithParamInterface<Isolation> {
 protected:
  static DeviceOptions guarded() {
    DeviceOptions options = GetParam() == Isolation::thread ? in_thread() : in_process();
    options.guard = true;
    return options;
  }
  Result<void> launch(const Array<float>& array, std::int64_t element) {
    return gpu.jit().launch(program, "overrun", {}, updates(array), static_cast<long long>(element)).get();
  }

  const Device gpu = open_gpu(guarded());
  const Program program = value(gpu.jit().compile(kOverrun).get());
};
INSTANTIATE_TEST_SUITE_P(In, FakeGuard, ::testing::Values(Isolation::process, Isolation::thread),
                         [](const auto& param) { return param.param == Isolation::process ? "Process" : "Thread"; });

TEST_P(FakeGuard, tells_of_a_kernel_that_writes_behind_its_array) {
  const Array<float> array = ramp(gpu, 16), neighbour = ramp(gpu, 16);
  const Result<void> end = launch(array, 16);
  ASSERT_EQ(kind_of(end), ErrorKind::library_error);
  EXPECT_EQ(end.error().message(),
            "array 0, [16] of f32, was overrun: 4 bytes were written right behind its last element");
  EXPECT_EQ(end.error().origin().library, "guard");
  EXPECT_EQ(end.error().origin().op, "jit.launch overrun");
  EXPECT_EQ(kind_of(gpu.read(array).get()), ErrorKind::buffer_tainted);
  EXPECT_TRUE(is_ramp(gpu, neighbour));
  EXPECT_EQ(gpu.generation(), 1);
}

TEST_P(FakeGuard, tells_of_a_kernel_that_writes_in_front_of_its_array) {
  const Array<float> array = ramp(gpu, 16);
  const Result<void> end = launch(array, -3);
  ASSERT_EQ(kind_of(end), ErrorKind::library_error);
  EXPECT_EQ(
      end.error().message(),
      "array 0, [16] of f32, was overrun: 4 bytes were written in front of its first element, the farthest 12 bytes "
      "away");
}

TEST_P(FakeGuard, accuses_nobody_who_stays_inside) {
  const Array<float> array = ramp(gpu, 16);
  for (const std::int64_t element : {0, 15}) {
    const Result<void> end = launch(array, element);
    ASSERT_TRUE(end) << end.error().to_string();
  }
  EXPECT_FALSE(launch(array, 16));
  value(gpu.fill(array, 1.0f).get());
  EXPECT_TRUE(launch(array, 15)) << "its fence is whole again";
  EXPECT_EQ(value(gpu.read(array).get())[15], 666.0f);
}

TEST_P(FakeGuard, runs_all_that_runs_without_it) {
  const Array<float> a = filled(gpu, {16, 16}, 1.0f), b = value(gpu.array<float>({16, 16}));
  value(gpu.blas().gemm(a, a, b).get());
  value(gpu.copy(a, b).get());
  EXPECT_TRUE(all_equal(gpu, b, 1.0f));
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(gpu.fill(b, 2.0f).submit());
  EXPECT_TRUE(all_equal(gpu, b, 2.0f));
}

TEST_P(FakeGuard, fails_an_op_whose_fences_cannot_be_copied) {
  const Array<float> array = ramp(gpu, 16);
  fail_call(1, 2, "cuMemcpyAsync");  // out of memory
  EXPECT_EQ(kind_of(launch(array, 0)), ErrorKind::out_of_memory);
  fail_nothing();
  value(gpu.fill(array, 1.0f).get());
  EXPECT_TRUE(all_equal(gpu, array, 1.0f));
}

TEST_P(FakeGuard, takes_a_gpu_without_it_no_call_more) {
  const Device plain = open_gpu(GetParam() == Isolation::thread ? in_thread() : in_process());
  const Array<float> array = filled(plain, {16}, 1.0f);
  const std::uint64_t waits = calls("cuCtxSynchronize"), fills = calls("cuMemsetD8Async");
  value(plain.fill(array, 2.0f).get());
  EXPECT_EQ(calls("cuCtxSynchronize"), waits);
  EXPECT_EQ(calls("cuMemsetD8Async"), fills);
}

}  // namespace
}  // namespace troupe
