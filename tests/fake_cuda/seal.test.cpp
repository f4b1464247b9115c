// What sealing is to the driver: the access of a whole mapping, in every worker, from the start in a new one.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

constexpr const char* kScribble = R"(extern "C" __global__ void scribble(float* a) {})";

class FakeSeal : public FakeGpu {
 protected:
  static Array<float> sealable(const Device& gpu, float with) {
    Array<float> array = value(gpu.sealable_array<float>({1000}));
    value(gpu.fill(array, with).get());
    return array;
  }
};

TEST_F(FakeSeal, is_the_access_of_the_whole_chunk) {
  {
    const Device gpu = open_gpu();
    const Array<float> weights = sealable(gpu, 4.0f);
    const Array<float> other = filled(gpu, {1000}, 5.0f);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(alive(Kind::sealed), 0);
      const std::uint64_t before = calls("cuMemSetAccess");
      value(gpu.seal(weights).get());
      EXPECT_EQ(alive(Kind::sealed), 1);
      value(gpu.seal(weights).get());
      EXPECT_EQ(calls("cuMemSetAccess") - before, 1) << "once is enough";
      EXPECT_EQ(kind_of(gpu.fill(weights, 1.0f).get()), ErrorKind::invalid_argument);
      EXPECT_TRUE(all_equal(gpu, weights, 4.0f));
      EXPECT_TRUE(gpu.fill(other, 6.0f).get()) << "others are in other chunks";
      value(gpu.unseal(weights).get());
      EXPECT_TRUE(gpu.fill(weights, 4.0f).get());
    }
    value(gpu.seal(weights).get());
  }
  expect_all_gone();
}

TEST_F(FakeSeal, a_kernel_that_writes_there_faults_and_changes_nothing) {
  const Device gpu = open_gpu(in_process(Standby::warm));
  const Program program = value(gpu.jit().compile(kScribble).get());
  const Array<float> weights = sealable(gpu, 4.0f);
  const Array<float> other = filled(gpu, {1000}, 5.0f);
  const auto scribble = [&](const Array<float>& over) {
    return gpu.jit().launch(program, "scribble", {}, reads(over)).get();
  };
  value(gpu.seal(weights).get());
  EXPECT_EQ(kind_of(scribble(weights)), ErrorKind::context_poisoned);
  EXPECT_TRUE(all_equal(gpu, weights, 4.0f));
  EXPECT_TRUE(all_equal(gpu, other, 5.0f)) << "everything else goes on";
  ASSERT_TRUE(scribble(other)) << "what is not sealed is written, and nobody notices";
  EXPECT_EQ(value(gpu.read(other).get())[0], 666.0f);
}

TEST_F(FakeSeal, is_there_from_the_start_in_every_new_worker) {
  const Device gpu = open_gpu(in_process(Standby::warm));
  const Array<float> weights = sealable(gpu, 4.0f);
  eventually([&] { return alive(Kind::context) == 2; });
  value(gpu.seal(weights).get());
  eventually([&] { return alive(Kind::sealed) == 2; });  // a standby that was just starting has mapped it by now
  kill_worker(gpu);
  eventually([&] { return alive(Kind::sealed) == 3; });  // one killed, one serving, one new
  EXPECT_TRUE(all_equal(gpu, weights, 4.0f));
  value(gpu.unseal(weights).get());
  EXPECT_EQ(alive(Kind::sealed), 1) << "the one that was killed";
  EXPECT_TRUE(gpu.fill(weights, 1.0f).get());
}

TEST_F(FakeSeal, a_worker_whose_driver_says_no_is_replaced) {
  const Device gpu = open_gpu(in_process(Standby::warm));
  const Array<float> weights = sealable(gpu, 4.0f);
  page().fail_process = gpu.worker_pid();
  fail_call(1, 1, "cuMemSetAccess");
  EXPECT_TRUE(gpu.seal(weights).get());
  fail_nothing();
  eventually([&] { return gpu.generation() == 2; });
  EXPECT_TRUE(all_equal(gpu, weights, 4.0f));
  EXPECT_EQ(kind_of(gpu.fill(weights, 1.0f).get()), ErrorKind::invalid_argument);
}

TEST_F(FakeSeal, needs_memory_that_outlives_its_worker) {
  page().loses_memory = 1;
  DeviceInfo info = gpu_info();
  info.keeps_memory = false;
  const Device gpu = value(Device::open(system, info, in_thread()));
  const Result<Array<float>> none = gpu.sealable_array<float>({8});
  ASSERT_EQ(kind_of(none), ErrorKind::unsupported);
  EXPECT_EQ(none.error().message(),
            "this driver cannot export memory: arrays die with their worker, and cannot be sealed");
}

}  // namespace
}  // namespace troupe
