// Guard mode on a real GPU. tests/fake_cuda/guard.test.cpp has what needs none.
#include "troupe/device/gpu_fixture.test.hpp"

namespace troupe {
namespace {

class GpuGuard : public GpuTest {
 protected:
  void SetUp() override {
    DeviceOptions options = patient();
    options.guard = true;
    open_gpu(options);
  }
};

TEST_F(GpuGuard, tells_of_a_kernel_that_writes_one_element_too_many) {
  const Program kernels = program();
  const Array<float> array = filled(*gpu, {128}, 1.0f), neighbour = filled(*gpu, {128}, 2.0f);
  ASSERT_TRUE(gpu->jit().launch(kernels, "set", {}, 128LL, 5.0f, writes(array)).get());
  const Result<void> end = gpu->jit().launch(kernels, "set", {}, 129LL, 5.0f, writes(array)).get();
  ASSERT_EQ(kind_of(end), ErrorKind::library_error);
  EXPECT_EQ(end.error().message(),
            "array 0, [128] of f32, was overrun: 4 bytes were written right behind its last element");
  EXPECT_EQ(kind_of(gpu->read(array).get()), ErrorKind::buffer_tainted);
  EXPECT_TRUE(all_equal(*gpu, neighbour, 2.0f));
  EXPECT_EQ(gpu->generation(), 1);
}

TEST_F(GpuGuard, recovers_from_a_fault_as_ever) {
  const Program kernels = program();
  const Array<float> array = filled(*gpu, {128}, 1.0f), other = filled(*gpu, {128}, 2.0f);
  EXPECT_EQ(kind_of(gpu->jit().launch(kernels, "illegal", {}, updates(array)).get()), ErrorKind::context_poisoned);
  EXPECT_TRUE(all_equal(*gpu, other, 2.0f));
}

}  // namespace
}  // namespace troupe
