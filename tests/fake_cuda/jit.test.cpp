// The user's own kernels on a GPU, over the fake driver: variables in one worker and the next, what kernels print,
// launches whose blocks know of each other.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

class FakeJit : public FakeGpu {
 protected:
  std::vector<float> got(const Device& gpu, const Program& program, std::string_view variable, std::int64_t count) {
    const Array<float> into = value(gpu.array<float>({count}));
    value(gpu.jit().get(program, variable, into).get());
    const HostArray<float> values = value(gpu.read(into).get());
    return {values.begin(), values.end()};
  }
  static constexpr const char* kSource = R"(
    __constant__ float weights[4];
    __device__ float total;
    __global__ void count(float* a, int n) {}
    __global__ void prints(float* a) {}  // by vprintf
  )";
};

TEST_F(FakeJit, variables_are_set_again_in_the_next_worker) {
  const Device gpu = open_gpu(patient());
  const Program program = value(gpu.jit().compile(kSource).get());
  const Array<float> a = filled(gpu, {4}, 1.0f);
  value(gpu.jit().set(program, "weights", std::vector<float>{1, 2, 3, 4}).get());
  value(gpu.jit().set(program, "total", 5.0f).get());
  for (int i = 0; i < 2; ++i) {
    value(gpu.jit().launch(program, "count", {.threads = 32}, updates(a), 4).get());
    EXPECT_EQ(got(gpu, program, "weights", 4), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(got(gpu, program, "total", 1), std::vector<float>{5});
    kill_worker(gpu);
  }
}

TEST_F(FakeJit, variables_are_set_once_in_each_worker) {
  Device gpu = open_gpu();
  const Program program = value(gpu.jit().compile(kSource).get());
  const Array<float> a = filled(gpu, {4}, 1.0f);
  const std::uint64_t before = calls("cuMemcpyAsync");
  value(gpu.jit().set(program, "weights", std::vector<float>{1, 2, 3, 4}).get());
  EXPECT_EQ(calls("cuMemcpyAsync") - before, 2) << "to what is kept, and to the variable";
  for (int i = 0; i < 3; ++i) value(gpu.jit().launch(program, "count", {}, updates(a), 4).get());
  EXPECT_EQ(calls("cuMemcpyAsync") - before, 5) << "what kernels may have changed is kept after each";
  EXPECT_EQ(calls("cuModuleGetGlobal"), 1);
  gpu.close();
  expect_all_gone();
}

TEST_F(FakeJit, variables_that_are_not_there_are_refused_by_the_worker) {
  const Device gpu = open_gpu();
  const Program program = value(gpu.jit().compile(kSource).get());
  const Array<float> a = filled(gpu, {4}, 1.0f);
  const Result<void> missing = gpu.jit().set(program, "biases", 1.0f).get();
  EXPECT_EQ(missing.error().kind(), ErrorKind::invalid_argument);
  EXPECT_NE(missing.error().message().find("set: the program has no variable biases"), std::string_view::npos);
  const Result<void> small = gpu.jit().set(program, "weights", 1.0f).get();
  EXPECT_NE(small.error().message().find("set: weights has 16 bytes, and the array has 4"), std::string_view::npos);
  EXPECT_TRUE(gpu.jit().launch(program, "count", {}, updates(a), 4).get()) << "it knows nothing of them";
}

TEST_F(FakeJit, what_kernels_print_is_in_the_log) {
  Device gpu = open_gpu(patient());
  const Program program = value(gpu.jit().compile(kSource).get());
  const Array<float> a = filled(gpu, {4}, 1.0f);
  value(gpu.jit().launch(program, "prints", {}, updates(a)).get());
  eventually([&] { return log.has("prints: and another"); });
  EXPECT_TRUE(log.has("prints: one line"));
}

TEST_F(FakeJit, a_worker_that_ends_leaves_nothing_of_what_prints) {
  Device gpu = open_gpu();
  const Program program = value(gpu.jit().compile(kSource).get());
  const Array<float> a = filled(gpu, {4}, 1.0f);
  for (int i = 0; i < 20; ++i) value(gpu.jit().launch(program, "prints", {}, updates(a)).submit());
  value(gpu.nop().get());
  gpu.close();
  expect_all_gone();
}

TEST_F(FakeJit, grids_are_as_large_as_the_gpu) {
  const Device gpu = open_gpu();
  const Program program = value(gpu.jit().compile(kSource).get());
  const Array<float> a = filled(gpu, {4}, 1.0f);
  const auto blocks = [&](const Grid& grid) {
    const std::uint64_t before = calls("blocks of count");
    value(gpu.jit().launch(program, "count", grid, updates(a), 4).get());
    return calls("blocks of count") - before;
  };
  EXPECT_EQ(blocks({.blocks = 3, .threads = 64}), 3);
  EXPECT_EQ(blocks({.threads = 256, .fills_device = true}), 7 * 8);
  EXPECT_EQ(blocks({.blocks = {1, 5}, .threads = 256, .fills_device = true}), 7 * 8 / 5);
  EXPECT_EQ(blocks({.threads = 256, .fills_device = true, .cluster = 5}), 7 * 8 / 5 * 5);
  EXPECT_EQ(calls("cuLaunchKernelEx"), 1);
  EXPECT_EQ(blocks({.blocks = 4, .threads = 64, .cooperative = true}), 4);
  EXPECT_EQ(calls("cuLaunchKernelEx"), 2);
}

TEST_F(FakeJit, grids_that_do_not_fit_are_refused_with_the_limit) {
  const Device gpu = open_gpu();
  const Program program = value(gpu.jit().compile(kSource).get());
  const Array<float> a = filled(gpu, {4}, 1.0f);
  const auto said = [&](const Grid& grid) {
    return std::string(gpu.jit().launch(program, "count", grid, updates(a), 4).get().error().message());
  };
  EXPECT_TRUE(said({.blocks = 57, .threads = 256, .cooperative = true})
                  .starts_with("the GPU cannot run count with this grid: of a cooperative one all blocks must fit at "
                               "once, and 56 do"));
  EXPECT_TRUE(said({.blocks = 16, .threads = 256, .cluster = 16})
                  .starts_with("the GPU cannot run count with this grid: it has no clusters of that size"));
  EXPECT_TRUE(said({.blocks = 4, .cluster = 3}).find("there must be whole clusters along each axis") !=
              std::string::npos);
}

}  // namespace
}  // namespace troupe
